// SPDX-License-Identifier: Apache-2.0
// How often CPUs turn from rank to rank when there are more ranks than CPUs. Each CPU gives each of
// its ranks its turn in a ring, as yielding does; a rank runs until it has to wait. Signals travel
// in no time, for turns take far longer. Nobody knows which ranks share a CPU, so several ways are
// tried.
#include "tune/turns.hpp"

#include "base/random.hpp"
#include "plan/channel_room.hpp"
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/shape.hpp"
#include "plan/step_kind.hpp"
#include "tune/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace corymb::tune {

namespace {

/// Runs a plan again and again, as programs call it, so that the steps a rank may do early count.
class TurnsOfPlan {
public:
    /// `order` has all ranks: those of the first CPU in the order of their turns, and so on.
    TurnsOfPlan(const plan::Matching& matching, std::span<const Rank> order, int cpus)
        : matching_(matching), ranks_(order.size()), progress_(ranks_, 0),
          held_(matching.step_count(), line_slots) {
        find_what_channels_hold();
        const auto count = std::min(static_cast<std::size_t>(cpus), ranks_);
        for (std::size_t cpu = 0; cpu < count; ++cpu) {
            const std::size_t begin = cpu * ranks_ / count;
            cpus_.push_back({order.subspan(begin, (cpu + 1) * ranks_ / count - begin)});
        }
    }

    /// Turns in a row of an operation; infinite if it never ends.
    double per_operation() {
        const std::uint64_t before = ranks_ > turns_all_counted ? 1 : 2;
        const std::uint64_t counted = ranks_ > turns_all_counted ? 1 : 4;
        const double start = run_until(before);
        return std::isinf(start)
                   ? start
                   : (run_until(before + counted) - start) / static_cast<double>(counted);
    }

private:
    using Progress = std::uint64_t; // Steps of all operations so far, two each: acted, completed.
    struct Cpu {
        std::span<const Rank> ring;
        std::size_t running = 0; ///< Place in the ring.
    };

    static std::size_t at(Rank rank) noexcept { return static_cast<std::size_t>(rank); }

    /// Messages of several operations may be in a channel, as many as it really holds.
    void find_what_channels_hold() {
        const Plan& plan = matching_.plan();
        for (plan::StepNumber number = 0; number < matching_.step_count(); ++number) {
            const Step& step = matching_.step(number);
            if (plan::is_sending(step.kind) && step.via == Mechanism::cells) {
                const std::uint64_t bytes = plan::bytes_of(plan, step.from, plan.bytes_max);
                held_[number] =
                    plan::cell_ring_bytes(plan.size()) / std::max<std::uint64_t>(bytes, cell_bytes);
            }
        }
    }

    [[nodiscard]] std::uint64_t length_of(Rank rank) const {
        return matching_.end_step(rank) - matching_.first_step(rank);
    }

    /// Runs until every rank has completed so many operations. Returns the turns since the very
    /// beginning.
    double run_until(std::uint64_t operations) {
        operations_max_ = operations + ahead_most;
        for (;;) {
            while (run_all()) {
            }
            if (all_have(operations)) {
                return static_cast<double>(turns_);
            }
            if (looks_ > looks_most) {
                return static_cast<double>(turns_) / share_done(operations);
            }
            if (!turn()) {
                return std::numeric_limits<double>::infinity();
            }
        }
    }

    [[nodiscard]] bool all_have(std::uint64_t operations) const {
        for (Rank rank = 0; rank < matching_.plan().size(); ++rank) {
            if (progress_[at(rank)] < 2 * length_of(rank) * operations) {
                return false;
            }
        }
        return true;
    }

    /// The share of all steps of so many operations that is done; more than 0.
    [[nodiscard]] double share_done(std::uint64_t operations) const {
        const auto steps = static_cast<double>(matching_.step_count());
        const double done = std::accumulate(progress_.begin(), progress_.end(), 1.0);
        return std::min(1.0, done / (2 * steps * static_cast<double>(operations)));
    }

    /// Lets each running rank go as far as it can. Returns whether one has moved.
    bool run_all() {
        bool moved = false;
        for (const Cpu& cpu : cpus_) {
            const Rank rank = cpu.ring[cpu.running];
            while (can_move(rank)) {
                ++progress_[at(rank)];
                moved = true;
            }
        }
        return moved;
    }

