// SPDX-License-Identifier: Apache-2.0
#include "predict.hpp"

#include "../../engine/turns.hpp"
#include "../driver/output.hpp"
#include "../peers/corymb_team.hpp"
#include "../statistics.hpp"
#include "../worker/make.hpp"
#include "../worker/slot.hpp"
#include "plans.hpp"

#include <corymb/discover.hpp>
#include <corymb/machine.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

namespace corymb::bench {

namespace {

Machine machine_for(const Options& options) {
    if (!options.model.empty()) {
        return load_machine(options.model);
    }
    std::string why;
    if (auto cached = load_cached_machine(&why)) {
        return std::move(*cached);
    }
    print_progress(0, "measuring this machine, since " + (why.empty() ? "there is no model" : why));
    MeasureOptions measuring;
    measuring.budget_s = std::min(20.0, options.seconds / 2);
    return measure(measuring);
}

/// PU indexes of the CPUs that this process may use, in the order in which ranks are placed.
std::vector<int> usable_pus(const Machine& machine) {
    std::vector<int> pus;
    for (const int cpu : allowed_cpus()) {
        if (const int pu = machine.index_of_cpu(cpu); pu >= 0) {
            pus.push_back(pu);
        }
    }
    return pus;
}

/// A failed rank leaves the others waiting, so it ends the process, with the reason.
Job guarded(const Job& job) {
    return [&job](int rank) {
        try {
            job(rank);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "corymb-bench: rank %d: %s\n", rank, error.what());
            _exit(1);
        }
    };
}

/// What the ranks of a broadcast do besides: the root writes its payload, all read theirs. The
/// fastest of some turns on a CPU that has the payload in its cache; 0 for a barrier.
double own_work_of(std::size_t bytes) {
    if (bytes < sizeof(double)) {
        return 0;
    }
    constexpr int turns = 21;
    constexpr std::int64_t turn_ns = 200'000;
    const Payload payload(bytes / sizeof(double));
    double best_ns = std::numeric_limits<double>::infinity();
    std::uint64_t operation = 0;
    for (int turn = 0; turn < turns; ++turn) {
        const std::int64_t begin = wall_ns();
        const std::uint64_t before = operation;
        while (wall_ns() - begin < turn_ns) {
            for (int i = 0; i < 8; ++i) {
                const double value = value_of(++operation);
                payload.fill(value);
                if (!payload.is_all(value)) {
                    throw std::logic_error("a payload that was just written has another value");
                }
            }
        }
        const auto passed = static_cast<double>(wall_ns() - begin);
        best_ns = std::min(best_ns, passed / static_cast<double>(operation - before));
    }
    return best_ns;
}

/// One family while it is measured.
struct Contest {
    PlanFamily family;
    double predicted_ns = 0; ///< With own_work_ns.
    double own_work_ns = 0;
    std::unique_ptr<Workload> workload;
    std::unique_ptr<Crew> crew;
    Case what;
    std::uint64_t operations = 1;
    std::vector<double> samples;

