// SPDX-License-Identifier: Apache-2.0
// The numbers by which graphs are built, coarsened, divided and refined, each beside the value that
// switches its rule off.
#pragma once

#include "base/tuned.hpp"

#include <cstdint>

namespace corymb::partition::tuning {

/// Rounds in which rows are exchanged while a graph is built. Reasoning: messages of a round need
/// memory for three copies of its arcs, which are larger than those of the graph, so sixteen rounds
/// need less than half of the graph. Too small: much memory. Too large: small messages.
CORYMB_TUNED Tuned<int> build_rounds{"partition/build_rounds", 16, 1, Origin::reasoned};
/// Bytes of a file that a rank reads at once. Reasoning: a system call costs little beside reading
/// so much. Too small: many calls. Too large: memory.
CORYMB_TUNED Tuned<std::uint32_t> read_bytes{"partition/read_bytes", 1u << 18, 1u << 12,
                                             Origin::reasoned};
/// Edges of a list after which the length of its lines foretells how many there are. Reasoning: the
/// mean of so many is right to a few percent. Too small: memory is moved. Too large: it grows often
/// before.
CORYMB_TUNED Tuned<std::uint32_t> edges_of_a_sample{"partition/edges_of_a_sample", 4096, 1u << 31,
                                                    Origin::reasoned};

/// Rounds in which vertices choose clusters. Measured by the cuts of the graphs of bench/partition
/// with 1 to 4 ranks, on a virtual machine of two CPUs, on 2026-11-30. Too small: clusters follow
/// chance, above all those between ranks. Too large: time.
CORYMB_TUNED Tuned<int> cluster_rounds{"partition/cluster_rounds", 6, 1, Origin::measured};
/// Exchanges in one of these rounds, measured likewise. With one, vertices of several ranks choose
/// by what was. Too small: joins between ranks fail. Too large: many small messages.
CORYMB_TUNED Tuned<int> steps_of_a_round{"partition/steps_of_a_round", 8, 1, Origin::measured};
/// Weight of a cluster over the average of the vertices that it is made of. Reasoning: each level
/// is refined, and levels that are much coarser leave more to refine. Too small: many levels. Too
/// large: bad cuts.
CORYMB_TUNED Tuned<int> vertices_of_a_cluster{"partition/vertices_of_a_cluster", 6, 1 << 30,
                                              Origin::reasoned};
/// Share of the edges that a coarser graph may keep, unless its vertices have fewer neighbours each
/// than the second number, which was measured as cluster_rounds. Reasoning of the first: then all
/// coarser graphs together take less memory than the finest one, also where each cluster has edges
/// to each; meshes and most networks stay as they are. Too small: bad cuts. Too large: memory and
/// time.
CORYMB_TUNED Tuned<double> edges_kept{"partition/edges_kept", 0.35, 1.0, Origin::reasoned};
CORYMB_TUNED Tuned<int> neighbours_kept{"partition/neighbours_kept", 100, 1 << 30,
                                        Origin::measured};
/// Vertices of the coarsest graph: so many for each part, and at least so many. Reasoning: parts of
/// fewer vertices cannot be balanced. Too small: bad cuts. Too large: each rank divides this graph
/// as a whole.
CORYMB_TUNED Tuned<std::uint32_t> vertices_of_a_part{"partition/vertices_of_a_part", 60, 1,
                                                     Origin::reasoned};
CORYMB_TUNED Tuned<std::uint32_t> coarsest_least{"partition/coarsest_least", 2'000, 1,
                                                 Origin::reasoned};
/// A level that keeps more than this share of the vertices is the last one. Too small: the coarsest
/// graph is large. Too large: levels that are hardly coarser.
CORYMB_TUNED Tuned<double> shrinks_least{"partition/shrinks_least", 0.95, 1.0, Origin::reasoned};

/// Graphs of at most so many vertices are divided without coarsening them first. Reasoning: then
/// growing sides finds good ones in some attempts. Too large: it does not.
CORYMB_TUNED Tuned<std::uint32_t> smallest_matched{"partition/smallest_matched", 100, 1u << 31,
                                                   Origin::reasoned};
/// Attempts to divide that graph, and passes that refine two sides. More cost time.
CORYMB_TUNED Tuned<int> seeds_of_a_bisection{"partition/seeds_of_a_bisection", 8, 1,
                                             Origin::reasoned};
CORYMB_TUNED Tuned<int> passes_of_a_bisection{"partition/passes_of_a_bisection", 8, 1,
                                              Origin::reasoned};
/// Attempts of all ranks together to divide the coarsest graph. More cost time.
CORYMB_TUNED Tuned<int> trials_of_coarsest{"partition/trials_of_coarsest", 8, 1, Origin::reasoned};

/// Moves without a gain after which a search ends. Too small: it stays in the first hollow. Too
/// large: time.
CORYMB_TUNED Tuned<int> fruitless_moves{"partition/fruitless_moves", 40, 1, Origin::reasoned};
/// Rounds of refinement on a level, and the share of the cut that a round has to win to be followed
/// by another. More rounds cost time.
CORYMB_TUNED Tuned<int> refinement_rounds{"partition/refinement_rounds", 6, 0, Origin::reasoned};
CORYMB_TUNED Tuned<double> worthwhile_gain{"partition/worthwhile_gain", 0.001, 1.0,
                                           Origin::reasoned};
/// Exchanges in each half of such a round. Reasoning: moves in one step do not know those of other
/// ranks. Too small: rounds make the cut larger and are taken back. Too large: many messages.
CORYMB_TUNED Tuned<int> steps_of_a_refinement{"partition/steps_of_a_refinement", 8, 1,
                                              Origin::reasoned};
/// Vertices with more neighbours are not looked at again when one of these moves. Reasoning: a move
/// changes little for them. Too small: gains are out of date. Too large: searches around hubs of
/// power-law graphs take the time of all.
CORYMB_TUNED Tuned<std::uint32_t> degree_of_a_hub{"partition/degree_of_a_hub", 256, 1u << 31,
                                                  Origin::reasoned};

} // namespace corymb::partition::tuning