    /// Each CPU on which a rank could go on turns to the next; whether there was one.
    bool turn() {
        bool turned = false;
        for (Cpu& cpu : cpus_) {
            if (std::ranges::any_of(cpu.ring, [this](Rank rank) { return can_move(rank); })) {
                cpu.running = (cpu.running + 1) % cpu.ring.size();
                turned = true;
            }
        }
        turns_ += turned ? 1 : 0;
        return turned;
    }

    [[nodiscard]] bool is_met(const plan::Need& need, std::uint64_t operation) const {
        const Rank rank = matching_.rank_of(need.step);
        const std::uint64_t step = operation * length_of(rank) + matching_.index_of(need.step);
        return progress_[at(rank)] >= plan::half_steps(step, need.stage);
    }

    [[nodiscard]] bool is_completed(plan::StepNumber number, std::uint64_t operation) const {
        return is_met({number}, operation);
    }

    [[nodiscard]] bool can_move(Rank rank) {
        ++looks_;
        const std::uint64_t length = length_of(rank);
        const std::uint64_t step = progress_[at(rank)] / 2;
        if (length == 0 || step >= length * operations_max_) {
            return false;
        }
        const auto number =
            matching_.first_step(rank) + static_cast<plan::StepNumber>(step % length);
        const std::uint64_t operation = step / length;
        const bool has_acted = progress_[at(rank)] % 2 != 0;
        const plan::Need unmet =
            plan::unmet_need(matching_, number, has_acted,
                             [&](const plan::Need& need) { return is_met(need, operation); });
        return unmet.step == plan::no_step && (has_acted || is_taken_before(number, operation));
    }

    /// Whether channels have room for a message beside the messages of operations before.
    [[nodiscard]] bool is_taken_before(plan::StepNumber number, std::uint64_t operation) const {
        const Step& step = matching_.step(number);
        if (step.kind == StepKind::publish) {
            return step.from.count == 0 || operation < line_slots ||
                   are_read(number, operation - line_slots);
        }
        if (!plan::is_sending(step.kind) || step.kind == StepKind::signal ||
            matching_.needs_room(number) != plan::no_step) {
            return true;
        }
        const std::uint64_t ahead = std::max<std::uint64_t>(held_[number], 1);
        return operation < ahead || is_completed(matching_.partner(number), operation - ahead);
    }

    [[nodiscard]] bool are_read(plan::StepNumber publication, std::uint64_t operation) const {
        return std::ranges::all_of(matching_.readers(publication), [&](plan::StepNumber reader) {
            return is_completed(reader, operation);
        });
    }

    static constexpr std::uint64_t ahead_most = 2 * line_slots; ///< Operations.

    const plan::Matching& matching_;
    std::size_t ranks_;
    std::vector<Progress> progress_;
    std::vector<std::uint64_t> held_; ///< By step: messages of a send that its channel holds.
    std::vector<Cpu> cpus_;
    std::uint64_t operations_max_ = 0;
    std::uint64_t turns_ = 0;
    std::uint64_t looks_ = 0;
};

} // namespace

double turns_in_a_row(const plan::Matching& matching, int cpus) {
    const auto ranks = static_cast<std::size_t>(matching.plan().size());
    // Neighbours together, as launchers bind processes, and any way that a kernel spreads threads.
    std::vector<Rank> order(ranks);
    std::iota(order.begin(), order.end(), 0);
    Random random(ranks);
    double turns = 0;
    const int orders = ranks > turns_all_counted ? 1 : 4;
    for (int i = 0; i < orders; ++i) {
        turns += TurnsOfPlan(matching, order, cpus).per_operation() / orders;
        for (std::size_t place = ranks; place > 1; --place) {
            std::swap(order[place - 1], order[random.below(static_cast<std::uint32_t>(place))]);
        }
    }
    return turns;
}

double turns_in_a_row(const Plan& plan, int cpus) {
    plan::check_shape(plan);
    return turns_in_a_row(plan::Matching(plan), cpus);
}

} // namespace corymb::tune
