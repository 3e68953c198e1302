// SPDX-License-Identifier: Apache-2.0
// Carries a plan out, step by step, with the least buffering that the mechanisms guarantee. Ranks
// are sequential and no step chooses among peers, so one order stands for all: if this one comes to
// an end, every execution does, and with more buffering too (Kahn, The semantics of a simple
// language for parallel programming, 1974).
#pragma once

#include "plan/matching.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace corymb::plan {

/// The state of an execution that got stuck. progress[rank] is the index of the step that never
/// completes, or the number of its steps; waits_for[rank] is the peer that would have to move
/// first, or -1.
struct Standstill {
    std::vector<std::uint32_t> progress;
    std::vector<Rank> waits_for;
};

/// Throws Errc::invalid_plan that names a cycle of ranks waiting for each other.
[[noreturn]] void refuse_deadlock(const Plan& plan, const Standstill& standstill);

/// Runs all steps of all ranks, each rank in its turn until it has to wait. `Visitor` has
/// `perform(StepNumber)`, called when the step acts, with everything that it depends on already
/// performed, and `complete(StepNumber)`, called when its rank goes on. Only a rendezvous send
/// completes later than it acts: when its partner was reached.
template <class Visitor>
class Execution {
public:
    Execution(const Matching& matching, Visitor& visitor)
        : matching_(matching), visitor_(visitor),
          ranks_(static_cast<std::size_t>(matching.plan().size())), progress_(ranks_, 0),
          waits_for_(ranks_, -1), waiters_(ranks_) {
        runnable_.reserve(ranks_);
    }

    /// Throws Errc::invalid_plan on a deadlock. O(steps) apart from reads of publications.
    void run() {
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            runnable_.push_back(static_cast<Rank>(rank));
        }
        std::vector<Rank> turn;
        while (!runnable_.empty()) {
            turn.swap(runnable_);
            for (const Rank rank : turn) {
                advance(rank);
            }
            turn.clear();
        }
        verify_end();
    }

private:
    // Progress of a rank counts half steps: 2 i when it has reached step i, 2 i + 1 when step i has
    // acted but not completed. A condition is a rank and the progress that it must have made.
    using Progress = std::uint32_t;
    struct Condition {
        Rank rank = -1;
        Progress least = 0;
    };

    static std::size_t at(Rank rank) noexcept { return static_cast<std::size_t>(rank); }

    void advance(Rank rank) {
        waits_for_[at(rank)] = -1;
        const StepNumber first = matching_.first_step(rank);
        const auto end = static_cast<Progress>(matching_.end_step(rank) - first);
        Progress& progress = progress_[at(rank)];
        while (progress / 2 < end) {
            const StepNumber number = first + progress / 2;
            const Condition unmet = blocked_by(number, (progress & 1u) != 0);
            if (unmet.rank >= 0) {
                wait_for(rank, unmet);
                break;
            }
            if ((progress & 1u) == 0) {
                visitor_.perform(number);
                if (matching_.is_rendezvous(number)) {
                    ++progress;
                    continue;
                }
            }
            visitor_.complete(number);
            progress = (progress | 1u) + 1;
        }
        wake_waiters_of(rank);
    }

    [[nodiscard]] bool is_met(const Condition& condition) const {
        return progress_[at(condition.rank)] >= condition.least;
    }
    [[nodiscard]] Condition completion_of(StepNumber number) const {
        return {matching_.rank_of(number), 2 * (matching_.index_of(number) + 1)};
    }

    /// The first condition of the step that does not hold yet, or no rank.
    [[nodiscard]] Condition blocked_by(StepNumber number, bool has_acted) const {
        const StepNumber partner = matching_.partner(number);
        if (has_acted) {
            const Condition reached{matching_.rank_of(partner), 2 * matching_.index_of(partner)};
            return is_met(reached) ? Condition{} : reached;
        }
        const StepNumber room = matching_.needs_room(number);
        const StepKind kind = matching_.step(number).kind;
        if (kind == StepKind::publish) {
            if (room != no_step) {
                for (const StepNumber reader : matching_.readers(room)) {
                    if (!is_met(completion_of(reader))) {
                        return completion_of(reader);
                    }
                }
            }
            return {};
        }
        Condition condition;
        if (is_sending(kind) && room != no_step && !matching_.is_rendezvous(number)) {
            condition = completion_of(room);
        } else if (has_source(kind)) {
            condition = completion_of(partner);
            condition.least -=
                matching_.is_rendezvous(partner) ? 1u : 0u; // The partner need only have acted.
        }
        return condition.rank < 0 || is_met(condition) ? Condition{} : condition;
    }

    void wait_for(Rank rank, const Condition& condition) {
        waits_for_[at(rank)] = condition.rank;
        auto& heap = waiters_[at(condition.rank)];
        heap.emplace_back(condition.least, rank);
        std::push_heap(heap.begin(), heap.end(), std::greater<>{});
    }

    void wake_waiters_of(Rank rank) {
        auto& heap = waiters_[at(rank)];
        while (!heap.empty() && heap.front().first <= progress_[at(rank)]) {
            runnable_.push_back(heap.front().second);
            std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
            heap.pop_back();
        }
    }

    void verify_end() const {
        bool at_end = true;
        Standstill standstill;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const Rank number = static_cast<Rank>(rank);
            const Progress reached = progress_[rank] / 2;
            at_end = at_end && reached == matching_.end_step(number) - matching_.first_step(number);
        }
        if (!at_end) {
            for (const Progress progress : progress_) {
                standstill.progress.push_back(progress / 2);
            }
            standstill.waits_for = waits_for_;
            refuse_deadlock(matching_.plan(), standstill);
        }
    }

    const Matching& matching_;
    Visitor& visitor_;
    std::size_t ranks_;
    std::vector<Progress> progress_;
    std::vector<Rank> waits_for_;
    std::vector<std::vector<std::pair<Progress, Rank>>> waiters_; // heaps, smallest need first
    std::vector<Rank> runnable_;
};

} // namespace corymb::plan
