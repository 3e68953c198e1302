// SPDX-License-Identifier: Apache-2.0
// Chooses the pairs of nodes that measure their network, and derives classes of nodes that differ
// for certain from their results. Pure functions, so that all ranks come to equal results.
#pragma once

#include <corymb/cluster.hpp>

#include <span>
#include <utility>
#include <vector>

namespace corymb::cluster {

/// Two nodes.
using Meeting = std::pair<int, int>;

/// Meetings at the same time, round by round: each node has at most one in a round. Up to seven
/// nodes meet in all pairs; more nodes in six rounds.
[[nodiscard]] std::vector<std::vector<Meeting>> meetings_of(int nodes);

/// The better of each number: noise only adds to times, and a slow partner too.
[[nodiscard]] Network best_of(const Network& one, const Network& other) noexcept;

/// The class of each node, from the best that it has seen in its meetings; numbered from 0 as they
/// come. Classes are told apart by start-up and stream, where these leave a space that noise would
/// not: a single class is the more likely answer.
[[nodiscard]] std::vector<int> classes_of(std::span<const Network> best);

/// A class, and two nodes to measure its costs with: both of the class where it has two, else the
/// second is of the first class in the list.
struct Probe {
    int number = 0;
    Meeting nodes;
    bool is_mixed = false;
};
/// The probes in the order of measuring: classes of several nodes first, then the faster ones.
[[nodiscard]] std::vector<Probe> probes_of(std::span<const int> class_of_node,
                                           std::span<const Network> best);

/// The measured networks, one for each probe, as costs of nodes. Classes are kept apart only if
/// they differ by one number, and in one direction, both in `best` and in `measured`.
[[nodiscard]] Networks networks_of(std::span<const int> class_of_node,
                                   std::span<const Network> best, std::span<const Probe> probes,
                                   std::span<const Network> measured);

/// Networks with the gap of messages when all nodes send at the same time, if that gap is longer:
/// the median of the values of a class's nodes (0: none).
[[nodiscard]] Networks with_gaps(Networks networks, std::span<const double> gap_of_node);

} // namespace corymb::cluster
