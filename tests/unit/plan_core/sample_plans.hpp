// SPDX-License-Identifier: Apache-2.0
// Right plans of many shapes, from small to random, for the tests of checker and simulator.
#pragma once

#include "base/random.hpp"

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb::test {

Step make_step(StepKind kind, Rank peer, Mechanism via = Mechanism::none, Blocks from = {},
               Blocks to = {});
Plan empty_plan(Collective op, Rank size, std::uint32_t blocks = 1, std::uint64_t bytes = 8);

/// 0 -> 1 -> ... -> size - 1, via line.
Plan line_broadcast(Rank size);
/// The root sends to 1, 2, ... in this order, via line.
Plan star_broadcast(Rank size);
/// Hensgen, Finkel, Manber (1988): in round k rank r signals r + 2^k.
Plan dissemination_barrier(Rank size);
/// Everybody signals the root; the root releases all with one store.
Plan flat_barrier(Rank size);
/// The root publishes its blocks, one publication a block, by line or pull.
Plan published_broadcast(Rank size, Mechanism via, std::uint32_t blocks);
/// Everybody publishes its input by line and combines all others'; keeps rank order.
Plan published_allreduce(Rank size);
/// Rank r exchanges with r xor 2^k; `size` is a power of two. Keeps rank order. With cells.
Plan doubling_allreduce(Rank size, std::uint32_t blocks, std::uint64_t bytes);

/// A plan over random trees: random operation, size, mechanism, blocks; sets `ordered` when the
/// plan keeps rank order.
Plan random_tree_plan(Random& random, bool& ordered);
/// One of all of the above.
Plan random_plan(Random& random, bool& ordered);

} // namespace corymb::test
