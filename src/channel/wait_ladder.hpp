// SPDX-License-Identifier: Apache-2.0
// Purpose: how a rank waits for a word: awake for a while (Patience), then asleep (EventCount).
//
// Roles: one WaitLadder per rank, used by that rank's thread only. Others reach the rank through
// its EventCount after they have changed the word that it waits for.
//
// Layout: private to the thread but for the parking spot and the team's `broken` flag.
//
// Protocol:
//   1. Look at the word a few times with a pause between.
//   2. Wait awake within the budgets of Patience.
//   3. Park.
//   On 2 and 3 the rank's other operations go on between looks (set_background), and the team's
//   broken flag and the deadline are checked.
//
// Order: the caller names the order of its word.
//   P1: release store of `broken` in end_waits -> acquire load in climb: a rank that sees it sees
//       what the breaker had sent before, and takes it in one more look. For the details it takes
//       the team's mutex.
//
// Progress: returns when the word satisfies the caller, the team is broken, or the deadline has
// passed.
//
// Checked by: verify/worlds/event_count_world.cpp for the parking; tests/unit/team for the
// deadlines; tests/unit/channel/wait_ladder_test.cpp for how long it stays awake.
#pragma once

#include "channel/crowd.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/patience.hpp"
#include "channel/wait_record.hpp"
#include "channel/waiter_cpus.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace corymb::channel {

class TimeLeft;

/// Asked in long waits whether the awaited event can still come.
class Watch {
public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    [[nodiscard]] virtual bool is_lost() noexcept = 0;

protected:
    ~Watch() = default;
};

class WaitLadder : private Teammates {
public:
    struct Settings {
        WaitPolicy policy = WaitPolicy::ladder;
        bool oversubscribed = false; ///< More ranks than can run at a time: do not spin.
        /// Ranks that take turns on a CPU; then waits allow for the copies of all of them.
        int ranks_per_cpu = 1;
        std::int64_t deadline_ns = 0; ///< Longest wait.
        /// For an oversubscribed team: the ranks that take turns on each CPU.
        Crowd* crowd = nullptr;
        std::size_t rank = 0;       ///< Own place in the crowd.
        WaiterCpus* cpus = nullptr; ///< For other teams: the ranks that wait on each CPU.
        Watch* watch = nullptr;
        std::int64_t watch_from_ns = 0; ///< A wait asks the watch first after so long.
        Watch* visitor = nullptr;       ///< Asked more often than the watch.
        /// The first call comes after so long, the next ones at such intervals.
        std::int64_t visitor_every_ns = 0;
    };
    using Spot = EventCount<StandardEnv>;
    using Flag = StandardEnv::Atomic<std::uint32_t>;

    /// `spot` is this rank's; a non-zero `broken` ends every wait.
    WaitLadder(Spot& spot, const Flag& broken, const Settings& settings) noexcept
        : patience_(settings.policy, settings.oversubscribed), deadline_ns_(settings.deadline_ns),
          ranks_that_copy_(ranks_that_copy(settings)), spot_(&spot), broken_(&broken),
          watch_(settings.watch), watch_from_ns_(settings.watch_from_ns),
          visitor_(settings.visitor), visitor_every_ns_(settings.visitor_every_ns),
          is_crowded_(settings.oversubscribed), mates_(settings.cpus) {
        if (settings.crowd != nullptr && settings.policy == WaitPolicy::ladder) {
            seat_.emplace(*settings.crowd, settings.rank);
        }
    }

    /// Ends all waits on this flag; sleeping waiters must be woken afterwards.
    static void end_waits(Flag& broken) noexcept {
        broken.store(1, std::memory_order_release); // P1 release
    }
    /// Longest wait from now on.
    void set_deadline(std::int64_t deadline_ns) noexcept { deadline_ns_ = deadline_ns; }
    /// The waits that follow are for an operation that has taken so long already.
    void set_late(std::int64_t late_ns) noexcept { late_ns_ = late_ns; }
    [[nodiscard]] std::int64_t late_ns() const noexcept { return late_ns_; }
    /// The rank begins a collective operation, in which each rank moves at most about so many
    /// bytes. Invariant: all ranks call it for the same operations, whether they have to wait or
    /// not. That is how each rank knows whether others still need its CPU.
    void begin_operation(std::uint64_t bytes) noexcept {
        if (seat_) {
            note_cpu();
        }
        begin_to_move(bytes);
    }
    /// As `begin_operation`, for a message between two ranks.
    void begin_to_move(std::uint64_t bytes) noexcept {
        if (seat_) {
            bytes_before_ = std::exchange(bytes_, bytes);
        }
        record_.begin(bytes);
        expect_bytes(bytes);
    }
    /// In the waits that follow each rank moves at most about so many bytes. Ranks that take turns
    /// on a CPU may all have to move them; some are in the operation before, and some in a later
    /// one already.
    void expect_bytes(std::uint64_t bytes) noexcept {
        patience_.expect_bytes((std::max(bytes, bytes_) + bytes_before_) * ranks_that_copy_);
    }
    /// The waits that follow are for this. Only ranks that it names, and wakers that name no rank,
    /// will wake the waiter.
    void expect(const Awaited& awaited) noexcept { awaited_ = awaited; }
    [[nodiscard]] std::int32_t expected() const noexcept { return awaited_.rank(); }

