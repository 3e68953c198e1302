// SPDX-License-Identifier: Apache-2.0
// Purpose: a descriptor that an event loop can wait on, for all that a scheduler waits for.
//
// Roles: the owner is the scheduler's thread; the watcher is a thread of this object, which sleeps
// in the owner's stead.
//
// Protocol:
//   owner    1. arm: announces in its event counts, looks once more, and hands the words over;
//            2. waits on the descriptor; 3. disarm: takes the announcements back, ends the
//            watcher's sleep, and reads the descriptor empty.
//   watcher  1. waits for words; 2. sleeps while they are as announced, until the time is over;
//            3. writes to the descriptor, unless the owner has disarmed meanwhile.
//   The words and the state are handed over under a mutex. A wake-up between arm and disarm makes
//   the descriptor readable once; one that comes too late finds nobody and is lost with reason.
//
// Order: the mutex. The words are the event counts' own (event_count.hpp, F1).
//
// Progress: the watcher returns from its sleep when a word changes or the time is over. The owner
// changes a word of its own to end it.
#pragma once

#include "base/descriptor.hpp"
#include "channel/env.hpp"
#include "channel/event_counts.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace corymb::detail {

class Doorbell {
public:
    using Events = channel::EventCounts<channel::StandardEnv>;

    /// Throws Errc::io and std::system_error when there is no descriptor or no thread to be had.
    Doorbell();
    ~Doorbell();
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return ring_.number(); }
    /// Owner: makes the descriptor readable at once.
    void ring() noexcept;
    /// Owner: the descriptor becomes readable when one of the words is no more as it was announced,
    /// or after `timeout_ns`.
    void arm(const Events::Words& words, std::int64_t timeout_ns);
    /// Owner: nothing more comes until the next `arm`, and the descriptor is not readable.
    void disarm() noexcept;

private:
    void watch();

    Descriptor ring_; ///< An eventfd.
    std::mutex mutex_;
    std::condition_variable changed_;
    /// Invariant: the last one is `stop_`. Guarded by `mutex_`, as what follows.
    Events::Words words_;
    std::int64_t timeout_ns_ = 0;
    bool is_armed_ = false;
    bool ends_ = false;
    channel::StandardEnv::Atomic<std::uint32_t> stop_{0}; ///< Changes to end a sleep.
    std::thread watcher_;
};

} // namespace corymb::detail
