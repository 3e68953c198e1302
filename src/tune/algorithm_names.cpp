// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"

#include <corymb/planner.hpp>

#include <numeric>

namespace corymb {

namespace {

/// Two packages of `per_package` PUs, for asking families whether they have a plan at all.
Machine probe_machine(int per_package) {
    Machine machine;
    for (int pu = 0; pu < 2 * per_package; ++pu) {
        const int package = pu / per_package;
        machine.topology.pus.push_back({.cpu = pu,
                                        .core = pu,
                                        .l2 = pu,
                                        .l3 = package,
                                        .die = package,
                                        .package = package,
                                        .numa = package,
                                        .kind = 0});
        machine.group.push_back(package);
    }
    for (const double cost : {10.0, 30.0}) {
        PairClass pair;
        pair.name = cost < 20 ? "same-package" : "cross-package";
        pair.send = {cost, cost, cost, 1};
        pair.receive = {3 * cost, 3 * cost, 3 * cost, 1};
        machine.classes.push_back(pair);
    }
    machine.group_class = {0, 1, 1, 0};
    return machine;
}

/// Whether the family applies to this operation for any of a few typical requests.
bool applies_at_all(const Family& family, Collective op, const Machine& machine) {
    std::vector<int> placement(static_cast<std::size_t>(machine.size()));
    std::iota(placement.begin(), placement.end(), 0);
    const CostView costs(machine, placement);
    for (const Mechanism via : {Mechanism::line, Mechanism::cells, Mechanism::pull}) {
        for (const std::uint32_t blocks : {1u, 4u}) {
            const bool is_line = via == Mechanism::line;
            const GenerateInput input{.costs = costs,
                                      .machine = &machine,
                                      .placement = placement,
                                      .root = -1,
                                      .bytes = is_line ? 8u : 65536u,
                                      .ordered = false,
                                      .seed = 1,
                                      .moves = 1,
                                      .via = via,
                                      .blocks = is_line ? 1u : blocks};
            if (family.applies(op, input)) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

std::vector<std::string> algorithm_names(Collective op) {
    std::vector<std::string> names;
    const Machine small = probe_machine(2);
    const Machine large = probe_machine(16);
    for (const Family& family : families()) {
        if (applies_at_all(family, op, small) || applies_at_all(family, op, large)) {
            names.emplace_back(family.name);
        }
    }
    return names;
}

} // namespace corymb
