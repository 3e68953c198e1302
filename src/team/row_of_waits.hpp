// SPDX-License-Identifier: Apache-2.0
// Purpose: says how many peers a rank waits for in the steps ahead, so that it sleeps once for all
// of them. Otherwise each of them would wake it, and on a crowded CPU each wake-up costs a turn.
//
// Roles: `mark_rows` when a program is compiled; `missing` while the rank is in one of its steps,
// by that rank's thread only.
//
// Layout: none of its own; it looks at words of the channels.
//
// Protocol: a row begins with the step that the rank is in, and goes on while steps only wait, each
//   for another peer, and nobody can see that they are done. So nobody waits for a rank that sleeps
//   although it could do some of the row. A message whose release gives its sender room is the last
//   of a row.
//
// Order: every access is relaxed; the steps themselves look at their words again.
//
// Progress: wait-free.
//
// Checked by: verify/worlds/engine_world.cpp, tests/unit/team/row_of_waits_test.cpp.
#pragma once

#include "team/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace corymb::team {

/// Whether a step of this kind waits for one event and does nothing that others can see, but for
/// the room that it may give.
constexpr bool only_waits(Opcode code) noexcept {
    switch (code) {
    case Opcode::wait:
    case Opcode::observe:
    case Opcode::meet_wait:
    case Opcode::meet_take:
    case Opcode::receive_line:
    case Opcode::read_line: return true;
    default: return false;
    }
}

/// Says of each step how long the row is that begins with it.
template <class Env>
void mark_rows(std::vector<CompiledStep<Env>>& steps) {
    std::unordered_map<Rank, std::size_t> next; // Step that names the rank, behind the present one.
    std::size_t end = steps.size();             // End of the present step's row.
    for (std::size_t at = steps.size(); at-- > 0;) {
        CompiledStep<Env>& step = steps[at];
        if (!only_waits(step.code)) {
            end = at;
            step.row = 0;
            continue;
        }
        if (const auto again = next.find(step.awaited); again != next.end()) {
            end = std::min(end, again->second);
        }
        next[step.awaited] = at;
        step.row = static_cast<std::uint32_t>(end - at);
    }
}

/// Whether a sender may wait for the room that the step gives when it is done.
template <class Env>
[[nodiscard]] bool gives_room(const CompiledStep<Env>& step) noexcept {
    switch (step.code) {
    case Opcode::receive_line: return step.peer->line_in.gives_credit();
    case Opcode::read_line: return step.end->publication->ring.gives_credit(step.end->messages);
    default: return false;
    }
}

/// For a step that only waits: whether what it waits for has come.
template <class Env>
[[nodiscard]] bool has_come(const CompiledStep<Env>& step) noexcept {
    switch (step.code) {
    case Opcode::wait: return step.peer->signal_in->has_come(step.peer->signals_received);
    case Opcode::observe: return step.end->publication->flag.has_come(step.end->flags);
    case Opcode::receive_line: return step.peer->line_in.has_come();
    case Opcode::read_line: return step.end->publication->ring.has_come(step.end->messages);
    default: return step.peer->exchange.has_come();
    }
}

template <class Env>
std::uint32_t CompiledStep<Env>::missing() const noexcept {
    std::uint32_t missing = 0;
    for (const CompiledStep<Env>* at = this; at != this + row; ++at) {
        missing += has_come(*at) ? 0U : 1U;
        if (gives_room(*at)) {
            break;
        }
    }
    return missing;
}

} // namespace corymb::team
