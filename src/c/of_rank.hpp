// SPDX-License-Identifier: Apache-2.0
// Handles of objects that run a program's functions in the middle of their calls: what runs there
// must not end what it runs in.
#pragma once

#include "c/held.hpp"

#include <memory>
#include <string>
#include <utility>

namespace corymb::c {

/// An object of a rank, and how many calls of this interface are in the middle of using that rank.
template <class Object>
struct OfRank {
    explicit OfRank(Object&& of, std::shared_ptr<int> of_rank = std::make_shared<int>(0))
        : object(std::move(of)), uses(std::move(of_rank)) {}

    Object object;
    std::shared_ptr<int> uses;
};

class Use {
public:
    /// `of` is not freed meanwhile, since it is in use.
    template <class Object>
    explicit Use(const OfRank<Object>& of) noexcept : uses_(*of.uses) {
        ++uses_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { --uses_; }

private:
    int& uses_;
};

/// Throws for what a function that runs in the middle of it must not end.
template <class Handle>
void require_unused(Handle* handle) {
    if (*held(handle).uses != 0) {
        refuse(std::string(Handle::name) + " is in use: what it runs must not free it");
    }
}

/// `body` of the object of a handle.
template <class Handle, class Body>
corymb_status use(Handle* handle, const Body& body) noexcept {
    return guarded([&] {
        auto& of = held(handle);
        const Use mark(of);
        body(of.object);
    });
}

template <class Handle>
corymb_status free_unused(Handle** handle, const char* what) noexcept {
    const corymb_status status = guarded([&] {
        require(handle, what);
        if (*handle != nullptr) {
            require_unused(*handle);
        }
    });
    return status == CORYMB_OK ? free_held(handle, what) : status;
}

/// Gives a handle of what `begin(object)` makes of a handle's object; with `made` null it is
/// thrown away.
template <class Made, class Handle, class Begin>
corymb_status begin_of(Handle* handle, Made** made, const char* what, const Begin& begin) noexcept {
    const auto begun = [&] {
        auto& of = held(handle);
        const Use mark(of);
        return OfRank(begin(of.object), of.uses);
    };
    return made != nullptr ? give_handle(made, what, begun)
                           : guarded([&] { static_cast<void>(begun()); });
}

} // namespace corymb::c
