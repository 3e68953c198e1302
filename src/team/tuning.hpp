// SPDX-License-Identifier: Apache-2.0
// The numbers of the rules of teams, each beside the value that switches its rule off.
// docs/results/ablation.md has what each is worth.
#pragma once

#include "base/tuned.hpp"

#include <cstddef>
#include <cstdint>

namespace corymb::team::tuning {

/// Most bytes of an operation for whose root ranks that share CPUs plan the barrier behind it: the
/// root leaves first. Reasoning: a turn is long beside short copies alone. 64 KiB took up to 7 %
/// longer with the rule, among 2 and 4 ranks a CPU.
CORYMB_TUNED Tuned<std::uint64_t> root_first_bytes_most{"team/barrier/root_first_bytes_most",
                                                        32 << 10, 0, Origin::measured};
/// Steps that one look at requests does at most. Reasoning: some us of steps, so that a test
/// returns soon. Too small: requests advance slowly.
CORYMB_TUNED Tuned<std::size_t> steps_of_a_look{"team/requests/steps_of_a_look", 256, 1U << 30U,
                                                Origin::reasoned};
/// Each test looks at all queues if no more than so many are not empty. Reasoning: a round of tests
/// of as many requests takes the square of their number.
CORYMB_TUNED Tuned<std::size_t> few_queues{"team/requests/few_queues", 16, 1U << 30U,
                                           Origin::reasoned};

} // namespace corymb::team::tuning
