// SPDX-License-Identifier: Apache-2.0
// The default plans of a team: made by the planner on this machine's model.
#include "base/usable_cpus.hpp"
#include "machine/discover/planning_model.hpp"
#include "team/addresses.hpp"
#include "team/team_shared.hpp"

#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
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

/// Plans for any length are made for this one. It is longer than a slot of `cells`, so that no plan
/// relies on room for its messages.
constexpr std::uint64_t typical_part_bytes = std::uint64_t{64} << 10;

/// The best algorithm whose messages travel as `mechanism` says, if it is not `far_behind` times as
/// slow as the best one of all; else `otherwise`.
std::string best_through(const std::string& mechanism, double far_behind, const PlanChoice& choice,
                         const std::string& otherwise) {
    std::string best = otherwise;
    double least = far_behind * choice.predicted;
    for (const auto& [name, predicted] : choice.portfolio) {
        if (predicted < least && name.find("/" + mechanism + "-") != std::string::npos) {
            best = name;
            least = predicted;
        }
    }
    return best;
}

/// For parts of any length, where each rank has a CPU and is a process. In a call of a rooted
/// operation each rank sends or receives, so that calls which follow each other overlap, unless a
/// sender waits until its part has been copied out of its memory; the model charges single calls.
/// In an exchange plans by pull send what is short through cells (copied_bytes), all of it before
/// they receive, where those by cells take turns of a few cells.
std::string algorithm_for_any_length(const Machine& machine, const PlanRequest& request) {
    constexpr double far_behind = 2;
    const bool may_copy = request.pull && request.placement.size() <= copying_ranks_most;
    if (!is_rooted(request.op) && !may_copy) {
        return request.algorithm;
    }
    return best_through(is_rooted(request.op) ? "cells" : "pull", far_behind,
                        make_plan(machine, request), request.algorithm);
}

/// The same holds for gathers and scatters of equal parts that the kernel would copy. Measured
/// among two ranks whose cores have a cache together, 1 and 2 MiB: 1.2 to 1.8 times as fast through
/// cells, which the model thinks 1.25 times as slow.
Plan with_calls_that_overlap(PlanChoice choice, const Machine& machine, PlanRequest request) {
    constexpr double far_behind = 1.3;
    const bool has_parts = request.op == Collective::gather || request.op == Collective::scatter;
    if (has_parts && choice.plan.algorithm.find("/pull-") != std::string::npos) {
        request.algorithm = best_through("cells", far_behind, choice, choice.plan.algorithm);
        if (request.algorithm != choice.plan.algorithm) {
            choice = make_plan(machine, request);
        }
    }
    return std::move(choice.plan);
}

