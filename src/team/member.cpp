// SPDX-License-Identifier: Apache-2.0
#include "team/member.hpp"

#include "team/blame.hpp"

#include <utility>

namespace corymb::detail {

Member::Member(std::shared_ptr<TeamShared> team, Rank own_rank)
    : shared(std::move(team)), rank(own_rank),
      ladder_(shared->fabric.state(own_rank).spot, shared->fabric.state(own_rank).gate,
              shared->record.broken,
              {shared->options.wait, shared->oversubscribed, shared->deadline_ns,
               shared->crowd ? &*shared->crowd : nullptr, static_cast<std::size_t>(own_rank)}),
      engine_(ladder_), lane_(*shared, own_rank, 0) {}

Pending& Member::pending() {
    if (!pending_) [[unlikely]] {
        pending_ = std::make_unique<Pending>(*shared, rank, ladder_);
    }
    return *pending_;
}

void Member::barrier() {
    const team::PlanKey key{};
    if (barrier_ == nullptr) [[unlikely]] {
        barrier_ = &lane_.program_for(key);
    }
    execute(*barrier_, {}, key);
}

void Member::run(const team::PlanKey& key, team::Operands operands) {
    Program& program = lane_.program_for(key);
    set_block_bytes(operands, program);
    if (const std::size_t need = scratch_bytes(operands, program); need > scratch_.size()) {
        scratch_.resize(need);
    }
    operands.scratch = scratch_.data();
    execute(program, operands, key);
}

void Member::execute(Program& program, const team::Operands& operands, const team::PlanKey& key) {
    shared->fabric.state(rank).started.store(++operations_, std::memory_order_relaxed);
    shared->throw_if_broken();
    ladder_.begin_operation();
    team::Activation<team::Env> activation{&program, &operands};
    if (!engine_.run(activation)) [[unlikely]] {
        fail(key, activation.step);
    }
}

void Member::fail(const team::PlanKey& key, std::size_t step) {
    if (ladder_.timed_out()) {
        shared->fail(blame(*shared, {rank, key, operations_, step, shared->missing(operations_)}));
    }
    shared->wait_for_copies(); // The caller may free its buffers now.
    shared->throw_failure();
}

} // namespace corymb::detail