    void slot(double slot_ns) {
        const RunAll run_all = [this](const Job& job) {
            crew->run(guarded(job));
        };
        const SlotResult result = run_slot(what, *workload, run_all, operations);
        if (result.wrong != 0) {
            throw std::runtime_error("plan \"" + family.name + "\" gave wrong results");
        }
        const double now = static_cast<double>(operations);
        const double next = slot_ns / std::max(result.operation_ns, 1.0);
        // The first slots only find out how many operations fill one.
        if (result.operation_ns * now * 4 > slot_ns) {
            samples.push_back(result.operation_ns);
        }
        operations = static_cast<std::uint64_t>(std::max(std::clamp(next, now / 8, now * 8), 1.0));
    }
};

Contest contest_of(PlanFamily family, double simulated_ns) {
    Contest contest;
    contest.own_work_ns = own_work_of(family.bytes);
    contest.predicted_ns = simulated_ns + contest.own_work_ns;
    contest.what = {family.op == Collective::barrier ? Operation::barrier : Operation::broadcast,
                    family.ranks(), family.bytes, Regime::alone, true};
    const auto cpus = placement(family.ranks());
    const PlanSource plans = [family](const PlanNeed& need) {
        Plan plan = family.at(need.root);
        // The team asks for the largest payload of a size class.
        plan.bytes_max = std::max(plan.bytes_max, need.bytes);
        return plan;
    };
    contest.workload =
        family.op == Collective::barrier
            ? make_barrier<CorymbTeam>(contest.what, WaitPolicy::ladder, cpus, plans)
            : make_payload<CorymbTeam>(contest.what, WaitPolicy::ladder, cpus, plans);
    contest.crew = std::make_unique<Crew>(family.ranks(), cpus);
    contest.crew->run(guarded([&](int rank) { contest.workload->enter(rank); }));
    if (!contest.crew->bound()) {
        throw std::runtime_error("the system does not let threads bind themselves to CPUs");
    }
    contest.family = std::move(family);
    return contest;
}

/// A tenth of a nanosecond is finer than anything that repeats.
double rounded(double value_ns) {
    return std::round(value_ns * 10) / 10;
}

nlohmann::ordered_json number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// Agreement over the contests that `belongs` picks.
template <class Belongs>
nlohmann::ordered_json agreement(const std::vector<Contest>& contests, Belongs belongs) {
    std::vector<double> predicted;
    std::vector<double> measured;
    std::vector<double> errors;
    for (const auto& contest : contests) {
        if (belongs(contest) && !contest.samples.empty()) {
            predicted.push_back(contest.predicted_ns);
            measured.push_back(quartiles(contest.samples).median);
            errors.push_back(std::abs(predicted.back() / measured.back() - 1));
        }
    }
    return {{"plans", predicted.size()},
            {"spearman", number(spearman(predicted, measured))},
            {"median_relative_error", number(quartiles(errors).median)}};
}

void print_contests(const std::vector<Contest>& contests, const Machine& machine) {
    for (const auto& contest : contests) {
        const auto measured = quartiles(contest.samples);
        print_line(nlohmann::ordered_json{{"type", "prediction"},
                                          {"op", to_string(contest.what.op)},
                                          {"plan", contest.family.name},
                                          {"ranks", contest.what.ranks},
                                          {"bytes", contest.what.bytes},
                                          {"messages", message_count(contest.family.at(0))},
                                          {"predicted_ns", rounded(contest.predicted_ns)},
                                          {"own_work_ns", rounded(contest.own_work_ns)},
                                          {"simulated_on", machine.name},
                                          {"measured_ns", rounded(measured.median)},
                                          {"q25", rounded(measured.q25)},
                                          {"q75", rounded(measured.q75)},
                                          {"slots", contest.samples.size()}}
                       .dump());
    }
    nlohmann::ordered_json summary{{"type", "prediction-summary"},
                                   {"model", machine.name},
                                   {"model_source", machine.source},
                                   {"model_sha256", machine_sha256(machine)}};
    summary.update(agreement(contests, [](const Contest&) { return true; }));
    for (const Operation op : {Operation::barrier, Operation::broadcast}) {
        summary[std::string(to_string(op))] =
            agreement(contests, [op](const Contest& contest) { return contest.what.op == op; });
    }
    summary["comparable"] =
        "Plans of 2 to min(8, CPUs) ranks, each on a CPU of its own, differing in messages, order, "
        "mechanism and blocks. With more ranks than CPUs the scheduler decides, which a model of "
        "messages does not claim to foresee, so such plans are left out. Predicted is the "
        "simulated time of one operation in a long sequence, as it is measured, and the measured "
        "time in which a root writes its payload and a rank reads it (own_work_ns).";
    print_line(summary.dump());
}

std::vector<Contest> prepare(const Options& options, const Machine& machine) {
    const auto pus = usable_pus(machine);
    if (pus.size() < 2) {
        throw std::runtime_error("a prediction needs at least 2 CPUs that the model knows");
    }
    const double unit_ns = machine.unit == TimeUnit::nanoseconds ? 1.0 : machine.unit_ns;
    if (!std::isfinite(unit_ns)) {
        throw std::runtime_error("the model counts in cycles of unknown length (unit_ns)");
    }
    std::vector<Contest> contests;
    for (auto& family : plans_to_predict(machine, pus, options.plans, options.seed)) {
        const double predicted = steady_prediction(family, machine, pus) * unit_ns;
        contests.push_back(contest_of(std::move(family), predicted));
    }
    return contests;
}

} // namespace

int predict(const Options& options) {
    const std::int64_t begin = wall_ns();
    const auto total_ns = static_cast<std::int64_t>(options.seconds * 1e9);
    const Machine machine = machine_for(options);
    print_run_line(options);
    auto contests = prepare(options, machine);
    const double slot_ns = options.slot_ms > 0 ? options.slot_ms * 1e6 : 5e6;
    std::mt19937_64 random(options.seed);
    take_turns(contests.size(), random, [&](std::size_t index) {
        if (wall_ns() - begin >= total_ns) {
            return Turn::over;
        }
        contests[index].slot(slot_ns);
        print_progress(static_cast<double>(wall_ns() - begin) / static_cast<double>(total_ns),
                       "plans simulated and measured");
        return Turn::taken;
    });
    print_contests(contests, machine);
    print_progress(1, "done");
    return 0;
}

} // namespace corymb::bench
