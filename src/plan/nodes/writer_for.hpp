// SPDX-License-Identifier: Apache-2.0
// The writer of a scheme's plan.
#pragma once

#include "plan/generate/plan_writer.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb::nodes {

/// Writes an empty plan for parts of `bytes` in `blocks` blocks. Keeps a reference to the layout.
[[nodiscard]] inline PlanWriter writer_for(Collective op, const Layout& layout,
                                           const Scheme& scheme, std::uint64_t bytes,
                                           std::uint32_t blocks, Rank root = 0) {
    const Mechanism via = scheme.inside == Inside::shared ? Mechanism::pull : Mechanism::cells;
    PlanWriter writer(op, layout.size(), root, {via, blocks, bytes}, name_of(scheme),
                      layout.node_of_rank);
    writer.let_readers_begin_apart(layout.readers_begin_apart);
    return writer;
}

} // namespace corymb::nodes
