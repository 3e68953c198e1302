// SPDX-License-Identifier: Apache-2.0
// corymb/planner.hpp and corymb/simulate.hpp for Python.
#include "bindings.hpp"
#include "model_names.hpp"

#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace corymb::python {

namespace {

using Vector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Table = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

double* copy_for_numpy(const std::vector<double>& values, nb::capsule& owner) {
    auto memory = std::make_unique<double[]>(values.size());
    std::copy(values.begin(), values.end(), memory.get());
    owner =
        nb::capsule(memory.get(), [](void* data) noexcept { delete[] static_cast<double*>(data); });
    return memory.release();
}

PlanChoice plan_for(const Machine& machine, const std::string& op,
                    const std::optional<std::vector<int>>& placement, std::optional<int> root,
                    std::uint64_t bytes, const std::string& algorithm, std::uint64_t seed,
                    std::uint64_t moves, bool ordered, bool oversubscribed, bool reproducible,
                    bool keeps_parts, int cpus, bool one_block, bool any_length,
                    std::uint32_t cell_slots, bool exhaustive, const std::string& objective,
                    const Noise* noise, std::uint32_t replays) {
    PlanRequest request;
    request.op = collective_from_string(op);
    request.placement = placement.value_or(std::vector<int>{});
    request.root = root.value_or(-1);
    request.bytes = any_length ? any_part_bytes : bytes;
    request.example_bytes = bytes;
    request.algorithm = algorithm;
    request.seed = seed;
    request.moves = moves;
    request.ordered = ordered;
    request.oversubscribed = oversubscribed;
    request.cpus = cpus;
    request.reproducible = reproducible;
    request.keeps_parts = keeps_parts;
    request.one_block = one_block;
    request.cell_slots = cell_slots;
    request.exhaustive = exhaustive;
    request.objective = objective_from_string(objective);
    request.noise = noise != nullptr ? *noise : Noise{};
    request.replays = replays;
    return make_plan(machine, request);
}

/// As Python has it; None is a rank on each of the first `size` PUs.
std::vector<int> seats_of(const std::optional<std::vector<int>>& placement, int size) {
    std::vector<int> seats = placement.value_or(std::vector<int>{});
    if (!placement) {
        seats.resize(static_cast<std::size_t>(size));
        std::iota(seats.begin(), seats.end(), 0);
    }
    return seats;
}

Timeline replay(const Plan& plan, const Machine& machine,
                const std::optional<std::vector<int>>& placement, std::uint64_t bytes,
                bool activities, const Noise* noise) {
    return simulate(plan, machine, seats_of(placement, plan.size()), bytes, activities,
                    noise != nullptr ? *noise : Noise{});
}

nb::list activity_tables(const Timeline& timeline) {
    nb::list tables;
    for (const auto& rank : timeline.ranks) {
        std::vector<double> rows;
        for (const Activity& activity : rank) {
            rows.insert(rows.end(), {static_cast<double>(activity.step), activity.wait_from,
                                     activity.begin, activity.end});
        }
        nb::capsule owner;
        double* data = copy_for_numpy(rows, owner);
        tables.append(Table(data, {rank.size(), 4}, owner));
    }
    return tables;
}

nb::dict dict_of(const NoisyTimes& times) {
    nb::dict fields;
    fields["algorithm"] = times.algorithm;
    fields["quiet"] = times.quiet;
    fields["median"] = times.median;
    fields["p99"] = times.p99;
    return fields;
}

/// The cost of a choice under noise, or None.
nb::object noise_cost_of(const PlanChoice& choice) {
    if (!choice.noise_cost) {
        return nb::none();
    }
    nb::dict cost;
    cost["chosen"] = dict_of(choice.noise_cost->chosen);
    cost["fastest"] = dict_of(choice.noise_cost->fastest);
    return cost;
}

void bind_choice(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<PlanChoice>(module, "PlanChoice", "A plan, its prediction and what it beat.")
        .def_ro("plan", &PlanChoice::plan)
        .def_prop_ro(
            "placement", [](const PlanChoice& self) { return self.request.placement; },
            "PU index of each rank; empty on a cluster.")
        .def_ro("predicted", &PlanChoice::predicted,
                "Simulated time in the model's unit, on a cluster in ns.")
        .def_prop_ro("seed", [](const PlanChoice& self) { return self.request.seed; })
        .def_prop_ro("moves", [](const PlanChoice& self) { return self.request.moves; })
        .def_prop_ro(
            "portfolio",
            [](const PlanChoice& self) {
                nb::dict portfolio;
                for (const auto& [name, predicted] : self.portfolio) {
                    portfolio[name.c_str()] = predicted;
                }
                return portfolio;
            },
            nb::sig("def portfolio(self) -> dict[str, float]"), "Algorithm to prediction.")
        .def_prop_ro(
            "decided",
            [](const PlanChoice& self) {
                nb::list numbers;
                for (const DecidingNumber& one : self.decided) {
                    numbers.append(nb::make_tuple(one.name, one.value, one.origin));
                }
                return numbers;
            },
            nb::sig("def decided(self) -> list[tuple[str, float, str]]"),
            "(name, value, origin) of each number that excluded or changed something and that no "
            "model gives. docs/results/ablation.md says what each is worth.")
        .def_prop_ro("noise_cost", &noise_cost_of,
                     nb::sig("def noise_cost(self) -> dict[str, dict[str, typing.Any]] | None"),
                     "Under noise: algorithm, quiet (time without noise), median and p99 of the "
                     "'chosen' plan and of the 'fastest' one without noise.")
        .def(
            "lower_bound",
            [](const PlanChoice& self, const Machine& machine) {
                LowerBound bound = lower_bound(self, machine);
                return std::pair(bound.value, std::move(bound.kind));
            },
            nb::arg("machine"), unlocked,
            "(value, kind): no plan of messages for this request is faster in the model of the "
            "machine. (0, 'none') where no bound applies. Takes about as long as a search.")
        .def(
            "to_json",
            [](const PlanChoice& self, const Machine& machine) { return to_json(self, machine); },
            nb::arg("machine"), unlocked, "What `corymb plan --json` writes.")
        .def(
            "to_json",
            [](const PlanChoice& self, const Cluster& cluster) { return to_json(self, cluster); },
            nb::arg("cluster"), unlocked, "What `corymb plan --cluster --json` writes.");
}

void bind_timeline(nb::module_& module) {
    nb::class_<Timeline>(module, "Timeline", "Result of a simulation.")
        .def_prop_ro(
            "finish",
            [](const Timeline& self) {
                nb::capsule owner;
                double* data = copy_for_numpy(self.finish, owner);
                // Cast here: the policy of a property does not fit an array with an owner.
                return nb::cast(Vector(data, {self.finish.size()}, owner));
            },
            nb::sig("def finish(self) -> numpy.typing.NDArray[numpy.float64]"),
            "End of each rank's last step, in the model's unit.")
        .def_ro("makespan", &Timeline::makespan, "Latest finish.")
        .def_ro("simulated_on", &Timeline::simulated_on, "Name of the model; print it.")
        .def_prop_ro("activities", &activity_tables,
                     nb::sig("def activities(self) -> list[numpy.typing.NDArray[numpy.float64]]"),
                     "For each rank a table with columns step, wait_from, begin, end; empty unless "
                     "asked for.");
}

void bind_counter_barrier(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<CounterBarrier>(module, "CounterBarrier",
                               "Times of a barrier of one counter and one word that all poll.")
        .def_ro("arrival", &CounterBarrier::arrival, "Until all ranks have changed the counter.")
        .def_ro("release", &CounterBarrier::release,
                "From then on until the last rank has seen the word.")
        .def_prop_ro("total", &CounterBarrier::total)
        .def_prop_ro(
            "origin", [](const CounterBarrier& self) { return name_of(data_origins, self.origin); },
            "Of arrival: 'measured', 'imported' or 'assumed'.");
    module.def(
        "counter_barrier",
        [](const Machine& machine, const std::optional<std::vector<int>>& placement) {
            return counter_barrier(machine, seats_of(placement, machine.size()));
        },
        nb::arg("machine"), nb::arg("placement") = nb::none(), unlocked,
        "What a central counter costs on a machine model, as barriers of OpenMP runtimes have it. "
        "`placement[rank]` is a PU index; None puts a rank on every PU.");
}

} // namespace

