// SPDX-License-Identifier: Apache-2.0
// One operation under way on one rank: which program, whose buffers, and how far it has come.
#pragma once

#include "team/far_messages.hpp"
#include "team/program.hpp"

#include <cstddef>

namespace corymb::team {

/// The state that an engine needs to go on with an operation. `step` and `offset` say where it
/// stands: a channel operation whose await fails changes nothing.
template <class Env>
struct Activation {
    Program<Env>* program = nullptr;
    const Operands* operands = nullptr;
    std::size_t step = 0;   ///< The first step that is not done.
    std::size_t offset = 0; ///< Bytes of that step that have gone through the cells already.
    FarMessages* messages = nullptr; ///< Set if ranks are on several nodes.

    /// The number in the plan of a step that is not done.
    [[nodiscard]] std::size_t step_of_plan() const noexcept {
        return is_done() ? step : program->steps[step].number;
    }
    [[nodiscard]] bool is_done() const noexcept { return step == program->steps.size(); }
};

} // namespace corymb::team
