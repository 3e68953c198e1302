// SPDX-License-Identifier: Apache-2.0
// Assertions about compiled steps: a step of a program says what the plan's step says.
#pragma once

#include "plan/step_kind.hpp"
#include "team/program.hpp"

#include <corymb/plan.hpp>

namespace corymb::team {

/// Whether a step of a plan becomes one with this opcode.
[[nodiscard]] constexpr bool becomes(const Step& step, Opcode code) noexcept {
    const bool is_empty = step.to.count == 0 && step.from.count == 0;
    const auto is = [&](StepKind kind, Mechanism via) {
        return step.kind == kind && step.via == via;
    };
    const auto notifies = [&](StepKind kind) {
        return step.kind == kind && step.via != Mechanism::pull && step.via != Mechanism::exchange;
    };
    const auto takes = [&](Mechanism via) {
        return is(StepKind::recv, via) || is(StepKind::fold, via);
    };
    const auto reads = [&](Mechanism via) {
        return plan::is_reading(step.kind) && step.via == via && !is_empty;
    };
    switch (code) {
    case Opcode::signal: return notifies(StepKind::signal);
    case Opcode::wait: return notifies(StepKind::wait);
    case Opcode::signal_lent: return is(StepKind::signal, Mechanism::pull);
    case Opcode::wait_lent: return is(StepKind::wait, Mechanism::pull);
    case Opcode::meet_signal: return is(StepKind::signal, Mechanism::exchange);
    case Opcode::meet_wait: return is(StepKind::wait, Mechanism::exchange);
    case Opcode::send_line: return is(StepKind::send, Mechanism::line);
    case Opcode::send_cells: return is(StepKind::send, Mechanism::cells);
    case Opcode::post: return is(StepKind::send, Mechanism::pull);
    case Opcode::meet_put: return is(StepKind::send, Mechanism::exchange);
    case Opcode::receive_line: return takes(Mechanism::line);
    case Opcode::receive_cells: return takes(Mechanism::cells);
    case Opcode::pull: return takes(Mechanism::pull);
    case Opcode::meet_take: return takes(Mechanism::exchange);
    case Opcode::offer: return is(StepKind::offer, Mechanism::push);
    case Opcode::put: return plan::is_putting(step.kind) && step.via == Mechanism::push;
    case Opcode::raise: return step.kind == StepKind::publish && is_empty;
    case Opcode::publish_line: return is(StepKind::publish, Mechanism::line) && !is_empty;
    case Opcode::publish_address: return is(StepKind::publish, Mechanism::pull) && !is_empty;
    case Opcode::observe: return plan::is_reading(step.kind) && is_empty;
    case Opcode::read_line: return reads(Mechanism::line);
    case Opcode::read_address: return reads(Mechanism::pull);
    case Opcode::copy: return step.kind == StepKind::copy;
    case Opcode::far: return step.via == Mechanism::network;
    }
    return false;
}

/// Whether `places` are `blocks`; those of an empty step are none.
[[nodiscard]] constexpr bool are(const Places& places, const Blocks& blocks,
                                 std::uint32_t block_count) noexcept {
    const auto at = [block_count](std::uint32_t part, std::uint32_t block) {
        return part * block_count + block;
    };
    return at(places.first_part, places.first_block) == (blocks.count == 0 ? 0 : blocks.first) &&
           at(places.end_part, places.end_block) - at(places.first_part, places.first_block) ==
               blocks.count &&
           (blocks.count == 0 || places.buffer == blocks.buffer);
}

/// Whether a compiled step does what `step` of a plan with `block_count` blocks a part says. An
/// acknowledgement has the blocks of its message.
template <class Env>
[[nodiscard]] constexpr bool says(const CompiledStep<Env>& compiled, const Step& step,
                                  std::uint32_t block_count) noexcept {
    const bool notifies = step.kind == StepKind::signal || step.kind == StepKind::wait;
    return becomes(step, compiled.code) && compiled.fold == plan::is_folding(step.kind) &&
           compiled.incoming_first == step.incoming_first &&
           (notifies ||
            (are(compiled.to, step.to, block_count) && are(compiled.from, step.from, block_count)));
}

} // namespace corymb::team
