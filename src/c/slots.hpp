// SPDX-License-Identifier: Apache-2.0
// Memory of the opaque handles. It is kept when a handle is freed and handed out again late, so
// that a pointer which is used after that points to a tag that says so.
#pragma once

#include "c/status.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace corymb::c {

/// The head of every slot.
template <class Slot>
struct SlotBase {
    std::uint64_t tag = 0; ///< Slot::live_tag while it is a handle.
    Slot* next = nullptr;  ///< Next among the free slots.
};

/// Slots of one kind; not thread-safe.
template <class Slot>
class Slots {
public:
    Slot& take() {
        Slot* slot = first_;
        if (free_ > kept_back) {
            first_ = slot->next;
            --free_;
        } else {
            slot = &slots_.emplace_back();
        }
        slot->tag = Slot::live_tag;
        slot->next = nullptr;
        ++live_;
        return *slot;
    }
    /// Frees a slot whose object is gone already.
    void give_back(Slot& slot) noexcept {
        slot.tag = 0;
        (free_ == 0 ? first_ : last_->next) = &slot;
        last_ = &slot;
        ++free_;
        --live_;
    }
    [[nodiscard]] std::size_t live() const noexcept { return live_; }

private:
    /// So many freed slots are not used again yet.
    static constexpr std::size_t kept_back = 64;
    std::deque<Slot> slots_;
    Slot* first_ = nullptr; ///< The free slot that was freed first.
    Slot* last_ = nullptr;
    std::size_t free_ = 0;
    std::size_t live_ = 0;
};

/// All slots of one kind of handle; thread-safe. They live to the very end of the process.
template <class Slot>
class AllSlots {
public:
    static Slot& take() {
        AllSlots& self = instance();
        const std::lock_guard lock(self.mutex_);
        return self.slots_.take();
    }
    static void give_back(Slot& slot) noexcept {
        AllSlots& self = instance();
        const std::lock_guard lock(self.mutex_);
        self.slots_.give_back(slot);
    }

private:
    static AllSlots& instance() {
        static auto* const all = new AllSlots;
        return *all;
    }
    std::mutex mutex_;
    Slots<Slot> slots_;
};

/// Whether the pointer is a handle of this kind.
template <class Slot>
[[nodiscard]] bool is_live(const Slot* handle) noexcept {
    return handle != nullptr && handle->tag == Slot::live_tag;
}

/// The handle; throws Errc::invalid_argument when it is null or none (any more).
template <class Slot>
[[nodiscard]] Slot& live(Slot* handle) {
    if (!is_live(handle)) [[unlikely]] {
        refuse(std::string(Slot::name) +
               (handle == nullptr ? " is NULL: it was not made, or given back, or completed"
                                  : " was freed, or is a pointer to something else"));
    }
    return *handle;
}

} // namespace corymb::c
