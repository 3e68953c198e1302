// SPDX-License-Identifier: Apache-2.0
// Handles of objects that run a program's functions in the middle of their calls. Such a function
// must not end the call that runs it.
#pragma once

#include "base/one_user.hpp"
#include "c/held.hpp"

#include <memory>
#include <string>
#include <utility>

namespace corymb::c {

/// An object of a rank, and whether a call of this interface is in the middle of using that rank.
template <class Object>
struct OfRank {
    explicit OfRank(Object&& of, std::shared_ptr<OneUser> of_rank = new_user())
        : object(std::move(of)), user(std::move(of_rank)) {}

    Object object;
    std::shared_ptr<OneUser> user;

private:
    static std::shared_ptr<OneUser> new_user() { return std::make_shared<OneUser>("handle"); }
};

/// Throws for a handle in use: by another thread, or by a call that runs a function, which must not
/// end it.
template <class Handle>
void require_unused(Handle* handle) {
    if (held(handle).user->is_busy()) {
        refuse(std::string(Handle::name) +
               " is in use: another thread, or what it runs, must not free it");
    }
}

/// `body` of the object of a handle.
template <class Handle, class Body>
corymb_status use(Handle* handle, const Body& body) noexcept {
    return guarded([&] {
        auto& of = held(handle);
        const auto call = of.user->enter();
        body(of.object);
    });
}

template <class Handle>
void free_unused(Handle*& handle) {
    require_unused(handle);
    free_held(handle);
}

/// Gives a handle for the result of `begin(object)`; with `made` null the result is thrown away.
template <class Made, class Handle, class Begin>
corymb_status begin_of(Handle* handle, Made** made, const char* what, const Begin& begin) noexcept {
    const auto begun = [&] {
        auto& of = held(handle);
        const auto call = of.user->enter();
        return OfRank(begin(of.object), of.user);
    };
    return made != nullptr ? give_handle(made, what, begun)
                           : guarded([&] { static_cast<void>(begun()); });
}

} // namespace corymb::c
