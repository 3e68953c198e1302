// SPDX-License-Identifier: Apache-2.0
// The numbers of the rules by which teams get their default plans, each beside the value that
// switches its rule off. docs/results/ablation.md has what each is worth.
#pragma once

#include "base/tuned.hpp"

#include <cstddef>
#include <cstdint>

namespace corymb::runtime::tuning {

/// Annealing moves of a plan that a program waits for. They take some milliseconds, on large
/// machines a tenth of a second. Among 3 to 8 ranks of all machines of the gallery so many moves
/// found a plan equal to that of a second's search in 1,399 of 1,400 cases.
CORYMB_TUNED Tuned<std::uint64_t> moves_most{"runtime/search/moves_most", 20'000, 2'000'000,
                                             Origin::simulated};
/// Annealing moves for each pair of ranks, up to `moves_most`. Reasoning: as many trees are worth
/// trying as there are pairs, a few times. Too small: few ranks get poor trees.
CORYMB_TUNED Tuned<std::uint64_t> moves_of_pair{"runtime/search/moves_of_pair", 16, 2'000'000,
                                                Origin::reasoned};
/// Replays under noise of each candidate of a search for the tail. Reasoning: two of them lie above
/// the 99th percentile, and a search still ends soon. Too small: chance decides among plans.
CORYMB_TUNED Tuned<std::uint32_t> replays{"runtime/search/replays", 200, 1000, Origin::reasoned};
/// How many times as long a search takes as a fair plan does. Reasoning: it has as many more
/// candidates, and more to do for some of them. Too small: short programs pay for searches.
CORYMB_TUNED Tuned<double> search_beside_fair{"runtime/search/beside_fair", 20, 0,
                                              Origin::reasoned};

/// A plan through cells for parts of any length is taken if it takes at most so many times as long
/// as the best one. Reasoning: the model charges single calls. In calls that follow each other one
/// end copies while the other works on the call before, so each may take half of the time.
CORYMB_TUNED Tuned<double> overlap_of_any{"runtime/cells/overlap_of_any", 2, 1, Origin::reasoned};
/// As `overlap_of_any`, for parts of equal lengths among processes. Less, because the model is
/// asked about the very payload. Two ranks that share a cache were 1.2 to 1.8 times as fast through
/// cells, 1 and 2 MiB, where the model thinks 0.8.
CORYMB_TUNED Tuned<double> overlap_of_equal{"runtime/cells/overlap_of_equal", 1.3, 1,
                                            Origin::measured};
/// Factor for copies by the kernel between processes that take turns on a CPU: they find neither
/// its caches nor its address translations as they left them. 1.1 to 1.7 among 2 to 4 ranks a CPU,
/// 64 KiB to 1 MiB.
CORYMB_TUNED Tuned<double> cold_kernel_copy{"runtime/cells/cold_kernel_copy", 1.4, 1,
                                            Origin::measured};

// Plans that are timed beside each other, over several nodes.

/// Schemes of a kind within this factor of its best count as equally fast, and the least work
/// decides. Reasoning: no model is more exact.
CORYMB_TUNED Tuned<double> about{"runtime/contenders/about", 1.05, 1, Origin::reasoned};
/// Schemes that take longer by this factor are not timed. Reasoning: models that are wrong by more
/// are of no use. Too small: the best plan may be left out. Too large: time for poor plans.
CORYMB_TUNED Tuned<double> hopeless{"runtime/contenders/hopeless", 2, 1e9, Origin::reasoned};
/// Up to so many ranks every scheme is simulated for that. Reasoning: it takes some tenths of a
/// second then. Too large: programs wait for it.
CORYMB_TUNED Tuned<std::size_t> all_schemes_ranks{"runtime/contenders/all_schemes_ranks", 64, 0,
                                                  Origin::reasoned};
/// Length of parts that stands for unknown lengths, in bytes. Reasoning: messages of small parts
/// are worth putting together, and large parts lose little by that.
CORYMB_TUNED Tuned<std::uint64_t> typical_part_bytes{"runtime/contenders/typical_part_bytes", 2048,
                                                     1, Origin::reasoned};

} // namespace corymb::runtime::tuning
