// SPDX-License-Identifier: Apache-2.0
// The default plans of a team: made by the planner on this machine's model.
#include "base/usable_cpus.hpp"
#include "team/team_shared.hpp"

#include <corymb/discover.hpp>
#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

namespace corymb::team {

namespace {

/// Annealing moves of a plan that a program waits for: some milliseconds, on large machines a tenth
/// of a second, for a plan within a few per cent of what `corymb plan` finds in a second. Among 3
/// to 8 ranks of all machines of the gallery 20,000 moves found the same in 1,399 of 1,400 cases.
std::uint64_t moves_at_run_time(int ranks, bool crowded) {
    constexpr std::uint64_t moves_most = 20'000;
    constexpr std::uint64_t moves_per_pair = 16;
    const auto size = static_cast<std::uint64_t>(ranks);
    // On a uniform machine the generators have the best shapes, and nothing is found by moving.
    return crowded ? 1 : std::min(moves_most, moves_per_pair * size * size);
}

/// Plans for any length are those that are best for this one. It is longer than a slot of `cells`,
/// so that no plan relies on room for its messages.
constexpr std::uint64_t typical_part_bytes = std::uint64_t{64} << 10;

/// The model of this machine as far as the calling thread may use it: the measured one where there
/// is one that fits, else its topology.
Machine model_here() {
    auto cached = load_cached_machine();
    return cached ? std::move(*cached) : discover_topology();
}

/// The same for what all processes of a team may use together; found once for each such set. A
/// process bound to one CPU looks around for a moment as if it were not.
std::shared_ptr<const Machine> this_machine(const std::vector<int>& cpus) {
    static std::mutex mutex;
    static std::map<std::vector<int>, std::shared_ptr<const Machine>> known;
    const std::lock_guard lock(mutex);
    auto& machine = known[cpus.empty() ? affinity_mask() : cpus];
    if (!machine) {
        const AffinityGuard guard;
        if (!cpus.empty()) {
            set_affinity_mask(cpus); // Refused: this process's part is all that it knows.
        }
        machine = std::make_shared<const Machine>(model_here());
    }
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

/// Processes that take turns on a CPU find neither its caches nor its address translations as they
/// left them: a copy then takes about the time of an ordinary one and that of the kernel's work.
KernelCopy without_warm_caches(const KernelCopy& measured) {
    constexpr double ordinary_gbs = 10; // As the simulator assumes for a model without bandwidths.
    return {measured.start_ns, 1 / (1 / measured.gbs + 1 / ordinary_gbs)};
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

PlanSource default_plans(const TeamOptions& options, const Surroundings& where) {
    std::shared_ptr<const Machine> machine;
    std::vector<int> placement;
    const auto cpus = where.cpus.empty() ? affinity_mask().size() : where.cpus.size();
    if (!options.cpus.empty() || static_cast<std::size_t>(where.size) <= cpus) {
        machine = this_machine(where.cpus);
        placement = placement_of(*machine, options.cpus, where.size);
    }
    const bool crowded = where.size > where.usable || placement.empty();
    if (placement.empty()) {
        machine = std::make_shared<const Machine>(uniform_machine(where.size));
    }
    if (where.copies.present()) {
        auto among_processes = std::make_shared<Machine>(*machine);
        among_processes->kernel_copy = crowded ? without_warm_caches(where.copies) : where.copies;
        machine = std::move(among_processes);
    }
    return [machine, placement, crowded, moves = moves_at_run_time(where.size, crowded),
            cpus = where.usable, pull = where.pull, push = where.push](const PlanNeed& need) {
        const bool is_any = need.bytes == any_part_bytes;
        PlanRequest request;
        request.op = need.op;
        request.placement = placement;
        request.root = is_rooted(need.op) ? need.root : -1;
        request.bytes = is_any ? typical_part_bytes : need.bytes;
        request.moves = moves;
        request.ordered = need.ordered;
        request.keeps_parts = need.keeps_parts;
        request.oversubscribed = crowded;
        request.cpus = cpus;
        request.pull = pull;
        request.push = push;
        Plan plan = make_plan(*machine, request).plan;
        if (is_any) {
            plan.bytes_max = need.bytes; // The team proves it for that, too.
        }
        return plan;
    };
}

} // namespace corymb::team
