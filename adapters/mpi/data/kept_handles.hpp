// SPDX-License-Identifier: Apache-2.0
// Datatypes and operators of the program that requests under way need. The program may free them at
// once; the last such request does it then. No copies: the program's functions may look for
// attributes, which need not be copied.
#pragma once

#include "below/host.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace corymb::mpi {

/// Thread-safe.
template <class Handle>
class KeptHandles {
public:
    /// Throws std::bad_alloc.
    void keep(Handle handle) {
        const std::lock_guard guard(lock_);
        ++all_[handle].users;
    }
    /// Call it as often as the handle was kept. Returns how often the handle is to be freed now: as
    /// often as the program has freed it in the meantime. An MPI may hand out a handle twice.
    [[nodiscard]] int let_go(Handle handle) noexcept {
        const std::lock_guard guard(lock_);
        const auto found = all_.find(handle);
        if (--found->second.users > 0) {
            return 0;
        }
        const int frees = found->second.frees;
        all_.erase(found);
        return frees;
    }
    /// The program frees it. True: let_go says when that is to be done.
    [[nodiscard]] bool is_freed_later(Handle handle) noexcept {
        const std::lock_guard guard(lock_);
        const auto found = all_.find(handle);
        if (found == all_.end()) {
            return false;
        }
        ++found->second.frees;
        return true;
    }

private:
    struct Kept {
        int users = 0;
        int frees = 0;
    };
    std::mutex lock_;
    std::unordered_map<Handle, Kept> all_;
};

[[nodiscard]] KeptHandles<MPI_Op>& kept_operators() noexcept;
[[nodiscard]] KeptHandles<MPI_Datatype>& kept_types() noexcept;

/// Some datatypes, kept until its end.
class TypesInUse {
public:
    TypesInUse() noexcept = default;
    TypesInUse(const TypesInUse&) = delete;
    TypesInUse& operator=(const TypesInUse&) = delete;
    ~TypesInUse();

    /// Throws std::bad_alloc.
    void add(MPI_Datatype type);

private:
    std::vector<MPI_Datatype> types_;
};

} // namespace corymb::mpi
