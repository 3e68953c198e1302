// SPDX-License-Identifier: Apache-2.0
// What a scheduler consists of, and its loop: passes in which tasks have their turns and sources
// are looked at, and sleeps between them when no task can go on.
#pragma once

#include "base/one_user.hpp"
#include "channel/event_counts.hpp"
#include "channel/wait_until.hpp"
#include "remote/doorbell.hpp"
#include "remote/ready_queue.hpp"
#include "remote/source.hpp"
#include "remote/team_source.hpp"
#include "remote/timer_queue.hpp"

#include <corymb/scheduler.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace corymb::detail {

struct RemoteState;

/// A time that never comes.
inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

struct SchedulerState final : Scope {
    using Events = channel::EventCount<channel::StandardEnv>;

    explicit SchedulerState(const SchedulerOptions& options);
    ~SchedulerState();

    /// Runs until no strand is left.
    void run(Strand& of_run, const std::stop_token& stop_of_run);
    /// One bounded pass.
    void poll();
    /// Runs until `done()`, or until `limit_ns` have passed; whether it is done.
    bool run_until(const std::function<bool()>& done, std::int64_t limit_ns);

    /// A descriptor that is readable when `poll` has something to do. Throws as Doorbell.
    [[nodiscard]] int descriptor();

    /// A strand that can go on.
    void enqueue(Strand& strand) noexcept {
        ready.push(strand);
        yields_ += static_cast<std::size_t>(&strand == running);
        if (is_armed_) [[unlikely]] {
            doorbell_->ring();
        }
    }

    /// A source needs a look that nobody announces: a message waits for room, for example.
    void look_soon() noexcept {
        if (is_armed_) {
            doorbell_->ring();
        }
    }

    void add(Source& source);
    void remove(Source& source) noexcept;
    /// A task is about to await a request of this rank of a team.
    TeamSource& attend(Driver& driver);
    /// A task awaits a request no more.
    void neglect(TeamSource& source) noexcept;

    /// A stop was requested on another thread for one of the strands that can be told so.
    void note_foreign_stop() noexcept;
    /// Whether this thread is in `run` or `poll`.
    [[nodiscard]] bool is_running_here() const noexcept;

    /// All strands end where they are.
    void abandon_all() noexcept;
    [[nodiscard]] std::unique_ptr<Strand> forget(Strand& strand) noexcept;
    /// An exception that no task takes.
    void keep_error(const std::exception_ptr& thrown) noexcept;
    void throw_errors();

    OneUser user{"scheduler"};
    ReadyQueue ready;
    TimerQueue timers;
    /// Not over, or over and held.
    std::vector<std::unique_ptr<Strand>> strands;
    std::size_t running_count = 0;              ///< Strands that are not over.
    std::vector<std::unique_ptr<Strand>> ended; ///< Over, and to be deleted after their turn.
    Strand* running = nullptr;
    std::uint64_t turn_count = 0; ///< So far.
    Strand* main = nullptr;       ///< What `run` runs; null outside of it.
    std::stop_source stop;
    bool is_stop_expected = false; ///< From outside, during `run`.
    RemoteState* place = nullptr;  ///< Null: the tasks are no rank's of a group that calls.
    std::vector<std::exception_ptr> errors; ///< That no task has taken.

private:
    class RunningHere;

    void note_thrown(const std::exception_ptr& thrown) noexcept override { keep_error(thrown); }
    void note_over() noexcept override {}
    void pass();
    /// How many there were.
    std::size_t take_turns();
    void give_way_at_times() noexcept;
    /// Whether a source has served somebody.
    bool look_around() noexcept;
    void look_after() noexcept;
    void look_after_at_times() noexcept;
    [[nodiscard]] std::int64_t collect_events();
    [[nodiscard]] std::int64_t until_next_timer(std::int64_t limit_ns) noexcept;
    void arm_doorbell();
    void disarm_doorbell() noexcept;
    /// Until a strand is ready, `is_over()`, or the clock is at `end_ns`. False: nothing could wake
    /// a strand.
    template <class IsOver>
    [[nodiscard]] bool wait(const IsOver& is_over, std::int64_t end_ns);
    [[nodiscard]] std::string deadlock_text() const;

    channel::Waiting waiting_;
    std::vector<Source*> sources_;
    std::unordered_map<Driver*, std::unique_ptr<TeamSource>> teams_;
    channel::EventCounts<channel::StandardEnv> events_;
    Events own_events_; ///< For stops from other threads.
    /// A thread has requested a stop.
    std::atomic<bool> foreign_stop_{false};
    std::unique_ptr<Doorbell> doorbell_; ///< Null: nobody has asked for a descriptor.
    bool is_armed_ = false;       ///< The descriptor is to become readable for whatever comes.
    std::uint32_t passes_ = 0;    ///< Counts on, and around.
    std::size_t yields_ = 0;      ///< Turns of a pass that have only given way to others.
    int vain_passes_ = 0;         ///< In a row: all turns were such, and nobody was served.
    std::int64_t watched_ns_ = 0; ///< When look_after_at_times has looked.
};

/// Asks the calls to stop that are counted by the scope.
void stop_told(RemoteState& of, const Scope& scope) noexcept;
/// Throws Errc::invalid_argument where a scheduler runs on this thread.
void require_no_task_here();
/// The `place` of the scheduler that runs on this thread. Throws Errc::invalid_argument.
[[nodiscard]] RemoteState& running_place();

struct SchedulerAccess {
    static SchedulerState& state(Scheduler& of) noexcept { return *of.state_; }
    static const SchedulerState& state(const Scheduler& of) noexcept { return *of.state_; }
};

} // namespace corymb::detail
