// SPDX-License-Identifier: Apache-2.0
// The numbers of the planner's rules, each beside the value that switches its rule off.
// docs/results/ablation.md has what each is worth.
#pragma once

#include "base/tuned.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace corymb::tune {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

// Blocks of a payload on one machine.

/// Most blocks that a payload is cut in. More blocks are more messages.
CORYMB_TUNED Tuned<std::uint32_t> blocks_most{"tune/blocks/most", 64, 512, Origin::simulated};
/// Least bytes of a block. Shorter blocks cost more in messages than they gain by overlap.
CORYMB_TUNED Tuned<std::uint64_t> block_bytes_least{"tune/blocks/bytes_least", 1024, 64,
                                                    Origin::simulated};
/// Number of blocks that a search for the best number begins with: between 2 and `blocks_most`.
CORYMB_TUNED Tuned<std::uint32_t> blocks_first{"tune/blocks/first", 16, 2, Origin::simulated};
/// A family that takes so many times as long as the best is tried in no further number of blocks.
CORYMB_TUNED Tuned<double> slowdown_in_blocks{"tune/blocks/slowdown", 1.5, unlimited,
                                              Origin::simulated};

/// Steps a rank above which a plan that needs no search is not tried, though 4 for each other rank
/// always are. Reasoning: longer plans take long to simulate and are seldom the best; payloads are
/// cut so small only to fit short channels. An exchange of all with all has some steps for each
/// pair.
CORYMB_TUNED Tuned<std::size_t> plain_steps_of_rank{"tune/plain/steps_of_rank", 128, 1U << 30U,
                                                    Origin::reasoned};

// Schemes on several nodes.

/// A scheme whose bound is so many times the best time so far is not simulated, unless every scheme
/// is wanted. With a thousand ranks exchanges of all with all take seconds each to simulate.
CORYMB_TUNED Tuned<double> hopeless{"tune/schemes/hopeless", 1.5, unlimited, Origin::simulated};
/// Schemes within this factor of the best count as equally good, and the least work decides: no
/// model is more exact.
CORYMB_TUNED Tuned<double> nearly{"tune/schemes/nearly", 1.03, 1.0, Origin::simulated};
/// Above so many ranks a plan in which all have a part for all takes long to be made. Among 64
/// nodes of 12 ranks in turns, planning of five operations then takes half the CPU time and finds
/// the same plans (make_plan with this number and without, Xeon, 2026-11-29).
CORYMB_TUNED Tuned<int> parts_all_tried{"tune/schemes/parts_all_tried", 256, 1 << 20,
                                        Origin::simulated};
/// Work of a step beside its message, in ns, where schemes are equally fast. Reasoning: a few
/// hundred instructions. Too small: steps count for nothing, and short payloads go by many of them.
CORYMB_TUNED Tuned<double> step_work_ns{"tune/schemes/step_work_ns", 100, 0, Origin::reasoned};
/// Work of a copied byte, in ns, where schemes are equally fast. Reasoning: the rate of copies that
/// the simulator assumes for a model without bandwidths.
CORYMB_TUNED Tuned<double> copy_work_ns{"tune/schemes/copy_work_ns", 0.1, 0, Origin::reasoned};

// Ranks that take turns on CPUs. All numbers are for a CPU and the ranks that share it, so that
// they hold for any number of CPUs. Those called measured come from chains, stars and exchanges
// among 2 to 16 ranks a CPU, with a barrier behind each operation, among processes of one virtual
// machine (Skylake, 2026-11).

/// Time of a turn, in ns: to yield, to switch to a teammate, and for the teammate to find its word.
/// Reasoning: a switch between threads takes 0.5 to 1 us on processors of today. Too small: plans
/// of many turns. Too large: copies count for little beside turns.
CORYMB_TUNED Tuned<double> turn_ns{"tune/turns/turn_ns", 700, 0, Origin::reasoned};
/// Delay of a message in a chain, in turns for each further rank of the CPU: 4.3 to 5.7 in chains
/// and stars of broadcast, gather and reduce, 2 KiB. Too small: trees, which take twice as long as
/// stars among 4 ranks a CPU. Off, each further rank has its turn once.
CORYMB_TUNED Tuned<double> turns_of_message{"tune/turns/of_message", 5, 1, Origin::measured};
/// Factor for a message that comes through its cells in several turns: other ranks have had the
/// caches in between. 1.2 to 1.7 for 512 KiB and 1 MiB, 1.1 to 1.3 for reductions, which write
/// less.
CORYMB_TUNED Tuned<double> cold_cells{"tune/turns/cold_cells", 1.5, 1, Origin::measured};
/// Ranks a CPU above which `cold_cells` grows: the other end has its turn later. A reduce_scatter
/// of 32 and 64 KiB parts whose messages come in up to 16 turns took 1.5 to 2.5 times as long as
/// one whose messages the channels hold, among 8 to 16 ranks a CPU.
CORYMB_TUNED Tuned<double> cold_ranks_least{"tune/turns/cold_ranks_least", 4, unlimited,
                                            Origin::measured};
/// Further ranks a CPU that double `cold_cells`.
CORYMB_TUNED Tuned<double> cold_ranks_that_double{"tune/turns/cold_ranks_that_double", 12,
                                                  unlimited, Origin::measured};
/// Bytes of channels for each CPU that stay in its caches. Reasoning: its own second-level cache,
/// and as much of the next level. Alltoall and reduce_scatter took no longer up to 1.75 MiB a CPU.
CORYMB_TUNED Tuned<double> cached_bytes{"tune/turns/cached_bytes", 2.5 * 1024 * 1024, unlimited,
                                        Origin::reasoned};
/// Factor for cells that do not stay there: 1.2 to 1.5 from 3 MiB a CPU on.
CORYMB_TUNED Tuned<double> uncached_cells{"tune/turns/uncached_cells", 1.45, 1, Origin::measured};
/// Factor for a copy by the kernel out of a copy that only one rank reads: it is in no cache, while
/// an input that all ranks read stays there. 1.06 for parts of 512 KiB, 1.2 to 1.66 for longer
/// ones.
CORYMB_TUNED Tuned<double> forwarded_pull{"tune/turns/forwarded_pull", 1.2, 1, Origin::measured};

/// Ranks up to which turns are counted over four operations and four orders of ranks, not one.
/// Reasoning: what depends on the order evens out among many ranks, and counting takes long there.
CORYMB_TUNED Tuned<std::size_t> turns_all_counted{"tune/turns/all_counted", 64, 1U << 20U,
                                                  Origin::reasoned};
/// Looks at steps that a count of turns may take. Reasoning: a second of CPU time. If hundreds of
/// ranks all wait for each other, the rest of the run is like its beginning.
CORYMB_TUNED Tuned<std::uint64_t> looks_most{"tune/turns/looks_most", 10'000'000, 1ULL << 40U,
                                             Origin::reasoned};

} // namespace corymb::tune
