// SPDX-License-Identifier: Apache-2.0
// Who waits for whom among the tasks of a group whose ranks call each other, and deadlocks among
// them. docs/reference/remote.md, "Who waits for whom".
#pragma once

#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

/// A call that was not answered: the rank that has begun it, its number there, and whom it calls.
/// The number is used again after the answer.
struct CallUnderWay {
    Rank from = -1; ///< -1: none.
    std::uint32_t number = 0;
    Rank to = -1;
    friend bool operator==(const CallUnderWay&, const CallUnderWay&) = default;
};

/// A task of one rank, with what it waits for.
struct TaskWait {
    enum class Kind : std::uint8_t {
        nothing, ///< It can go on.
        answer,  ///< The answer of `calls`, which is one.
        object,  ///< An object that other calls hold, or wait for before it.
        task,    ///< The end of one other task.
        finish,  ///< The end of all tasks and calls of a `finish`.
        other,   ///< A time, a message, a request of a team, room, a permit of a semaphore.
    };
    /// Names the wait: no other wait of the rank has or had this number. 0: its first turn.
    std::uint64_t wait = 0;
    std::string runs; ///< For people.
    Kind kind = Kind::nothing;
    std::string waits_for; ///< For people.
    /// The call that it answers.
    CallUnderWay serves;
    /// Indices of tasks of the same rank, each of which must go on before this one can.
    std::vector<std::uint32_t> tasks;
    /// Calls, each of which must be answered before this one can go on.
    std::vector<CallUnderWay> calls;
    /// Index + 1 of the task whose `finish` it belongs to; 0: none.
    std::uint32_t belongs_to = 0;
    /// Tasks of the rank with the same number, not 0, stop each other when one ends (`when_any`).
    std::uint32_t race = 0;
    /// It was asked to stop, or somebody has a stop for it that is not that of the tasks around it
    /// (`spawn` with a token).
    bool has_own_stop = false;
};

/// What one rank shows of itself at one moment.
struct RankWaits {
    Rank rank = -1;
    std::vector<TaskWait> tasks;
    std::vector<CallUnderWay> calls; ///< That it has begun, and not asked to stop.
    std::uint64_t ready = 0;         ///< Tasks that can go on.
    /// Requests that wait for an object which the rank has not made.
    std::uint64_t parked = 0;
    /// Messages that wait for room, by receiver; without those that have none.
    std::vector<std::pair<Rank, std::uint64_t>> queued;
};

/// Tasks each of which waits for the next one, and the last for the first. None of them goes on
/// until one is asked to stop, or a rank leaves.
struct Deadlock {
    struct Step {
        Rank rank;
        std::uint64_t wait; ///< TaskWait::wait.
        std::string runs;
        std::string waits_for;
    };
    struct Stuck {
        Rank rank;
        std::uint64_t wait;
    };
    std::vector<Step> steps;  ///< From the lowest rank on.
    std::vector<Stuck> stuck; ///< All tasks that cannot go on, those of the steps too.

    /// One sentence.
    [[nodiscard]] CORYMB_EXPORT std::string text() const;
    /// The ranks of the steps, each once, from the lowest on.
    [[nodiscard]] CORYMB_EXPORT std::vector<Rank> ranks() const;
};

/// In a task of a RemoteRank: all ranks that have not left show themselves, each at its own moment.
/// Ends when each rank has looked at its messages. Takes time and memory in proportion to the
/// tasks; costs nothing between calls. Throws Errc::interrupted.
[[nodiscard]] CORYMB_EXPORT Task<std::vector<RankWaits>> waits_of_all();

/// As waits_of_all, twice, and the deadlock that `deadlock_in` finds.
[[nodiscard]] CORYMB_EXPORT Task<std::optional<Deadlock>> find_deadlock();

/// A deadlock, if there is one, in two looks of which the first has ended on all ranks before the
/// second has begun on any. Only waits that are in both count, and only tasks that nothing can wake
/// but each other: see docs/reference/remote.md. Never finds one that is none. Takes time in
/// proportion to the tasks and what they wait for.
[[nodiscard]] CORYMB_EXPORT std::optional<Deadlock>
deadlock_in(const std::vector<RankWaits>& before, const std::vector<RankWaits>& after);

} // namespace corymb
