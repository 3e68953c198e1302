// SPDX-License-Identifier: Apache-2.0
// A cluster of equal nodes, for tests that need any.
#pragma once

#include <corymb/cluster.hpp>

namespace corymb::test {

/// Nodes of two packages of 8 CPUs, `ranks` of which are used, on one network.
inline Cluster cluster_of(int nodes, int ranks) {
    Cluster cluster;
    cluster.name = "test";
    cluster.kinds = {NodeKind::of_shape({2, 8, 100, 250, 8})};
    cluster.runs = {{0, nodes, ranks}};
    cluster.networks = {{2000, 400, 3, 12}};
    return cluster;
}

} // namespace corymb::test
