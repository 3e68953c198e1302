// SPDX-License-Identifier: Apache-2.0
#include "tune/request.hpp"

#include "plan/channel_room.hpp"
#include "plan/generate/families.hpp"
#include "plan/limits.hpp"

#include <corymb/error.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace corymb::tune {

namespace {

/// Longer than a slot of `cells`, so that no plan relies on room for its messages.
constexpr std::uint64_t typical_part_bytes = std::uint64_t{64} << 10;
static_assert(typical_part_bytes > cell_bytes);

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, what);
}

void check_root(Rank root, Rank ranks) {
    if (root < -1 || root >= ranks) {
        refuse("root " + std::to_string(root) + " is not one of the ranks 0 to " +
               std::to_string(ranks - 1));
    }
}

void check_payload(std::uint64_t bytes, std::uint64_t most) {
    if (bytes > most) {
        refuse("a payload of " + std::to_string(bytes) + " bytes is too large");
    }
}

void check_placement(const Machine& machine, const PlanRequest& request) {
    const auto& placement = request.placement;
    if (placement.size() > static_cast<std::size_t>(machine.size()) && !request.oversubscribed) {
        refuse(std::to_string(placement.size()) + " ranks do not fit the " +
               std::to_string(machine.size()) + " PUs of machine \"" + machine.name +
               "\"; ask for fewer ranks");
    }
    if (placement.size() > plan::rank_count_max) {
        refuse("more than " + std::to_string(plan::rank_count_max) + " ranks");
    }
    std::vector<int> taken_by(static_cast<std::size_t>(machine.size()), -1);
    for (std::size_t rank = 0; rank < placement.size(); ++rank) {
        const int pu = placement[rank];
        if (pu < 0 || pu >= machine.size()) {
            refuse("rank " + std::to_string(rank) + " is placed on PU " + std::to_string(pu) +
                   ", but machine \"" + machine.name + "\" has PUs 0 to " +
                   std::to_string(machine.size() - 1));
        }
        int& other = taken_by[static_cast<std::size_t>(pu)];
        if (other >= 0 && !request.oversubscribed) {
            refuse("ranks " + std::to_string(other) + " and " + std::to_string(rank) +
                   " are both placed on PU " + std::to_string(pu));
        }
        other = static_cast<int>(rank);
    }
}

void check_objective(const PlanRequest& request) {
    if (request.objective == Objective::p99 && !request.noise.present()) {
        refuse("the objective p99 needs the machine's noise; record it with corymb doctor --noise "
               "and give the file, or say a period or a distribution");
    }
    request.noise.check();
    if (request.noise.present() && request.oversubscribed) {
        refuse("noise beside ranks that take turns on CPUs, which the simulator cannot interrupt; "
               "ask without it");
    }
    constexpr std::uint32_t least = 100;
    constexpr std::uint32_t most = 1'000'000;
    if (request.replays < least || request.replays > most) {
        refuse(std::to_string(request.replays) + " replays; a 99th percentile takes from " +
               std::to_string(least) + " to " + std::to_string(most));
    }
}

} // namespace

PlanRequest completed(const Machine& machine, const PlanRequest& request) {
    if (machine.size() == 0) {
        refuse("machine \"" + machine.name + "\" has no PU");
    }
    PlanRequest full = request;
    full.proven = true;
    if (full.placement.empty()) {
        const int size = full.size > 0 ? full.size : machine.size();
        if (size > machine.size()) {
            refuse(std::to_string(size) + " ranks do not fit the " +
                   std::to_string(machine.size()) + " PUs of machine \"" + machine.name +
                   "\"; ask for fewer ranks, or say in `placement` which of them share a PU");
        }
        full.placement.resize(static_cast<std::size_t>(size));
        std::iota(full.placement.begin(), full.placement.end(), 0);
    }
    check_placement(machine, full);
    if (full.oversubscribed && full.cpus < 1) {
        refuse(std::to_string(full.cpus) + " CPUs for ranks that take turns; give at least one");
    }
    const auto ranks = static_cast<Rank>(full.placement.size());
    if (full.size > 0 && full.size != ranks) {
        refuse("a placement of " + std::to_string(ranks) + " ranks for " +
               std::to_string(full.size));
    }
    full.size = ranks;
    check_objective(full);
    check_root(full.root, ranks);
    check_payload(full.bytes, any_part_bytes);
    if (full.op == Collective::barrier) {
        full.bytes = 0;
    }
    full.example_bytes = full.bytes != any_part_bytes ? full.bytes
                         : full.example_bytes != 0    ? full.example_bytes
                                                      : typical_part_bytes;
    if (full.cell_slots == 0) {
        full.cell_slots = static_cast<std::uint32_t>(plan::cell_ring_slots(ranks));
    }
    if (full.cell_slots < cell_slots_least || full.cell_slots > cell_slots_most) {
        refuse("channels of " + std::to_string(full.cell_slots) + " cells; they have from " +
               std::to_string(cell_slots_least) + " to " + std::to_string(cell_slots_most));
    }
    if (full.reproducible && full.keeps_parts && full.op == Collective::reduce_scatter) {
        // The order of the ranks is the only one that does not depend on their places.
        full.ordered = true;
    }
    if (full.moves == 0) {
        full.moves = default_moves(ranks);
    }
    return full;
}

PlanRequest completed(const Cluster& cluster, PlanRequest request) {
    cluster.check();
    const std::size_t most = request.proven ? plan::rank_count_max : plan::simulated_rank_count_max;
    if (static_cast<std::size_t>(cluster.size()) > most) {
        refuse("a plan has at most " + std::to_string(most) +
               (request.proven ? " ranks if it is to be proven" : " ranks") + ", the cluster has " +
               std::to_string(cluster.size()));
    }
    if (request.size != 0 && request.size != cluster.size()) {
        refuse("a plan for " + std::to_string(request.size) + " ranks on a cluster of " +
               std::to_string(cluster.size()));
    }
    if (!request.placement.empty()) {
        refuse("a placement beside a cluster; say in its runs where ranks are");
    }
    if (request.oversubscribed || request.reproducible) {
        refuse("no plan over several nodes is for ranks that take turns on CPUs, or combines in an "
               "order of its own; ask for one machine, or without it");
    }
    check_objective(request);
    check_root(request.root, cluster.size());
    check_payload(request.bytes, plan::payload_bytes_max - 1);
    request.size = cluster.size();
    request.root = std::max(request.root, 0);
    request.bytes = request.op == Collective::barrier ? 0 : request.bytes;
    request.example_bytes = request.bytes;
    return request;
}

GenerateInput input_of(const CostView& costs, const Machine& machine, const PlanRequest& request,
                       const Variant& variant) {
    return {.costs = costs,
            .machine = &machine,
            .placement = request.placement,
            .root = request.root,
            .bytes = request.example_bytes,
            .ordered = request.ordered,
            .seed = request.seed,
            .moves = request.moves,
            .via = variant.via,
            .blocks = variant.blocks,
            .addresses_each = request.keeps_parts};
}

} // namespace corymb::tune
