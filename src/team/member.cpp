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
               shared->crowd ? &*shared->crowd : nullptr, static_cast<std::size_t>(own_rank),
               shared->company ? this : nullptr}),
      engine_(ladder_), lane_(*shared, own_rank, 0) {}

Member::~Member() {
    if (shared->is_parents()) {
        static_cast<void>(pending_.release()); // Its operations are the parent's.
        return;
    }
    pending_.reset(); // Completes what is under way.
    const std::lock_guard lock(*shared->memory);
    shared->fabric.state(rank).gone = 1;
}

Pending& Member::pending() {
    require_own_process();
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
    auto& state = shared->fabric.state(rank);
    if (shared->is_parents()) [[unlikely]] {
        require_own_process();
    }
    state.started.store(++operations_, std::memory_order_relaxed);
    shared->throw_if_broken();
    ladder_.begin_operation();
    team::Activation<team::Env> activation{&program, &operands};
    if (!engine_.run(activation)) [[unlikely]] {
        fail(key, activation.step);
    }
    state.finished.store(operations_, std::memory_order_relaxed);
}

bool Member::is_lost() noexcept {
    return !shared->lost(operations_).empty();
}

void Member::fail(const team::PlanKey& key, std::size_t step) {
    if (!shared->is_broken()) {
        const bool timed_out = ladder_.timed_out();
        const auto lost = ladder_.is_lost() ? shared->lost(operations_) : std::vector<int>{};
        const auto missing = timed_out ? shared->missing(operations_) : std::vector<int>{};
        shared->fail(blame(*shared, {rank, key, operations_, step, missing, lost, timed_out}));
    }
    shared->wait_for_copies(); // The caller may free its buffers now.
    shared->throw_failure();
}

void Member::require_own_process() const {
    if (shared->is_parents()) {
        throw Error(Errc::invalid_argument, "this handle belongs to the parent process; a forked "
                                            "child attaches for itself");
    }
}

} // namespace corymb::detail
