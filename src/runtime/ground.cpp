// SPDX-License-Identifier: Apache-2.0
#include "runtime/ground.hpp"

#include "base/usable_cpus.hpp"
#include "machine/discover/planning_model.hpp"
#include "machine/model/assumed.hpp"
#include "machine/model/nearness.hpp"
#include "machine/model/transfer_time.hpp"
#include "runtime/tuning.hpp"
#include "team/explain.hpp"
#include "team/line_probe.hpp"

#include <corymb/doubts.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace corymb::team {

namespace {

/// The model of this machine for the CPUs that all processes of a team may use together, or for the
/// calling thread's if there are none, with the levels that are given; found once for each such
/// set. A process bound to one CPU looks around for a moment as if it were not.
std::shared_ptr<const Machine> this_machine(const std::vector<int>& cpus,
                                            const std::string& levels) {
    static std::mutex mutex;
    // Never destroyed: a destructor of a static object of the program may need a plan.
    using Key = std::pair<std::vector<int>, std::string>;
    static auto& known = *new std::map<Key, std::shared_ptr<const Machine>>;
    const std::lock_guard lock(mutex);
    auto& machine = known[{cpus.empty() ? affinity_mask() : cpus, levels}];
    if (!machine) {
        const AffinityGuard guard;
        if (!cpus.empty()) {
            set_affinity_mask(cpus); // Refused: this process's part is all that it knows.
        }
        Machine found = discover::planning_model();
        if (!levels.empty()) {
            set_levels(found, levels);
        }
        machine = std::make_shared<const Machine>(std::move(found));
        explain_doubts(machine->name.empty() ? "this machine" : machine->name, doubts(*machine));
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

/// The cost of the kernel's copies between processes that take turns on a CPU: that of an ordinary
/// copy and the kernel's work together, with cold caches.
KernelCopy without_warm_caches(const KernelCopy& measured) {
    const double times_as_long = runtime::tuning::cold_kernel_copy;
    return {measured.start_ns * times_as_long,
            1 / (1 / measured.gbs + 1 / assumed_copy_gbs) / times_as_long};
}

/// By class: whether its pairs of PUs have a last-level cache together, as the topology says. One
/// pair stands for all. Where the topology knows no such cache, all pairs are alike.
std::vector<bool> classes_with_a_cache(const Machine& machine) {
    std::vector<bool> has_cache(machine.classes.size(), false);
    if (machine.group.empty()) {
        return has_cache;
    }
    std::vector<bool> known(machine.classes.size(), false);
    const auto cache_of = [&machine](int pu) {
        return machine.topology.pus[static_cast<std::size_t>(pu)].l3;
    };
    auto left = static_cast<std::ptrdiff_t>(known.size());
    for (int from = 0; from < machine.size() && left != 0; ++from) {
        for (int to = from + 1; to < machine.size() && left != 0; ++to) {
            const int pair_class = machine.class_of(from, to);
            const auto at = static_cast<std::size_t>(pair_class);
            if (pair_class < 0 || known[at]) {
                continue;
            }
            known[at] = true;
            has_cache[at] = cache_of(from) == cache_of(to);
            --left;
        }
    }
    return has_cache;
}

constexpr int measured_bytes = LineProbe::message_bytes; ///< Payload of the team's measurement.

/// Gives payloads through cells the rate that neighbouring ranks have just measured. Neighbours are
/// near each other, so it corrects what the model says of pairs that share a cache, for all
/// lengths: a virtual machine's cores move. It also stands in for classes that nobody has measured,
/// unless cells are faster than the kernel's copies between neighbours: pairs that share no cache
/// are then assumed to be as fast as the kernel. In nanoseconds, as models of this machine are.
void take_measured_cells(Machine& machine, double cells_gbs) {
    const std::vector<bool> has_cache = classes_with_a_cache(machine);
    for (std::size_t index = 0; index < machine.classes.size(); ++index) {
        const auto known =
            std::ranges::find(machine.transfer, static_cast<int>(index), &Curve::pair_class);
        if (known != machine.transfer.end() && !known->count.empty()) {
            const double factor = cells_gbs > 0 && has_cache[index]
                                      ? 1 / cells_gbs / time_per_byte(*known, measured_bytes)
                                      : 1;
            for (double& time : known->value) {
                time *= factor;
            }
            continue;
        }
        const double kernel = machine.kernel_copy.gbs;
        const double gbs = cells_gbs <= 0     ? kernel
                           : has_cache[index] ? cells_gbs
                                              : std::min(cells_gbs, kernel);
        machine.transfer.push_back(
            {static_cast<int>(index), {measured_bytes}, {measured_bytes / gbs}});
    }
}

/// Gives copies within a core the rate that this process has just measured. Data that the kernel
/// has copied is in the caches, whatever the payload. If a model knows a level of memory, fresh
/// data is charged for being fetched (Charges::pulling).
void take_measured_copies(Machine& machine, double own_gbs) {
    MemoryLevel caches;
    caches.level = "l2";
    caches.working_set_bytes = std::numeric_limits<std::int64_t>::max();
    caches.copy_gbs = own_gbs;
    machine.memory.push_back(caches);
}

/// The placement that kernels give to ranks that are not bound; empty when there are not enough
/// PUs.
std::vector<int> free_placement(const Machine& machine, int size) {
    std::vector<int> placement;
    if (size <= machine.size()) {
        placement = pus_of_each_core_first(machine);
        placement.resize(static_cast<std::size_t>(size));
    }
    return placement;
}

/// PU index of each rank, of the CPUs given if the model has them; empty when the ranks do not have
/// one PU each. A rank's CPU may be none that this process could look at.
std::vector<int> placement_of(const Machine& machine, const std::vector<int>& cpus, int size) {
    std::vector<int> placement;
    for (const int cpu : cpus) {
        placement.push_back(machine.index_of_cpu(cpu));
    }
    if (placement.empty() || std::ranges::min(placement) < 0) {
        return free_placement(machine, size);
    }
    const std::set<int> different(placement.begin(), placement.end());
    return different.size() == placement.size() ? placement : std::vector<int>{};
}

} // namespace

Ground ground_of(const std::vector<int>& cpu_of_rank, const std::string& levels,
                 const Surroundings& where) {
    Ground ground;
    const auto cpus = where.cpus.empty() ? affinity_mask().size() : where.cpus.size();
    if (!cpu_of_rank.empty() || !levels.empty() || static_cast<std::size_t>(where.size) <= cpus) {
        ground.machine = this_machine(where.cpus, levels);
        ground.placement = placement_of(*ground.machine, cpu_of_rank, where.size);
    }
    ground.crowded = where.size > where.usable || ground.placement.empty();
    if (ground.placement.empty()) {
        ground.machine = std::make_shared<const Machine>(uniform_machine(where.size));
    }
    ground.base = ground.machine;
    if (where.copies.present()) {
        auto among_processes = std::make_shared<Machine>(*ground.machine);
        among_processes->kernel_copy =
            ground.crowded ? without_warm_caches(where.copies) : where.copies;
        if (!ground.crowded && (among_processes->transfer.empty() || where.cells_gbs > 0)) {
            take_measured_cells(*among_processes, where.cells_gbs);
        }
        if (!ground.crowded && among_processes->memory.empty() && where.own_gbs > 0) {
            take_measured_copies(*among_processes, where.own_gbs);
        }
        ground.machine = std::move(among_processes);
    }
    return ground;
}

} // namespace corymb::team
