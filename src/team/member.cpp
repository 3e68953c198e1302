// SPDX-License-Identifier: Apache-2.0
#include "team/member.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace corymb::detail {

Member::Member(std::shared_ptr<TeamShared> team, Rank own_rank)
    : shared(std::move(team)), rank(own_rank),
      ladder_(shared->fabric.state(own_rank).spot, shared->fabric.state(own_rank).gate,
              shared->record.broken,
              {shared->options.wait, shared->oversubscribed, shared->deadline_ns,
               shared->crowd ? &*shared->crowd : nullptr, static_cast<std::size_t>(own_rank)}),
      engine_(ladder_) {}

Member::Program& Member::program_for(const team::PlanKey& key) {
    if (last_ != nullptr && key == last_key_) [[likely]] {
        return *last_;
    }
    auto& slot = programs_[key];
    if (!slot) {
        auto& plan = shared->plan_for_compile(key);
        team::Compiler<team::Env> compiler(shared->fabric, rank, peers_);
        slot = std::make_unique<Program>(compiler.compile(plan.plan, plan.number, plan.readers));
    }
    last_key_ = key;
    last_ = slot.get();
    return *slot;
}

void Member::barrier() {
    const team::PlanKey key{};
    if (barrier_ == nullptr) [[unlikely]] {
        barrier_ = &program_for(key);
    }
    execute(*barrier_, {}, key);
}

void Member::run(const team::PlanKey& key, team::Operands operands) {
    Program& program = program_for(key);
    const std::size_t blocks = std::max<std::size_t>(1, program.block_count);
    const std::size_t elements = operands.bytes / operands.element_bytes;
    operands.block_bytes = (elements + blocks - 1) / blocks * operands.element_bytes;
    // Scratch holds whole parts, each as long as the caller's.
    if (const std::size_t need = (program.scratch_blocks + blocks - 1) / blocks * operands.bytes;
        need > scratch_.size()) {
        scratch_.resize(need);
    }
    operands.scratch = scratch_.data();
    execute(program, operands, key);
}

void Member::execute(Program& program, const team::Operands& operands, const team::PlanKey& key) {
    shared->fabric.state(rank).started.store(++operations_, std::memory_order_relaxed);
    if (shared->record.broken.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        const team::Failure failure = shared->failure();
        throw Error(Errc::team_broken, "the team is broken: " + failure.text + "; make a new team",
                    failure.ranks);
    }
    ladder_.begin_operation();
    team::Activation<team::Env> activation{&program, &operands};
    if (!engine_.run(activation)) [[unlikely]] {
        fail(key, program, activation.step);
    }
}

void Member::fail(const team::PlanKey& key, const Program& program, std::size_t step) {
    if (ladder_.timed_out()) {
        const auto& plan = shared->plan(key).plan;
        const auto missing = shared->missing(operations_);
        const Step& at = plan.steps[static_cast<std::size_t>(rank)][step];
        team::Failure failure{Errc::timeout, "", missing};
        failure.text = fmt::format("{} (operation {} of a team of {}): ", to_string(key.op),
                                   operations_, plan.size());
        if (missing.empty()) {
            failure.text += fmt::format("everybody arrived, but rank {} waited in vain for rank {}",
                                        rank, at.peer);
        } else {
            failure.text += fmt::format("rank{} {} did not arrive", missing.size() == 1 ? "" : "s",
                                        fmt::join(missing, ", "));
        }
        failure.text += fmt::format(" within {:.3g} s (seen by rank {} in step {} of {} of {})",
                                    static_cast<double>(shared->deadline_ns) * 1e-9, rank, step,
                                    program.steps.size(), plan.algorithm);
        shared->fail(failure);
    }
    shared->wait_for_copies(); // The caller may free its buffers now.
    const team::Failure failure = shared->failure();
    throw Error(failure.code, failure.text, failure.ranks);
}

} // namespace corymb::detail
