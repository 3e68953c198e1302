// SPDX-License-Identifier: Apache-2.0
// The default plans of a team: made by the planner on this machine's model.
#include "team/team_shared.hpp"

#include <corymb/discover.hpp>
#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace corymb::team {

namespace {

/// Annealing moves of a plan that a program waits for: a few milliseconds, within a few per cent of
/// what `corymb plan` finds in a second.
constexpr std::uint64_t moves_at_run_time = 20'000;

/// Plans for any length are those that are best for this one. It is longer than a slot of `cells`,
/// so that no plan relies on room for its messages.
constexpr std::uint64_t typical_part_bytes = std::uint64_t{64} << 10;

/// This machine's model: the measured one where there is one that fits, else its topology.
const Machine& this_machine() {
    static const Machine machine = [] {
        auto cached = load_cached_machine();
        return cached ? std::move(*cached) : discover_topology();
    }();
    return machine;
}

/// `size` processing units that all cost the same: for ranks that have no CPU of their own.
Machine uniform_machine(int size) {
    Machine machine;
    machine.name = "uniform";
    machine.source = "assumed: ranks share CPUs, so every pair costs the same";
    machine.topology.source = "none";
    for (int pu = 0; pu < size; ++pu) {
        machine.topology.pus.push_back(Pu{.cpu = pu});
    }
    machine.group.assign(static_cast<std::size_t>(size), 0);
    machine.group_class = {0};
    PairClass pair;
    pair.name = "any";
    pair.send = {28, 28, 28, 1};
    pair.receive = {100, 100, 100, 1};
    machine.classes.push_back(pair);
    return machine;
}

/// PU index of each rank: of the CPUs given, else the model's first ones; empty when the ranks do
/// not have one PU each.
std::vector<int> placement_of(const Machine& machine, const std::vector<int>& cpus, int size) {
    std::vector<int> placement;
    if (cpus.empty()) {
        if (size <= machine.size()) {
            placement.resize(static_cast<std::size_t>(size));
            std::iota(placement.begin(), placement.end(), 0);
        }
        return placement;
    }
    std::set<int> seen;
    for (const int cpu : cpus) {
        const int pu = machine.index_of_cpu(cpu);
        if (pu < 0 || !seen.insert(pu).second) {
            return {};
        }
        placement.push_back(pu);
    }
    return placement;
}

} // namespace

PlanSource default_plans(const TeamOptions& options, int size, bool pull) {
    auto machine = std::make_shared<const Machine>(this_machine());
    auto placement = placement_of(*machine, options.cpus, size);
    const bool crowded = size > usable_cpus().count() || placement.empty();
    if (placement.empty()) {
        machine = std::make_shared<const Machine>(uniform_machine(size));
    }
    return [machine, placement, crowded, pull](const PlanNeed& need) {
        const bool is_any = need.bytes == any_part_bytes;
        PlanRequest request;
        request.op = need.op;
        request.placement = placement;
        request.root = is_rooted(need.op) ? need.root : -1;
        request.bytes = is_any ? typical_part_bytes : need.bytes;
        request.moves = moves_at_run_time;
        request.ordered = need.ordered;
        request.keeps_parts = need.keeps_parts;
        request.oversubscribed = crowded;
        request.pull = pull;
        Plan plan = make_plan(*machine, request).plan;
        if (is_any) {
            plan.bytes_max = need.bytes; // The team proves it for that, too.
        }
        return plan;
    };
}

} // namespace corymb::team
