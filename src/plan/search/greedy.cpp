// SPDX-License-Identifier: Apache-2.0
#include "plan/search/greedy.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

/// The ranks of each cost row that still wait for the message, lowest first.
class Waiting {
public:
    explicit Waiting(const CostView& view) : members_(at(view.row_count())) {
        for (Rank rank = view.size() - 1; rank >= 0; --rank) {
            members_[at(view.row(rank))].push_back(rank);
        }
    }

    [[nodiscard]] bool any(std::int32_t row) const { return !members_[at(row)].empty(); }
    [[nodiscard]] bool several(std::int32_t row) const { return members_[at(row)].size() > 1; }
    [[nodiscard]] Rank next(std::int32_t row) const { return members_[at(row)].back(); }
    void take(std::int32_t row, Rank rank) { std::erase(members_[at(row)], rank); }
    void pop(std::int32_t row) { members_[at(row)].pop_back(); }

private:
    std::vector<std::vector<Rank>> members_;
};

/// For every row, the rows in order of the cost of a message to them. Made when first asked for.
class Preferences {
public:
    explicit Preferences(const TreeCosts& costs)
        : costs_(costs), representative_(at(costs.view().row_count())),
          order_(at(costs.view().row_count())) {
        for (Rank rank = costs.size() - 1; rank >= 0; --rank) {
            const std::int32_t row = costs.view().row(rank);
            second_.resize(representative_.size(), -1);
            second_[at(row)] = representative_[at(row)];
            representative_[at(row)] = rank;
        }
    }

    /// Two different ranks that stand for the row pair; undefined for a row of one rank with
    /// itself.
    [[nodiscard]] std::pair<Rank, Rank> pair(std::int32_t from, std::int32_t to) const {
        return {representative_[at(from)], from == to ? second_[at(to)] : representative_[at(to)]};
    }
    [[nodiscard]] double busy(std::int32_t from, std::int32_t to) const {
        const auto [parent, child] = pair(from, to);
        return costs_.busy(parent, child);
    }
    [[nodiscard]] double whole(std::int32_t from, std::int32_t to) const {
        const auto [parent, child] = pair(from, to);
        return costs_.busy(parent, child) + costs_.latency(parent, child);
    }

    const std::vector<std::int32_t>& of(std::int32_t row) {
        std::vector<std::int32_t>& order = order_[at(row)];
        if (order.empty()) {
            std::vector<double> cost(order_.size(), never);
            for (std::size_t to = 0; to < order_.size(); ++to) {
                const auto target = static_cast<std::int32_t>(to);
                if (pair(row, target).first != pair(row, target).second) {
                    cost[to] = whole(row, target);
                }
            }
            order.resize(order_.size());
            std::iota(order.begin(), order.end(), 0);
            std::ranges::stable_sort(order, std::ranges::less{},
                                     [&](std::int32_t to) { return cost[at(to)]; });
        }
        return order;
    }

private:
    const TreeCosts& costs_;
    std::vector<Rank> representative_, second_;
    std::vector<std::vector<std::int32_t>> order_;
};

} // namespace

Tree earliest_completion(const TreeCosts& costs, Rank root) {
    const CostView& view = costs.view();
    Tree tree = make_tree(view.size(), root);
    Waiting waiting(view);
    waiting.take(view.row(root), root);
    Preferences preferences(costs);
    struct Sender {
        double ready = 0;
        std::size_t position = 0; ///< Position in the preferences of its row.
    };
    std::vector<Sender> senders(at(view.size()));
    using Entry = std::tuple<double, Rank>; // completion of the sender's best message, sender
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto offer = [&](Rank rank) {
        Sender& sender = senders[at(rank)];
        const std::int32_t row = view.row(rank);
        const std::vector<std::int32_t>& order = preferences.of(row);
        while (sender.position < order.size() && !waiting.any(order[sender.position])) {
            ++sender.position;
        }
        if (sender.position < order.size()) {
            queue.emplace(sender.ready + preferences.whole(row, order[sender.position]), rank);
        }
    };
    offer(root);
    for (Rank informed = 1; informed < view.size();) {
        const auto [completion, rank] = queue.top();
        queue.pop();
        Sender& sender = senders[at(rank)];
        const std::int32_t row = view.row(rank);
        const std::int32_t target_row = preferences.of(row)[sender.position];
        if (waiting.any(target_row)) {
            const Rank target = waiting.next(target_row);
            waiting.pop(target_row);
            attach(tree, rank, target);
            sender.ready += costs.busy(rank, target);
            senders[at(target)].ready = completion;
            offer(target);
            ++informed;
        }
        offer(rank);
    }
    return tree;
}

Tree earliest_completion_look_ahead(const TreeCosts& costs, Rank root) {
    const CostView& view = costs.view();
    const std::int32_t rows = view.row_count();
    Tree tree = make_tree(view.size(), root);
    Waiting waiting(view);
    waiting.take(view.row(root), root);
    Preferences preferences(costs);
    std::vector<double> ready(at(view.size()), 0.0);
    std::vector<Rank> informed{root};
    std::vector<std::size_t> position(at(rows), 0);
    std::vector<double> onward(at(rows), 0.0);
    while (informed.size() < at(view.size())) {
        for (std::int32_t row = 0; row < rows; ++row) {
            const auto& order = preferences.of(row);
            std::size_t& p = position[at(row)];
            while (p < order.size() && !waiting.any(order[p])) {
                ++p;
            }
            std::size_t q = p; // The row itself counts only with a second rank that waits.
            while (q < order.size() &&
                   (!waiting.any(order[q]) || (order[q] == row && !waiting.several(row)))) {
                ++q;
            }
            onward[at(row)] = q < order.size() ? preferences.whole(row, order[q]) : 0.0;
        }
        std::tuple<double, Rank, std::int32_t> best{never, -1, -1};
        for (const Rank rank : informed) {
            const std::int32_t row = view.row(rank);
            for (std::int32_t target = 0; target < rows; ++target) {
                if (waiting.any(target)) {
                    const double score =
                        ready[at(rank)] + preferences.whole(row, target) + onward[at(target)];
                    best = std::min(best, std::tuple{score, rank, target});
                }
            }
        }
        const auto [score, rank, row] = best;
        const Rank target = waiting.next(row);
        waiting.pop(row);
        attach(tree, rank, target);
        ready[at(rank)] += costs.busy(rank, target);
        ready[at(target)] = ready[at(rank)] + costs.latency(rank, target);
        informed.push_back(target);
    }
    return tree;
}

} // namespace corymb
