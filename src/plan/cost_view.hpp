// SPDX-License-Identifier: Apache-2.0
// The message costs between the ranks of one group, as the generators and the search see them.
#pragma once

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corymb {

/// Send and receive cost of a message between each two ranks of a group, in the model's unit.
///
/// Up to `dense_ranks_max` ranks it holds two dense matrices; above, one entry for each pair of
/// groups of ranks, so that thousands of ranks need no memory quadratic in their number.
/// Immutable after construction, hence safe to share between threads.
class CostView {
public:
    static constexpr Rank dense_ranks_max = 2048;

    /// Dense costs, row-major [from * size + to]; the diagonal is never read.
    /// Throws Errc::invalid_argument if an array has the wrong size or holds a value off the
    /// diagonal that is negative or not finite.
    CostView(Rank size, std::vector<float> send, std::vector<float> receive);

    /// Costs by group: rank r belongs to group[r], arrays are groups x groups, row-major; the
    /// diagonal is the cost between two different ranks of one group. Same errors.
    CostView(std::vector<std::int32_t> group, std::vector<float> send, std::vector<float> receive);

    /// The ranks of a placement on a machine. The model's cost of one plan step is part of both
    /// costs. Two ranks on one PU cost as much as the cheapest pair of the group (they take turns;
    /// the model has no better number). Throws Errc::invalid_argument for a PU out of range and
    /// Errc::invalid_model for a cost that is missing.
    CostView(const Machine& machine, std::span<const int> placement);

    [[nodiscard]] Rank size() const noexcept { return size_; }
    /// Time that `from` is busy for a message to `to`. Undefined for from == to.
    [[nodiscard]] double send(Rank from, Rank to) const noexcept {
        return static_cast<double>(send_[index(from, to)]);
    }
    /// Time from the end of the send until `to` may go on. Undefined for from == to.
    [[nodiscard]] double receive(Rank from, Rank to) const noexcept {
        return static_cast<double>(receive_[index(from, to)]);
    }

    [[nodiscard]] bool is_dense() const noexcept { return group_.empty(); }
    /// Number of cost rows: the ranks of a dense view, else the groups.
    [[nodiscard]] std::int32_t row_count() const noexcept { return rows_; }
    /// The cost row of a rank: ranks of one row are interchangeable.
    [[nodiscard]] std::int32_t row(Rank rank) const noexcept {
        return group_.empty() ? rank : group_[static_cast<std::size_t>(rank)];
    }
    /// Bytes of heap memory held.
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return (send_.capacity() + receive_.capacity()) * sizeof(float) +
               group_.capacity() * sizeof(std::int32_t);
    }

private:
    [[nodiscard]] std::size_t index(Rank from, Rank to) const noexcept {
        return static_cast<std::size_t>(row(from)) * static_cast<std::size_t>(rows_) +
               static_cast<std::size_t>(row(to));
    }
    void check() const;

    Rank size_ = 0;
    std::int32_t rows_ = 0;
    std::vector<std::int32_t> group_; ///< Empty for a dense view.
    std::vector<float> send_, receive_;
};

/// The direction in which a tree carries its messages.
enum class Flow : std::uint8_t {
    down, ///< From the root to the leaves: broadcast.
    up,   ///< From the leaves to the root: reduce. Planned as a broadcast in reversed time.
};

/// The two costs of a tree edge, seen from its parent, for either flow.
///
/// Going down, the parent is busy for the send and the child goes on after the receive. Going up,
/// read backwards in time, the parent is busy for the receive and the child's send is what lies
/// between. So one search plans both (Karp, Sahay, Santos, Schauser, SPAA 1993: summation is
/// broadcast reversed).
class TreeCosts {
public:
    TreeCosts(const CostView& costs, Flow flow) noexcept : costs_(&costs), flow_(flow) {}

    [[nodiscard]] Rank size() const noexcept { return costs_->size(); }
    [[nodiscard]] const CostView& view() const noexcept { return *costs_; }
    [[nodiscard]] Flow flow() const noexcept { return flow_; }
    /// Time that the parent is busy with the message of this edge.
    [[nodiscard]] double busy(Rank parent, Rank child) const noexcept {
        return flow_ == Flow::down ? costs_->send(parent, child) : costs_->receive(child, parent);
    }
    /// Time between the parent's end of work on this edge and the child's start.
    [[nodiscard]] double latency(Rank parent, Rank child) const noexcept {
        return flow_ == Flow::down ? costs_->receive(parent, child) : costs_->send(child, parent);
    }

private:
    const CostView* costs_;
    Flow flow_;
};

} // namespace corymb
