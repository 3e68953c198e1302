// SPDX-License-Identifier: Apache-2.0
// Purpose: wakes a rank that sleeps when the descriptor of a carrier becomes readable. Ranks sleep
// in event counts, which the kernel cannot wait for together with descriptors.
//
// Roles: the owner is the rank's thread; the watcher is a thread of this object.
//
// Protocol:
//   owner    1. announces in the event count that it is about to sleep; 2. looks once more; 3. arms
//            the watcher if that look has found nothing; 4. sleeps.
//   watcher  1. waits for the descriptor, once for each arming; 2. wakes the owner if it sleeps.
//   A rank that is awake arms nothing, so that it pays for one watcher's turn a sleep at most. If
//   the descriptor is readable when it is armed, the watcher's turn comes at once.
//
// Order: epoll_ctl comes after the announcement, and epoll_wait returns after epoll_ctl; the kernel
// orders them by a lock.
#pragma once

#include "base/descriptor.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"

#include <thread>

namespace corymb::detail {

class FarWatch {
public:
    using Event = channel::EventCount<channel::StandardEnv>;

    /// `descriptor` outlives this object. Throws Errc::io and std::system_error when there is no
    /// descriptor or no thread to be had.
    explicit FarWatch(int descriptor);
    ~FarWatch();
    FarWatch(const FarWatch&) = delete;
    FarWatch& operator=(const FarWatch&) = delete;

    [[nodiscard]] Event& event() noexcept { return event_; }
    /// Owner, when a look has found nothing.
    void arm_if_parked() noexcept {
        if (event_.is_parked()) {
            arm();
        }
    }

private:
    void arm() noexcept;
    void watch() noexcept;

    int watched_;
    Descriptor both_; ///< An epoll instance: `watched_` and `end_`.
    Descriptor end_;  ///< An eventfd, readable when the watcher is to end.
    Event event_;
    std::thread watcher_;
};

} // namespace corymb::detail
