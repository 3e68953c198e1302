// SPDX-License-Identifier: Apache-2.0
#include "plan/performed.hpp"

#include "plan/cells.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace corymb::plan {

namespace {

bool is_local_or_receipt(const Step& step) {
    return step.kind == StepKind::copy || step.kind == StepKind::recv ||
           step.kind == StepKind::fold;
}

/// Steps in their new order, and the receipts behind them that sends may still pass.
class Order {
public:
    explicit Order(const std::vector<Step>& steps) : steps_(&steps) { done_.reserve(steps.size()); }

    /// Adds the next step of the plan.
    void add(std::size_t index) {
        if (is_local_or_receipt((*steps_)[index])) {
            note_write((*steps_)[index].to);
            waiting_.push_back(index);
            return;
        }
        settle(waiting_.size());
        done_.push_back(index);
    }
    /// Before all that it may pass.
    void add_send_ahead(std::size_t index) {
        const Blocks& from = (*steps_)[index].from;
        if (overlaps(written_[place(from)], from)) { // Perhaps only their hull does.
            std::size_t passed = 0;
            while (passed < waiting_.size() && !overlaps(write_before(passed), from)) {
                ++passed;
            }
            settle(waiting_.size() - passed);
        }
        done_.push_back(index);
    }
    [[nodiscard]] std::vector<std::size_t> all() && {
        settle(waiting_.size());
        return std::move(done_);
    }

private:
    static std::size_t place(const Blocks& blocks) noexcept {
        return static_cast<std::size_t>(blocks.buffer);
    }
    static bool overlaps(const Blocks& one, const Blocks& other) noexcept {
        return one.count != 0 && one.buffer == other.buffer &&
               one.first < other.first + other.count && other.first < one.first + one.count;
    }
    /// The places that the `passed`-th step from the back writes.
    [[nodiscard]] const Blocks& write_before(std::size_t passed) const {
        return (*steps_)[waiting_[waiting_.size() - 1 - passed]].to;
    }
    void note_write(const Blocks& to) {
        Blocks& hull = written_[place(to)];
        if (hull.count == 0) {
            hull = to;
        }
        if (to.count == 0) {
            return;
        }
        const std::uint32_t end = std::max(hull.first + hull.count, to.first + to.count);
        hull.first = std::min(hull.first, to.first);
        hull.count = end - hull.first;
    }
    /// The first `count` of the waiting steps are passed no more.
    void settle(std::size_t count) {
        const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        done_.insert(done_.end(), waiting_.begin(), end);
        waiting_.erase(waiting_.begin(), end);
        written_ = {};
        for (const std::size_t index : waiting_) {
            note_write((*steps_)[index].to);
        }
    }

    const std::vector<Step>* steps_;
    std::vector<std::size_t> done_;
    std::vector<std::size_t> waiting_;
    /// Hull of the blocks that the waiting steps write, by buffer.
    std::array<Blocks, 3> written_{};
};

/// The messages of a rank in this operation, in the channels to its peers.
class Room {
public:
    explicit Room(std::uint64_t cell_slots) : cell_slots_(cell_slots) {}

    /// Counts a send, and says whether its channel holds it with all that came before it. A send
    /// that does not fit holds back all that follow it.
    bool take(const Plan& plan, const Step& send) {
        if (send.via == Mechanism::line) {
            return ++lines_[send.peer] <= line_slots;
        }
        std::uint64_t& taken = cells_[send.peer];
        taken += cells_of(plan, send.from);
        most_ = std::max(most_, taken);
        return taken <= cell_slots_;
    }
    /// The most slots that the messages to one peer take.
    [[nodiscard]] std::uint64_t most_cells() const noexcept { return most_; }

private:
    std::uint64_t cell_slots_;
    std::map<Rank, std::uint64_t> lines_, cells_;
    std::uint64_t most_ = 0;
};

std::vector<std::size_t> order_of(const Plan& plan, const std::vector<Step>& steps, Room& room) {
    Order order(steps);
    for (std::size_t index = 0; index < steps.size(); ++index) {
        const Step& step = steps[index];
        const bool is_copied_out = step.via == Mechanism::cells || step.via == Mechanism::line;
        if (step.kind == StepKind::send && is_copied_out && room.take(plan, step)) {
            order.add_send_ahead(index);
        } else {
            order.add(index);
        }
    }
    return std::move(order).all();
}

} // namespace

Plan performed(Plan plan, std::uint32_t cell_slots) {
    std::uint64_t used = cell_slots_least;
    for (std::vector<Step>& steps : plan.steps) {
        Room room(cell_slots);
        const std::vector<std::size_t> order = order_of(plan, steps, room);
        used = std::max(used, room.most_cells());
        if (!std::ranges::is_sorted(order)) {
            std::vector<Step> ordered;
            ordered.reserve(steps.size());
            std::ranges::transform(order, std::back_inserter(ordered),
                                   [&steps](std::size_t index) { return steps[index]; });
            steps = std::move(ordered);
        }
    }
    plan.cell_slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(used, cell_slots));
    return plan;
}

} // namespace corymb::plan
