// SPDX-License-Identifier: Apache-2.0
// Costs of a placement on a machine model.
#include "plan/cost_view.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace corymb {

namespace {

void check_placement(const Machine& machine, std::span<const int> placement) {
    if (placement.empty()) {
        throw Error(Errc::invalid_argument, "a group needs at least one rank");
    }
    for (const int pu : placement) {
        if (pu < 0 || pu >= machine.size()) {
            throw Error(Errc::invalid_argument, "PU " + std::to_string(pu) + " is not one of the " +
                                                    std::to_string(machine.size()) +
                                                    " of the model");
        }
    }
}

/// A representative pair of distinct PUs for each pair of rows; `members` holds up to two PUs of
/// each row.
struct Rows {
    std::vector<std::vector<int>> members;

    [[nodiscard]] std::pair<int, int> pair(std::size_t from, std::size_t to) const {
        const int first = members[from].front();
        return {first, from == to ? members[to].back() : members[to].front()};
    }
};

} // namespace

CostView::CostView(const Machine& machine, std::span<const int> placement) {
    check_placement(machine, placement);
    size_ = static_cast<Rank>(placement.size());
    const bool dense = size_ <= dense_ranks_max;
    Rows rows;
    if (dense) {
        for (const int pu : placement) {
            rows.members.push_back({pu});
        }
    } else {
        std::vector<std::int32_t> number(static_cast<std::size_t>(machine.group_count()), -1);
        for (const int pu : placement) {
            std::int32_t& row =
                number[static_cast<std::size_t>(machine.group[static_cast<std::size_t>(pu)])];
            if (row < 0) {
                row = static_cast<std::int32_t>(rows.members.size());
                rows.members.emplace_back();
            }
            auto& members = rows.members[static_cast<std::size_t>(row)];
            if (members.empty() || (members.size() == 1 && members.front() != pu)) {
                members.push_back(pu);
            }
            group_.push_back(row);
        }
    }
    const std::size_t count = rows.members.size();
    rows_ = static_cast<std::int32_t>(count);
    send_.assign(count * count, 0.0F);
    receive_.assign(count * count, 0.0F);
    std::vector<std::size_t> same_pu;
    float least_send = HUGE_VALF;
    float least_receive = HUGE_VALF;
    for (std::size_t i = 0; i < count * count; ++i) {
        const auto [from, to] = rows.pair(i / count, i % count);
        if (from == to) {
            same_pu.push_back(i);
            continue;
        }
        const bool by_class = !dense;
        const auto class_index =
            by_class ? static_cast<std::size_t>(machine.class_of(from, to)) : std::size_t{0};
        const double send =
            by_class ? machine.classes[class_index].send.median : machine.send_cost(from, to);
        const double receive =
            by_class ? machine.classes[class_index].receive.median : machine.receive_cost(from, to);
        send_[i] = static_cast<float>(send + machine.step_overhead);
        receive_[i] = static_cast<float>(receive + machine.step_overhead);
        least_send = std::min(least_send, send_[i]);
        least_receive = std::min(least_receive, receive_[i]);
    }
    for (const std::size_t i : same_pu) {
        send_[i] = std::isfinite(least_send) ? least_send : 0.0F;
        receive_[i] = std::isfinite(least_receive) ? least_receive : 0.0F;
    }
    check();
}

} // namespace corymb
