// SPDX-License-Identifier: Apache-2.0
// Handles that hold one C++ object each: how they are made, asked and given back.
#pragma once

#include "c/slots.hpp"
#include "c/status.hpp"

#include <corymb.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace corymb::c {

/// The slot of a handle of an object of this type.
template <class Slot, class Object>
struct Holder : SlotBase<Slot> {
    mutable std::optional<Object> held;
};

/// Puts the object of `make()` into a new handle; `what` is the parameter, for errors.
template <class Slot, class Make>
corymb_status give_handle(Slot** handle, const char* what, const Make& make) noexcept {
    return guarded([&] {
        require(handle, what);
        *handle = nullptr;
        auto made = make();
        Slot& slot = AllSlots<Slot>::take();
        slot.held.emplace(std::move(made));
        *handle = &slot;
    });
}

/// Puts the value of `get()` into `*to`, and `otherwise` when it fails.
template <class Value, class Get>
corymb_status give_value(Value* to, const char* what, Value otherwise, const Get& get) noexcept {
    return guarded([&] {
        require(to, what);
        *to = otherwise;
        *to = static_cast<Value>(get());
    });
}

/// The object of a handle. Throws Errc::invalid_argument when it is none (any more).
template <class Slot>
[[nodiscard]] auto& held(Slot* handle) {
    return *live(handle).held;
}

/// Ends the object and the handle.
template <class Slot>
void free_held(Slot*& handle) {
    Slot& slot = live(handle);
    handle = nullptr;
    slot.held.reset();
    AllSlots<Slot>::give_back(slot);
}

} // namespace corymb::c
