// SPDX-License-Identifier: Apache-2.0
// The messages of one operation to and from ranks on other nodes, as the engine needs them. Who
// carries them, and how, is not known here.
#pragma once

#include "team/program.hpp"

#include <cstddef>

namespace corymb::team {

class FarMessages {
public:
    FarMessages() = default;
    FarMessages(const FarMessages&) = delete;
    FarMessages& operator=(const FarMessages&) = delete;

    /// Does step number `step` of those that name a rank on another node. False: it waits for a
    /// message that has not come; the next call looks again. May throw, which ends the operation.
    [[nodiscard]] virtual bool perform(std::size_t step, const Operands& operands) = 0;

protected:
    ~FarMessages() = default;
};

} // namespace corymb::team
