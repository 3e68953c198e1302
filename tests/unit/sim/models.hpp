// SPDX-License-Identifier: Apache-2.0
// Small machine models with costs that tests can compute with.
#pragma once

#include "base/random.hpp"

#include <corymb/machine.hpp>

#include <numeric>
#include <vector>

namespace corymb::test {

/// Every pair of PUs costs the same.
inline Machine uniform_machine(int size, double send, double receive) {
    Machine machine;
    machine.name = "uniform";
    for (int pu = 0; pu < size; ++pu) {
        machine.topology.pus.push_back({.cpu = pu, .core = pu});
    }
    machine.group.assign(static_cast<std::size_t>(size), 0);
    machine.group_class = {0};
    PairClass pair;
    pair.name = "any";
    pair.send = {send, send, send, 1};
    pair.receive = {receive, receive, receive, 1};
    machine.classes = {pair};
    return machine;
}

/// Every ordered pair has its own costs.
inline Machine random_machine(int size, Random& random) {
    Machine machine = uniform_machine(size, 50, 150);
    machine.name = "random";
    for (int entry = 0; entry < size * size; ++entry) {
        const bool is_diagonal = entry % (size + 1) == 0;
        machine.send.push_back(is_diagonal ? 0 : static_cast<float>(1 + random.below(100)));
        machine.receive.push_back(is_diagonal ? 0 : static_cast<float>(1 + random.below(300)));
    }
    return machine;
}

inline std::vector<int> in_order(int size) {
    std::vector<int> placement(static_cast<std::size_t>(size));
    std::iota(placement.begin(), placement.end(), 0);
    return placement;
}

} // namespace corymb::test
