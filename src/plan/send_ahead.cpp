// SPDX-License-Identifier: Apache-2.0
#include "plan/send_ahead.hpp"

#include "base/cache_line.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <map>

namespace corymb::plan {

namespace {

bool overlap(const Blocks& one, const Blocks& other) {
    return one.buffer == other.buffer && one.first < other.first + other.count &&
           other.first < one.first + one.count;
}

bool may_come_before(const Step& send, const Step& other) {
    const bool is_local_or_receipt = other.kind == StepKind::copy || other.kind == StepKind::recv ||
                                     other.kind == StepKind::fold;
    return is_local_or_receipt && !overlap(send.from, other.to);
}

/// At most. Cells hold whole elements of what is combined: of those with more than half a cell only
/// one. What is only moved fills them; its blocks are whole cache lines.
std::uint64_t cells_of(const Plan& plan, const Step& send) {
    const std::uint64_t block = plan.block_bytes(plan.bytes_max);
    return is_reduction(plan.op)
               ? 2 * (send.from.count * block / cell_bytes + 1)
               : send.from.count * (block + cache_line_bytes - 1) / cell_bytes + 1;
}

} // namespace

std::vector<std::size_t>
order_with_sends_ahead(const Plan& plan, Rank rank,
                       const std::function<std::size_t(Rank peer)>& slots_to) {
    const auto& steps = plan.steps[static_cast<std::size_t>(rank)];
    std::map<Rank, std::uint64_t> room; // That is left for this operation.
    std::vector<std::size_t> order;
    order.reserve(steps.size());
    for (std::size_t index = 0; index < steps.size(); ++index) {
        const Step& step = steps[index];
        order.push_back(index);
        if (step.kind != StepKind::send || step.via != Mechanism::cells) {
            continue;
        }
        auto known = room.find(step.peer);
        if (known == room.end()) {
            known = room.emplace(step.peer, slots_to(step.peer)).first;
        }
        const std::uint64_t need = cells_of(plan, step);
        if (need > known->second) {
            known->second = 0; // Nor does any later one fit.
            continue;
        }
        known->second -= need;
        auto place = order.end() - 1;
        while (place != order.begin() && may_come_before(step, steps[*(place - 1)])) {
            --place;
        }
        std::rotate(place, order.end() - 1, order.end());
    }
    return order;
}

} // namespace corymb::plan
