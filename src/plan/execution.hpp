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

/// How far a rank has got with one of its steps. Only a rendezvous send completes later than it
/// acts.
enum class Stage : std::uint8_t { reached, acted, completed };

/// Half steps that a rank has made when it has reached this stage of its step number `index`.
[[nodiscard]] constexpr std::uint64_t half_steps(std::uint64_t index, Stage stage) noexcept {
    return 2 * index + static_cast<std::uint64_t>(stage);
}

/// A step that another step waits for, and how far its rank must get with it.
struct Need {
    StepNumber step = no_step;
    Stage stage = Stage::completed;
};

/// When a step can go on: its first need that is not met, or none (`no_step`). No other code says
/// what steps wait for: the checker, the simulators and the count of turns tell with `is_met(Need)`
/// how far ranks are. `has_acted`: the step has acted and is to be completed. O(1) apart from
/// publications, whose readers are asked one by one.
template <class IsMet>
[[nodiscard]] Need unmet_need(const Matching& matching, StepNumber number, bool has_acted,
                              const IsMet& is_met) {
    const auto if_unmet = [&is_met](const Need& need) {
        return is_met(need) ? Need{} : need;
    };
    const StepNumber partner = matching.partner(number);
    if (has_acted) {
        return matching.is_rendezvous(number) ? if_unmet({partner, Stage::reached}) : Need{};
    }
    const StepNumber room = matching.needs_room(number);
    const StepKind kind = matching.step(number).kind;
    if (kind == StepKind::publish) {
        if (room != no_step) {
            for (const StepNumber reader : matching.readers(room)) {
                if (const Need need{reader}; !is_met(need)) {
                    return need;
                }
            }
        }
        return {};
    }
    if (is_sending(kind)) {
        const bool has_room = room == no_step || matching.is_rendezvous(number);
        return has_room ? Need{} : if_unmet({room});
    }
    if (has_source(kind)) {
        return if_unmet(
            {partner, matching.is_rendezvous(partner) ? Stage::acted : Stage::completed});
    }
    return {};
}

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
    using Progress = std::uint32_t; // Half steps.

    static std::size_t at(Rank rank) noexcept { return static_cast<std::size_t>(rank); }

    void advance(Rank rank) {
        waits_for_[at(rank)] = -1;
        const StepNumber first = matching_.first_step(rank);
        const auto end = static_cast<Progress>(matching_.end_step(rank) - first);
        Progress& progress = progress_[at(rank)];
        while (progress / 2 < end) {
            const StepNumber number = first + progress / 2;
            const Need unmet =
                unmet_need(matching_, number, (progress & 1u) != 0,
                           [this](const Need& need) { return progress_of(need) >= least(need); });
            if (unmet.step != no_step) {
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

    [[nodiscard]] Progress least(const Need& need) const {
        return static_cast<Progress>(half_steps(matching_.index_of(need.step), need.stage));
    }
    [[nodiscard]] Progress progress_of(const Need& need) const {
        return progress_[at(matching_.rank_of(need.step))];
    }

    void wait_for(Rank rank, const Need& need) {
        const Rank peer = matching_.rank_of(need.step);
        waits_for_[at(rank)] = peer;
        auto& heap = waiters_[at(peer)];
        heap.emplace_back(least(need), rank);
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
            at_end = at_end && progress_[rank] / 2 ==
                                   matching_.end_step(number) - matching_.first_step(number);
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
