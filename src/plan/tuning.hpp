// SPDX-License-Identifier: Apache-2.0
// The numbers of the rules by which plans are generated and trees searched, each beside the value
// that switches its rule off. docs/results/ablation.md has what each is worth.
#pragma once

#include "base/tuned.hpp"

#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>

namespace corymb::tuning {

// Families.

/// Least bytes of a rank's slice of a payload (`direct`, `direct-push`, `composed-direct`): a few
/// lines. The number of shorter slices costs more than their copying.
CORYMB_TUNED Tuned<std::uint64_t> slice_bytes_least{"plan/families/slice_bytes_least", 512, 1,
                                                    Origin::simulated};
/// Above so many ranks there is no family of n^2 messages, or of n^2 loans that are each followed
/// to their end: planning and proof take longer than the plan is worth.
CORYMB_TUNED Tuned<Rank> square_ranks_most{"plan/families/square_ranks_most", 256, 64,
                                           Origin::simulated};
/// Longer parts are not sent on in log2 n rounds (`bruck`): they are copied once in each.
CORYMB_TUNED Tuned<std::uint64_t> bruck_bytes_most{"plan/families/bruck_bytes_most", 2048,
                                                   1U << 20U, Origin::simulated};
/// A parent in a gather sorts runs of parts that are shorter than this, rather than taking a
/// message for each run: copying within a rank costs less than a message.
CORYMB_TUNED Tuned<std::uint64_t> sorted_run_bytes_most{"plan/families/sorted_run_bytes_most", 2048,
                                                        0, Origin::simulated};

/// Larger groups of processes do without copies of short messages by pull. Reasoning: channels of
/// cells take memory for each two ranks, at least 15 MiB among so many. Off, no group has them.
CORYMB_TUNED Tuned<std::size_t> copying_ranks_most{"plan/families/copying_ranks_most", 16, 0,
                                                   Origin::reasoned};

// Roots that are alike.

/// Among more ranks each root has a plan of its own. Reasoning: comparing more takes n^2 and longer
/// than many searches.
CORYMB_TUNED Tuned<std::size_t> alike_ranks_most{"plan/roots/alike_ranks_most", 256, 0,
                                                 Origin::reasoned};

// The annealed search. Kinds of its moves have shares of 2^16.

/// Share of reattachments; the other moves exchange two ranks.
CORYMB_TUNED Tuned<std::uint32_t> share_reattach{"plan/search/share_reattach", 36'000, 1U << 16U,
                                                 Origin::simulated};
/// Share of reattachments to a near parent; the others are to any.
CORYMB_TUNED Tuned<std::uint32_t> share_near_parent{"plan/search/share_near_parent", 49'000, 0,
                                                    Origin::simulated};
/// Share of exchanges with a near rank; the others are with any.
CORYMB_TUNED Tuned<std::uint32_t> share_near_child{"plan/search/share_near_child", 32'768, 0,
                                                   Origin::simulated};
/// Share of exchanges of whole subtrees; the others exchange two ranks alone.
CORYMB_TUNED Tuned<std::uint32_t> share_whole_subtree{"plan/search/share_whole_subtree", 32'768, 0,
                                                      Origin::simulated};
/// Ranks that count as near, or rows of costs where a row stands for many ranks.
CORYMB_TUNED Tuned<std::size_t> near_ranks{"plan/search/near_ranks", 16, 64, Origin::simulated};
/// Half of the moves go into so many short runs with different seeds. On rugged costs the end of
/// one long run varies by several per cent.
CORYMB_TUNED Tuned<std::uint64_t> short_runs{"plan/search/short_runs", 4, 1, Origin::simulated};
/// Above so many ranks look-ahead costs more time than annealing needs to make up for it.
CORYMB_TUNED Tuned<Rank> look_ahead_ranks_most{"plan/search/look_ahead_ranks_most", 256, 0,
                                               Origin::simulated};
/// First temperature of a short run, as a fraction of the plan's time: 2 % worse is tried at first.
CORYMB_TUNED Tuned<double> heat{"plan/search/heat", 0.02, 0.0005, Origin::simulated};
/// First temperature of the long run, which goes on from the best tree of the short ones.
CORYMB_TUNED Tuned<double> long_run_heat{"plan/search/long_run_heat", 0.005, 0.02,
                                         Origin::simulated};
/// Last temperature of each run. What costs less than that is below the accuracy of a model.
CORYMB_TUNED Tuned<double> heat_end{"plan/search/heat_end", 0.0005, 0.005, Origin::simulated};

// Schemes on several nodes.

/// Least bytes of a piece or a leader's slice. Smaller ones are not worth their messages.
CORYMB_TUNED Tuned<std::uint64_t> piece_bytes_least{"plan/schemes/piece_bytes_least", 1024, 64,
                                                    Origin::simulated};

} // namespace corymb::tuning