void bind_planner(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    bind_choice(module);
    bind_timeline(module);
    bind_counter_barrier(module);
    module.def("make_plan", &plan_for, nb::arg("machine"), nb::arg("op"), nb::kw_only(),
               nb::arg("placement") = nb::none(), nb::arg("root") = nb::none(),
               nb::arg("bytes") = std::uint64_t{8}, nb::arg("algorithm") = "best",
               nb::arg("seed") = std::uint64_t{1}, nb::arg("moves") = std::uint64_t{0},
               nb::arg("ordered") = false, nb::arg("oversubscribed") = false,
               nb::arg("reproducible") = false, nb::arg("keeps_parts") = false, nb::arg("cpus") = 1,
               nb::arg("one_block") = false, nb::arg("any_length") = false,
               nb::arg("cell_slots") = 0u, nb::arg("exhaustive") = false,
               nb::arg("objective") = "median", nb::arg("noise") = nb::none(),
               nb::arg("replays") = 1000u, unlocked,
               "Plans an operation and returns the fastest (or the named) proven plan. "
               "`placement[rank]` is a PU index; None puts a rank on every PU. With `any_length` "
               "the plan is for parts of any length, and `bytes` is what candidates are timed "
               "with. `cell_slots`: slots of channels of cells that the plan may count on; 0: "
               "those of a team. `exhaustive` also simulates the families that are only compared "
               "with. `objective` is 'median' or 'p99': the 99th percentile of so many replays "
               "under the noise. Deterministic.");
    module.def("simulate", &replay, nb::arg("plan"), nb::arg("machine"),
               nb::arg("placement") = nb::none(), nb::arg("bytes") = std::uint64_t{8},
               nb::arg("activities") = false, nb::arg("noise") = nb::none(), unlocked,
               "Replays a plan on a machine model. Nothing runs on this machine.");
    module.def(
        "traffic",
        [](const Plan& plan, std::uint64_t bytes) {
            const Traffic counts = traffic(plan, bytes);
            return nb::make_tuple(counts.lines, counts.copied);
        },
        nb::arg("plan"), nb::arg("bytes") = std::uint64_t{8},
        nb::sig("def traffic(plan: Plan, bytes: int = 8) -> tuple[list[int], list[int]]"),
        "Counted from a proven plan's steps, for each rank: cache lines that reach it from others, "
        "and bytes that it copies or combines.");
    module.def(
        "algorithm_names",
        [](const std::string& op) { return algorithm_names(collective_from_string(op)); },
        nb::arg("op"), "Names of the algorithms for an operation, in portfolio order.");
}

} // namespace corymb::python
