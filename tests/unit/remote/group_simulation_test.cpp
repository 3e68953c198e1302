// SPDX-License-Identifier: Apache-2.0
// A step of a group as a plan, timed on models: its time grows with the logarithm of the ranks, and
// the work of a rank does not grow.
#include <corymb/cluster.hpp>
#include <corymb/detail/group_list.hpp>
#include <corymb/machine.hpp>
#include <corymb/plan.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace corymb {
namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// What a rank and those behind it do, as the parts of the list say.
void add_steps(Plan& plan, const detail::GroupPart& part, Rank own, Rank from,
               const std::vector<int>& nodes) {
    std::vector<Step>& steps = plan.steps[at(own)];
    if (from >= 0) {
        steps.push_back({.kind = StepKind::wait, .peer = from});
    }
    for (const auto& branch : part.branches) {
        steps.push_back({.kind = StepKind::signal, .peer = branch.rank});
        add_steps(plan, detail::GroupPart(part.list, branch.rank, branch.members, nodes),
                  branch.rank, own, nodes);
    }
    for (std::size_t i = part.branches.size(); i-- > 0;) {
        steps.push_back({.kind = StepKind::wait, .peer = part.branches[i].rank});
    }
    if (from >= 0) {
        steps.push_back({.kind = StepKind::signal, .peer = from});
    }
}

/// `nodes`: of each rank, in blocks.
Plan group_step(Rank ranks, const std::vector<int>& nodes = {}) {
    std::vector<detail::GroupMember> members(at(ranks));
    for (std::uint32_t i = 0; i < members.size(); ++i) {
        members[i].on = static_cast<Rank>(i);
    }
    Plan plan;
    plan.algorithm = "group step";
    plan.steps.resize(at(ranks));
    add_steps(plan, detail::GroupPart({}, 0, members, nodes), 0, -1, nodes);
    return plan;
}

struct Cost {
    double time = 0;
    double work = 0; ///< Busy time of a rank, on average.
};
Cost cost_of(const Timeline& timeline) {
    double work = 0;
    for (const auto& rank : timeline.ranks) {
        for (const Activity& each : rank) {
            work += each.end - each.begin;
        }
    }
    return {timeline.makespan, work / static_cast<double>(timeline.ranks.size())};
}
Cost cost_on(const Machine& machine, Rank ranks) {
    std::vector<int> placement(at(ranks));
    std::iota(placement.begin(), placement.end(), 0);
    return cost_of(simulate(group_step(ranks), machine, placement, 8, true));
}
Cost cost_on_nodes(const std::string& machine, int nodes, int ranks_of_a_node) {
    Cluster cluster;
    cluster.kinds = {NodeKind::of_gallery(machine)};
    cluster.runs = {{.count = nodes, .ranks = ranks_of_a_node}};
    cluster.networks = {{2000, 400, 3, 12}};
    const Rank ranks = nodes * ranks_of_a_node;
    std::vector<int> node_of_rank(at(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) {
        node_of_rank[at(rank)] = rank / ranks_of_a_node;
    }
    return cost_of(simulate(group_step(ranks, node_of_rank), cluster, 8, true));
}
class GroupSimulation : public testing::Test {
protected:
    // Nobody's environment shall decide which machines the tests see.
    GroupSimulation() { ::setenv("CORYMB_DATA_DIR", CORYMB_SOURCE_DIR, 1); }
    ~GroupSimulation() override { ::unsetenv("CORYMB_DATA_DIR"); }
};
int levels(Rank ranks) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

TEST_F(GroupSimulation, TimeGrowsWithTheLogarithmOnMachines) {
    const struct {
        const char* name;
        Rank ranks;
    } machines[] = {{"opteron-8die-48c-mctop", 48}, {"graviton3-1s-64c", 64}};
    for (const auto& [name, most] : machines) {
        const Machine machine = gallery_machine(name);
        double message = 0; // The dearest one.
        for (Rank from = 0; from < most; ++from) {
            for (Rank to = 0; to < most; ++to) {
                if (from != to) {
                    message = std::max(message, machine.send_cost(from, to) +
                                                    machine.receive_cost(from, to));
                }
            }
        }
        for (Rank ranks = 2; ranks <= most; ++ranks) {
            const Cost cost = cost_on(machine, ranks);
            EXPECT_LE(cost.time, 2 * levels(ranks) * message) << name << ranks;
            EXPECT_LE(cost.work, 2 * message) << name << ranks;
        }
    }
}

TEST_F(GroupSimulation, TimeGrowsWithTheLogarithmOverNodes) {
    const Cost one = cost_on_nodes("graviton3-1s-64c", 1, 64);
    const Cost two = cost_on_nodes("graviton3-1s-64c", 2, 64);
    for (int doublings = 2; doublings <= 6; ++doublings) { // Up to 4,096 ranks.
        const Cost more = cost_on_nodes("graviton3-1s-64c", 1 << doublings, 64);
        EXPECT_LE(more.time - one.time, 1.0001 * doublings * (two.time - one.time)) << doublings;
        EXPECT_LE(more.work, 1.01 * one.work) << doublings;
    }
}

} // namespace
} // namespace corymb
