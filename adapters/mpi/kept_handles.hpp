// SPDX-License-Identifier: Apache-2.0
// Datatypes and operators of the program that requests under way need. The program may free them at
// once; the last such request does it then. No copies: the program's functions may look for
// attributes, which need not be copied.
#pragma once

#include "host.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>
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
    /// As often as it was kept. True: the program has freed it in the meantime, and now it is to
    /// be done.
    [[nodiscard]] bool let_go(Handle handle) noexcept {
        const std::lock_guard guard(lock_);
        const auto found = all_.find(handle);
        if (--found->second.users > 0) {
            return false;
        }
        const bool is_freed = found->second.is_freed;
        all_.erase(found);
        return is_freed;
    }
    /// The program frees it. True: let_go says when that is to be done.
    [[nodiscard]] bool is_freed_later(Handle handle) noexcept {
        const std::lock_guard guard(lock_);
        const auto found = all_.find(handle);
        if (found == all_.end()) {
            return false;
        }
        found->second.is_freed = true;
        return true;
    }

private:
    struct Kept {
        int users = 0;
        bool is_freed = false;
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
    TypesInUse(TypesInUse&& other) noexcept : types_(std::exchange(other.types_, {})) {}
    TypesInUse& operator=(TypesInUse&&) = delete;
    TypesInUse(const TypesInUse&) = delete;
    TypesInUse& operator=(const TypesInUse&) = delete;
    ~TypesInUse();

    /// Throws std::bad_alloc.
    void add(MPI_Datatype type);

private:
    std::vector<MPI_Datatype> types_;
};

} // namespace corymb::mpi