    /// Waits until `satisfied(word)`; `seen` is the value that satisfied it. False: it has not
    /// come, and the team is broken or the deadline has passed (`timed_out` says which).
    template <class T, class Predicate>
    [[nodiscard]] bool await(const StandardEnv::Atomic<T>& word, std::memory_order order,
                             const Predicate& satisfied, T& seen) {
        auto look = [&]() noexcept {
            seen = word.load(order);
            return satisfied(seen);
        };
        return patience_.look_quickly(look) || climb(Look(look), background_);
    }

    /// Waits until `done()`, which may look at any words; every thread that changes them must wake
    /// this rank. `bytes` as for expect_bytes. False as for `await`.
    template <class Done>
    [[nodiscard]] bool until(Done& done, std::uint64_t bytes) {
        expect(Awaited());
        record_.begin_wait_for_any();
        expect_bytes(bytes);
        return patience_.look_quickly(done) || climb(Look(done), nullptr);
    }

    /// Lets a teammate go on first, for some turns at most, until `gone()`.
    template <class Gone>
    void let_go_first(std::int32_t rank, Gone& gone) noexcept {
        expect(Awaited(rank));
        patience_.let_go_first(Look(gone), this);
    }

    /// Work to do beside every longer wait in `await`; null: none. Its result does not count.
    void set_background(const Look* work) noexcept { background_ = work; }

    /// Sets whether a thread waits for the work of a visit: then visits come as often to sleepers,
    /// too.
    void set_visits_urgent(bool urgent) noexcept { are_visits_urgent_ = urgent; }

    [[nodiscard]] const WaitRecord& record() const noexcept { return record_; }
    /// The last `until` has waited for this rank.
    void attribute_last_wait(std::int32_t rank) noexcept { record_.attribute_last(rank); }

    [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }
    /// The watch has ended the wait.
    [[nodiscard]] bool is_lost() const noexcept { return lost_; }

private:
    /// The number of ranks whose bytes a wait allows for: the peer alone, which has a CPU, or all
    /// ranks that share one. 0 where only the CPU quota is short: a waiter that stays awake uses
    /// the quota up.
    static std::uint64_t ranks_that_copy(const Settings& settings) noexcept {
        const bool has_no_time = settings.oversubscribed && settings.ranks_per_cpu <= 1;
        return has_no_time ? 0 : static_cast<std::uint64_t>(std::max(settings.ranks_per_cpu, 1));
    }
    bool climb(const Look& look, const Look* background) noexcept;
    bool climb(const Look& look, const Awaited& awaited) noexcept;
    bool climb_from(std::int64_t begin_ns, const Look& look, const Awaited& awaited) noexcept;
    /// Rung 3.
    bool sleep_until(std::int64_t begin_ns, const Look& look, const Look& stop,
                     const TimeLeft& sleep_ns, const Awaited& awaited) noexcept;
    void expect_sleeps(int change) noexcept;
    void note_cpu() noexcept;
    [[nodiscard]] bool want_the_cpu() noexcept override;
    [[nodiscard]] bool are_here(std::int64_t now_ns) noexcept override;
    std::int64_t take_turn() noexcept override;
    [[nodiscard]] Stranger* stranger() noexcept override;

    Patience patience_;
    bool timed_out_ = false;
    const Look* background_ = nullptr;
    bool lost_ = false;
    std::int64_t deadline_ns_;
    std::int64_t late_ns_ = 0;
    std::uint64_t ranks_that_copy_;
    std::uint64_t bytes_ = 0;        ///< Bytes of the latest operation.
    std::uint64_t bytes_before_ = 0; ///< Bytes of the operation before the latest.
    WaitRecord record_;
    Spot* spot_;
    const Flag* broken_;
    Watch* watch_;
    std::int64_t watch_from_ns_;
    Watch* visitor_;
    std::int64_t visitor_every_ns_;
    bool is_crowded_; ///< Other ranks may want the CPU.
    bool are_visits_urgent_ = false;
    std::int64_t last_visit_ns_ = 0;
    int sleeps_ = 0; ///< From 0, longer waits do not sleep, to 3: they do.
    std::optional<Crowd::Seat> seat_;
    CpuMates mates_; ///< Used where there is no crowd.
    Awaited awaited_;
};

} // namespace corymb::channel
