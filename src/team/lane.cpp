// SPDX-License-Identifier: Apache-2.0
#include "team/lane.hpp"

namespace corymb::detail {

LaneEnd::Program LaneEnd::compile(const Plan& plan, std::uint64_t number,
                                  const team::Readers& readers) {
    auto fabric = shared_->lane(lane_);
    const auto caches = shared_->company ? shared_->company->caches : team::Caches::unknown;
    return team::Compiler<team::Env>(fabric, rank_, peers_)
        .compile(plan, number, readers,
                 {.sends_ahead = true, .copied_bytes = team::copied_bytes(caches)});
}

LaneEnd::Program& LaneEnd::find_or_compile(const team::PlanKey& key) {
    auto& slot = programs_[key];
    if (!slot) {
        const auto& plan = shared_->plan(key);
        slot = std::make_unique<Program>(compile(plan.plan, plan.number, plan.readers));
    }
    last_key_ = key;
    last_ = slot.get();
    return *slot;
}

LaneEnd::Program& LaneEnd::pair_program(const team::PairKey& key) {
    auto& slot = pair_programs_[key];
    if (!slot) {
        Plan plan; // Of this rank alone; the peer has the other half.
        plan.block_count = 1;
        plan.steps.resize(static_cast<std::size_t>(rank_) + 1);
        const bool is_send = key.direction == team::Direction::send;
        const bool is_pull = key.via == Mechanism::pull;
        Step data{
            .kind = is_send ? StepKind::send : StepKind::recv, .via = key.via, .peer = key.peer};
        (is_send ? data.from : data.to) = {is_send ? Buffer::input : Buffer::output, 0, 1};
        plan.steps.back().push_back(data);
        if (is_pull) { // The sender's buffer stays until the receiver has copied.
            plan.steps.back().push_back(
                {.kind = is_send ? StepKind::wait : StepKind::signal, .peer = key.peer});
        }
        slot = std::make_unique<Program>(compile(plan, 0, {}));
    }
    return *slot;
}

} // namespace corymb::detail
