// SPDX-License-Identifier: Apache-2.0
// Purpose: a rank that gives up may free its buffers; nobody may then still be copying out of
// them, or into them.
//
// Roles: one gate per rank. Its owner passes it around each copy out of or into a peer's memory;
// any rank that is about to leave a failed operation drains the gates of all others.
//
// Layout:
//   line  bytes  field     written by  read by
//   0     4      copying   owner       ranks that give up: 0, or the Copy under way
//
// Protocol:
//   owner     1. copying = the kind of copy; 2. light fence; 3. look at the team's broken flag: if
//             it is set, do not copy; 4. copy; 5. copying = 0 (P1).
//   giving up 1. the broken flag is set, by this rank or another; 2. heavy fence; 3. wait until
//             copying is 0 or, for an owner in another process, is no write into a process (P1);
//             4. leave, free. An owner that reads another process's memory too late does no harm.
//
// Order:
//   P1: release store of `copying` in leave -> acquire load in drain: the owner's reads and writes
//       of the peer's memory come before whatever the peer does with it afterwards.
//   P2: release store of `copying` in enter -> acquire load in drain_writes: the same for writes of
//       the owner's last copy, when the next one, of another kind, has begun already.
//   F1: light_fence between the store of `copying` and the load of the flag <-> heavy_fence
//       between the store of the flag and the load of `copying`: either the owner sees that the
//       team is broken or the other waits for its copy.
//   The load of the flag is relaxed: F1 decides.
//
// Progress: enter and leave are wait-free; draining waits for copies under way, which wait for
// nobody. But another process may be stopped in the middle of one, and then the waiter has to give
// up.
//
// Checked by: verify/worlds/copy_gate_world.cpp; tests/stress/failures_test.cpp under
// ThreadSanitizer.
#pragma once

#include "base/cache_line.hpp"
#include "base/reach.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::channel {

/// Kinds of copies that a rank makes: within its process or out of another one; or into another
/// process.
enum class Copy : std::uint32_t { ordinary = 1, into_process = 2 };

template <class Env>
class alignas(line_pair_bytes) CopyGate {
public:
    using Flag = typename Env::template Atomic<std::uint32_t>;

    /// Owner: true when it may copy; `leave` follows in any case.
    [[nodiscard]] bool enter(const Flag& broken, Copy copy = Copy::ordinary) noexcept {
        copying_.store(static_cast<std::uint32_t>(copy), std::memory_order_release); // P2 release
        Env::light_fence();                                                          // F1
        return broken.load(std::memory_order_relaxed) == 0;
    }
    void leave() noexcept {
        copying_.store(0, std::memory_order_release); // P1 release
    }

    /// Ranks that give up call it once for all gates, after the broken flag was set and before the
    /// first `drain`. `reach` covers the owners.
    static void drain_begin(Reach reach = Reach::process) noexcept {
        Env::heavy_fence(reach); // F1
    }
    /// Waits until the owner copies nothing; the team being broken, it never will again. A copy is
    /// short and waits for nobody. False: `waiter` gave up.
    template <class Waiter>
    [[nodiscard]] bool drain(Waiter& waiter) const {
        std::uint32_t seen = 0;
        return waiter.await(
            copying_, std::memory_order_acquire, // P1 acquire
            [](std::uint32_t copying) { return copying == 0; }, seen);
    }
    /// For an owner in another process: waits until it writes into no process. `waiter` may give up
    /// when the owner's process has ended, or at the price of a write that comes late; then the
    /// result is false.
    template <class Waiter>
    [[nodiscard]] bool drain_writes(Waiter& waiter) const {
        std::uint32_t seen = 0;
        return waiter.await(
            copying_, std::memory_order_acquire, // P1 acquire, P2 acquire
            [](std::uint32_t copying) {
                return copying != static_cast<std::uint32_t>(Copy::into_process);
            },
            seen);
    }

private:
    Flag copying_;
};

} // namespace corymb::channel
