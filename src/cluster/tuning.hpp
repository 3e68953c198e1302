// SPDX-License-Identifier: Apache-2.0
// The numbers of teams over several nodes, each beside the value that switches its rule off. Times
// are in ns. `make ablation` has one node, so it cannot say what they are worth.
#pragma once

#include "base/tuned.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace corymb::cluster::tuning {

inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max() / 4;

// Rehearsals (docs/explain/nodes.md). A rehearsal may take a part of the time that the calls of its
// operation have taken so far, which is about the time that a better plan saves. All rehearsals
// together may take a part of the team's life. There is some time in any case.

/// Calls of a program before its first rehearsal of an operation, and before its last; each has
/// four times as many as the one before. Reasoning: a program that has made 8 mostly makes many.
CORYMB_TUNED Tuned<std::int64_t> first_calls{"cluster/rehearsals/first_calls", 8, never_ns,
                                             Origin::reasoned};
CORYMB_TUNED Tuned<std::int64_t> last_calls{"cluster/rehearsals/last_calls", 2048, 0,
                                            Origin::reasoned};
/// For more ranks plans take long to make.
CORYMB_TUNED Tuned<int> ranks_most{"cluster/rehearsals/ranks_most", 256, 0, Origin::reasoned};
/// Bytes of the buffers of one rank. Reasoning: a program notices if much more is taken.
CORYMB_TUNED Tuned<std::size_t> bytes_most{"cluster/rehearsals/bytes_most", std::size_t{16} << 20U,
                                           0, Origin::reasoned};
/// A rehearsal takes one part of so many of the calls' time. Reasoning: better plans save more.
CORYMB_TUNED Tuned<std::int64_t> one_part_of_calls{"cluster/rehearsals/one_part_of_calls", 10,
                                                   never_ns, Origin::reasoned};
/// All rehearsals take one part of so many of the team's life. Reasoning: 5 % is hardly noticed.
CORYMB_TUNED Tuned<std::int64_t> one_part_of_life{"cluster/rehearsals/one_part_of_life", 20,
                                                  never_ns, Origin::reasoned};
/// All rehearsals of a team in any case. Reasoning: a program over several nodes takes minutes.
CORYMB_TUNED Tuned<std::int64_t> least_ns{"cluster/rehearsals/least_ns", 2'000'000'000, 0,
                                          Origin::reasoned};
/// One rehearsal in any case: some calls over a slow network. If it is the only one, more.
CORYMB_TUNED Tuned<std::int64_t> one_least_ns{"cluster/rehearsals/one_least_ns", 15'000'000, 0,
                                              Origin::reasoned};
CORYMB_TUNED Tuned<std::int64_t> only_one_least_ns{"cluster/rehearsals/only_one_least_ns",
                                                   400'000'000, 0, Origin::reasoned};
/// Operations that show how long one takes: in the first ones ranks wait for memory.
CORYMB_TUNED Tuned<int> tries{"cluster/rehearsals/tries", 4, 1, Origin::reasoned};
/// The present plan stays unless another one takes less than this of its time. Reasoning: medians
/// of some calls differ by some per cent without a cause.
CORYMB_TUNED Tuned<double> clearly_less{"cluster/rehearsals/clearly_less", 0.95, 1,
                                        Origin::reasoned};

// Classes of networks. Two numbers count as equal if the larger, with the blur added to both, is at
// most the factor times the smaller.

/// Reasoning: networks differ by ten times or not at all in their start-ups, while ranks that share
/// processors see theirs vary.
CORYMB_TUNED Tuned<double> start_up_factor{"cluster/networks/start_up_factor", 3, 1,
                                           Origin::reasoned};
/// Reasoning: start-ups vary by some us where a rank waits for its processor.
CORYMB_TUNED Tuned<double> start_up_blur_ns{"cluster/networks/start_up_blur_ns", 5'000, 0,
                                            Origin::reasoned};
/// Reasoning: links of two generations differ by two times, repeated measurements by some per cent.
CORYMB_TUNED Tuned<double> stream_factor{"cluster/networks/stream_factor", 1.5, 1,
                                         Origin::reasoned};
/// Most classes of nodes; more are noise. Most rounds in which nodes meet to find them.
CORYMB_TUNED Tuned<std::size_t> classes_most{"cluster/networks/classes_most", 4, 1,
                                             Origin::reasoned};
CORYMB_TUNED Tuned<int> rounds_most{"cluster/networks/rounds_most", 6, 1, Origin::reasoned};

// Waits for other nodes.

/// Looks without a pause, where every rank of the node has a CPU. Reasoning: as long as a message
/// takes on a fast network.
CORYMB_TUNED Tuned<int> looks_at_once{"cluster/waits/looks_at_once", 200, 1, Origin::reasoned};
/// Time of yielding after these looks. A rank that has its CPU to itself goes on for as long as a
/// large message takes, whose parts would wait for a sleeper.
CORYMB_TUNED Tuned<std::int64_t> yield_ns_crowded{"cluster/waits/yield_ns_crowded", 1'000'000, 0,
                                                  Origin::reasoned};
CORYMB_TUNED Tuned<std::int64_t> yield_ns_alone{"cluster/waits/yield_ns_alone", 100'000'000, 0,
                                                Origin::reasoned};
/// A yield that takes so long has given the CPU to a thread that computes. Further yields would
/// cost as much each; a sleeper is preferred when it wakes. Reasoning: slices are 0.7 ms and more.
CORYMB_TUNED Tuned<std::int64_t> slice_ns{"cluster/waits/slice_ns", 500'000, never_ns,
                                          Origin::reasoned};
/// A sleep between two looks. Reasoning: about what a message of a slow network takes.
CORYMB_TUNED Tuned<std::int64_t> nap_ns{"cluster/waits/nap_ns", 20'000, 1, Origin::reasoned};

} // namespace corymb::cluster::tuning
