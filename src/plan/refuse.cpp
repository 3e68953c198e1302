// SPDX-License-Identifier: Apache-2.0
#include "plan/refuse.hpp"

#include "plan/step_kind.hpp"

#include <corymb/error.hpp>

namespace corymb::plan {

std::string described(const Step& step) {
    std::string text(to_string(step.kind));
    if (has_peer(step.kind)) {
        text += is_sending(step.kind) || is_putting(step.kind) ? " to "
                : step.kind == StepKind::wait                  ? " for "
                                                               : " from ";
        text += std::to_string(step.peer);
    }
    if (step.via != Mechanism::none) {
        text += " via ";
        text += to_string(step.via);
    }
    return text;
}

void refuse(const Plan& plan, Rank rank, std::size_t index, const std::string& what) {
    const Step& step = plan.steps[static_cast<std::size_t>(rank)][index];
    throw Error(Errc::invalid_plan,
                "rank " + std::to_string(rank) + ", step " + std::to_string(index) + " (" +
                    described(step) + "): " + what,
                {rank});
}

void refuse(Rank rank, const std::string& what) {
    throw Error(Errc::invalid_plan, "rank " + std::to_string(rank) + ": " + what, {rank});
}

} // namespace corymb::plan
