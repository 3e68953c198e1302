// SPDX-License-Identifier: Apache-2.0
#include "plan/places.hpp"
#include "plan/step_kind.hpp"

#include <corymb/simulate.hpp>

#include <algorithm>

namespace corymb {

namespace {

constexpr std::uint64_t line_bytes = 64;

std::uint64_t lines_of(std::uint64_t bytes) {
    return (bytes + line_bytes - 1) / line_bytes;
}

/// Lines that reach the rank of a step that takes `bytes` from a peer.
std::uint64_t lines_taken(const Step& step, std::uint64_t bytes) {
    switch (step.via) {
    case Mechanism::cells:
        // Every cell brings a line with its sequence number.
        return lines_of(bytes) + std::max<std::uint64_t>(1, (bytes + cell_bytes - 1) / cell_bytes);
    case Mechanism::pull:
        return 1 + lines_of(bytes); // The descriptor comes first.
    // A line is fetched to be written, and so is the other operand of a combination.
    case Mechanism::push: return 1 + (plan::is_folding(step.kind) ? 2 : 1) * lines_of(bytes);
    default: return 1;
    }
}

bool copies(const Step& step) {
    const bool moves = step.kind == StepKind::copy || step.via == Mechanism::pull ||
                       step.via == Mechanism::cells || step.via == Mechanism::network ||
                       step.via == Mechanism::push;
    // Sending by pull, or offering, only tells where the data is.
    const bool lends = (step.via == Mechanism::pull || step.via == Mechanism::push) &&
                       !plan::has_source(step.kind);
    return moves && !lends;
}

} // namespace

Traffic traffic(const Plan& plan, std::uint64_t bytes) {
    Traffic result;
    for (const std::vector<Step>& steps : plan.steps) {
        std::uint64_t lines = 0;
        std::uint64_t copied = 0;
        for (const Step& step : steps) {
            const Blocks& moved = plan::uses_to(step.kind) ? step.to : step.from;
            const std::uint64_t length = plan::bytes_of(plan, moved, bytes);
            lines += plan::has_source(step.kind) ? lines_taken(step, length) : 0;
            copied += copies(step) ? length : 0;
        }
        result.lines.push_back(lines);
        result.copied.push_back(copied);
    }
    return result;
}

} // namespace corymb