/// The model of this machine for what all processes of a team may use together, or else the calling
/// thread; found once for each such set. A process bound to one CPU looks around for a moment as if
/// it were not.
std::shared_ptr<const Machine> this_machine(const std::vector<int>& cpus) {
    static std::mutex mutex;
    // Never destroyed: a destructor of a static object of the program may need a plan.
    static auto& known = *new std::map<std::vector<int>, std::shared_ptr<const Machine>>;
    const std::lock_guard lock(mutex);
    auto& machine = known[cpus.empty() ? affinity_mask() : cpus];
    if (!machine) {
        const AffinityGuard guard;
        if (!cpus.empty()) {
            set_affinity_mask(cpus); // Refused: this process's part is all that it knows.
        }
        machine = std::make_shared<const Machine>(discover::planning_model());
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
/// left them: a copy then takes 1.4 times as long as an ordinary one and the kernel's work.
/// Measured among 4 and 8 processes on two CPUs, 64 KiB to 1 MiB: beside plans through cells, those
/// by copies of the kernel take 0.8 (alltoall of 256 KiB among 8) to 1.7 times as long (gather).
KernelCopy without_warm_caches(const KernelCopy& measured) {
    constexpr double ordinary_gbs = 10; // As the simulator assumes for a model without bandwidths.
    constexpr double times_as_long = 1.4;
    return {measured.start_ns * times_as_long,
            1 / (1 / measured.gbs + 1 / ordinary_gbs) / times_as_long};
}

/// By class: whether its pairs of PUs have a last-level cache together, as the topology says if the
/// team has not found otherwise. One pair stands for all.
std::vector<bool> classes_with_a_cache(const Machine& machine, Caches found) {
    std::vector<bool> has_cache(machine.classes.size(), false);
    if (found == Caches::far || machine.group.empty()) {
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
            has_cache[at] =
                cache_of(from) == cache_of(to) && (cache_of(from) >= 0 || found == Caches::near);
            --left;
        }
    }
    return has_cache;
}

/// Where nothing says how fast payloads go through cells, which keeps both ends busy at once:
/// beside the kernel's copies faster between cores with a last-level cache together, else slower if
/// they are long (measured: 1.3 to 2.5 and down to 0.7 times). In nanoseconds, as models of this
/// machine are.
///
/// Of what a model has measured, that stays which is between cores without a cache together: what
/// the team has just found of the others is younger, and a virtual machine's cores move. What is
/// assumed also makes up for it that the simulator has ranks send and receive one after the other.
void assume_transfers(Machine& machine, Caches found) {
    constexpr std::array bytes = {16 << 10, 128 << 10, 512 << 10, 1 << 20};
    const std::vector<bool> has_cache = classes_with_a_cache(machine, found);
    const std::vector<bool> is_near = classes_with_a_cache(machine, Caches::near);
    std::erase_if(machine.transfer, [&is_near](const Curve& curve) {
        const auto index = static_cast<std::size_t>(curve.pair_class);
        return index < is_near.size() && is_near[index];
    });
    for (std::size_t index = 0; index < machine.classes.size(); ++index) {
        const auto of_class = [index](const Curve& curve) {
            return curve.pair_class == static_cast<int>(index);
        };
        if (std::ranges::any_of(machine.transfer, of_class)) {
            continue;
        }
        const std::array<double, bytes.size()> times =
            has_cache[index] ? std::array{1.5, 2.2, 2.4, 1.6} : std::array{1.0, 0.75, 0.75, 0.75};
        Curve curve{static_cast<int>(index), {}, {}};
        for (std::size_t point = 0; point < times.size(); ++point) {
            curve.count.push_back(bytes[point]);
            curve.value.push_back(bytes[point] / (times[point] * machine.kernel_copy.gbs));
        }
        machine.transfer.push_back(std::move(curve));
    }
}

/// The same for what a core copies or combines within its caches: twice as fast as the kernel's
/// copies (measured: 2.0 to 2.7 times). What the kernel has copied is there, whatever the payload.
/// With a level of memory known, fresh data is charged for being fetched (Charges::pulling).
void assume_own_copies(Machine& machine) {
    constexpr double times_kernels = 2;
    MemoryLevel caches;
    caches.level = "l2";
    caches.working_set_bytes = std::numeric_limits<std::int64_t>::max();
    caches.copy_gbs = times_kernels * machine.kernel_copy.gbs;
    machine.memory.push_back(caches);
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

/// Behind a broadcast or scatter of 8 B or 1 KiB among 3 to 16 processes on two CPUs it takes
/// together with it 0.7 to 1.1 times as long as all-to-all. That itself takes a tenth to a half
/// within its call: the others find the data when their turn comes. Barriers behind barriers take
/// 1.0 to 1.6 times as long.
constexpr const char* barrier_that_a_root_leaves_first = "star";

/// What plans of one team are made on.
struct Ground {
    std::shared_ptr<const Machine> machine;
    std::vector<int> placement;
    bool crowded = false;
};

Ground ground_of(const std::vector<int>& cpu_of_rank, const Surroundings& where) {
    Ground ground;
    const auto cpus = where.cpus.empty() ? affinity_mask().size() : where.cpus.size();
    if (!cpu_of_rank.empty() || static_cast<std::size_t>(where.size) <= cpus) {
        ground.machine = this_machine(where.cpus);
        ground.placement = placement_of(*ground.machine, cpu_of_rank, where.size);
    }
    ground.crowded = where.size > where.usable || ground.placement.empty();
    if (ground.placement.empty()) {
        ground.machine = std::make_shared<const Machine>(uniform_machine(where.size));
    }
    if (where.copies.present()) {
        auto among_processes = std::make_shared<Machine>(*ground.machine);
        among_processes->kernel_copy =
            ground.crowded ? without_warm_caches(where.copies) : where.copies;
        const bool has_looked = where.caches != Caches::unknown;
        if (!ground.crowded && (among_processes->transfer.empty() || has_looked)) {
            assume_transfers(*among_processes, where.caches);
        }
        if (!ground.crowded && among_processes->memory.empty()) {
            assume_own_copies(*among_processes);
        }
        ground.machine = std::move(among_processes);
    }
    return ground;
}

/// The ground of a team, found when it is first asked for. Thread-safe.
class GroundWhenNeeded {
public:
    GroundWhenNeeded(std::vector<int> cpu_of_rank, Surroundings where)
        : cpu_of_rank_(std::move(cpu_of_rank)), where_(std::move(where)) {}
    const Ground& get() {
        const std::lock_guard lock(mutex_);
        if (!ground_) {
            ground_ = ground_of(cpu_of_rank_, where_);
        }
        return *ground_;
    }
    [[nodiscard]] const Surroundings& team() const noexcept { return where_; }

private:
    std::mutex mutex_;
    std::vector<int> cpu_of_rank_;
    Surroundings where_;
    std::optional<Ground> ground_;
};

} // namespace

PlanSource default_plans(const TeamOptions& options, const Surroundings& where) {
    auto known = std::make_shared<GroundWhenNeeded>(options.cpus, where);
    if (where.cpus.empty()) {
        known->get(); // As this thread may, and while no rank waits.
    }
    // Of several processes one makes a plan: the others need no model.
    return [known = std::move(known)](const PlanNeed& need) {
        const Ground& ground = known->get();
        const Surroundings& team = known->team();
        const bool is_any = need.bytes == any_part_bytes;
        PlanRequest request;
        request.op = need.op;
        request.placement = ground.placement;
        request.root = is_rooted(need.op) || need.root_first ? need.root : -1;
        request.bytes = is_any ? typical_part_bytes : need.bytes;
        request.moves = moves_at_run_time(team.size, ground.crowded);
        request.ordered = need.ordered;
        request.reproducible = need.reproducible;
        request.keeps_parts = need.keeps_parts;
        request.oversubscribed = ground.crowded;
        request.cpus = team.usable;
        request.pull = team.pull;
        request.push = team.push;
        if (is_any && !ground.crowded && ground.machine->kernel_copy.present()) {
            request.algorithm = algorithm_for_any_length(*ground.machine, request);
        }
        if (need.root_first) {
            request.algorithm = barrier_that_a_root_leaves_first;
        }
        PlanChoice choice = make_plan(*ground.machine, request);
        if (is_any) {
            choice.plan.bytes_max = need.bytes; // The team proves it for that, too.
        } else if (!ground.crowded && team.copies.present()) {
            return with_calls_that_overlap(std::move(choice), *ground.machine, request);
        }
        return std::move(choice.plan);
    };
}

} // namespace corymb::team
