// SPDX-License-Identifier: Apache-2.0
#include "predict.hpp"

#include "../../engine/turns.hpp"
#include "../driver/output.hpp"
#include "../statistics.hpp"
#include "../worker/slot.hpp"
#include "../worker/workload.hpp"
#include "mailbox_task.hpp"
#include "operation_task.hpp"
#include "plans.hpp"

#include <corymb/discover.hpp>
#include <corymb/machine.hpp>
#include <corymb/mailbox_model.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
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

/// Time of one call, the fastest of some turns.
template <class Work>
double fastest_ns(const Work& work) {
    constexpr int turns = 21;
    constexpr std::int64_t turn_ns = 200'000;
    double best_ns = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < turns; ++turn) {
        const std::int64_t begin = wall_ns();
        int calls = 0;
        while (wall_ns() - begin < turn_ns) {
            for (int i = 0; i < 8; ++i, ++calls) {
                work();
                std::atomic_signal_fence(std::memory_order_seq_cst); // Each call is a new one.
            }
        }
        best_ns = std::min(best_ns, static_cast<double>(wall_ns() - begin) / calls);
    }
    return best_ns;
}

/// What the ranks do besides, one after the other: one writes so many parts, another reads so many.
/// On a CPU that has them in its cache.
double own_work_of(const PartsOf& parts, std::size_t bytes) {
    if (bytes < sizeof(double)) {
        return 0; // A barrier.
    }
    const std::size_t count = bytes / sizeof(double);
    const Payload written(parts.input * count);
    const Payload read(parts.output * count);
    return fastest_ns([&] { written.fill(1); }) + fastest_ns([&] {
               if (!read.is_all(0)) {
                   throw std::logic_error("a payload of zeros has another value");
               }
           });
}

/// What a prediction is about.
struct Subject {
    std::string op;   ///< The operation's name, or "mailbox".
    std::string plan; ///< Or the mailbox's protocol.
    int ranks = 2;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0; ///< In one operation.
};

/// One subject while it is measured.
struct Contest {
    Subject subject;
    double predicted_ns = 0; ///< With own_work_ns.
    double own_work_ns = 0;
    std::unique_ptr<Workload> workload;
    std::unique_ptr<Crew> crew;
    std::uint64_t operations = 1;
    std::vector<double> samples;

    void enter() {
        const auto cpus = placement(subject.ranks);
        crew = std::make_unique<Crew>(subject.ranks, cpus);
        crew->run(guarded([this](int rank) { workload->enter(rank); }));
        if (!crew->bound()) {
            throw std::runtime_error("the system does not let threads bind themselves to CPUs");
        }
    }
    void slot(double slot_ns) {
        const RunAll run_all = [this](const Job& job) {
            crew->run(guarded(job));
        };
        Case what;
        what.ranks = subject.ranks;
        const SlotResult result = run_slot(what, *workload, run_all, operations);
        if (result.wrong != 0) {
            throw std::runtime_error(subject.op + ": plan \"" + subject.plan +
                                     "\" gave wrong results");
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

Contest contest_of(const PlanFamily& family, double simulated_ns) {
    const Measured measured{family.op, family.ranks(), family.bytes};
    Contest contest;
    contest.subject = {std::string(corymb::to_string(family.op)), family.name, family.ranks(),
                       family.bytes, message_count(family.at(0))};
    contest.own_work_ns = own_work_of(measured.most_parts(), measured.bytes);
    contest.predicted_ns = simulated_ns + contest.own_work_ns;
    const PlanSource plans = [family](const PlanNeed& need) {
        Plan plan = family.at(need.root);
        // The team asks for the largest payload of a size class.
        plan.bytes_max = std::max(plan.bytes_max, need.bytes);
        return plan;
    };
    Case what;
    what.ranks = measured.ranks;
    contest.workload = std::make_unique<Looped<OperationTask::Group>>(
        what, measured, placement(measured.ranks), plans);
    contest.enter();
    return contest;
}

/// A round trip between two mailboxes.
Contest contest_of(MailboxProtocol protocol, std::size_t bytes, double simulated_ns) {
    Contest contest;
    contest.subject = {"mailbox", to_string(protocol), 2, bytes, 2};
    contest.own_work_ns = 2 * own_work_of({1, 1}, bytes);
    contest.predicted_ns = simulated_ns + contest.own_work_ns;
    contest.workload = std::make_unique<Looped<MailboxTask::Group>>(Case(), protocol, bytes);
    contest.enter();
    return contest;
}

/// A tenth of a nanosecond is finer than anything that repeats.
double rounded(double value_ns) {
    return std::round(value_ns * 10) / 10;
}

nlohmann::ordered_json number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// What a contest has come to.
struct Result {
    double predicted;
    Quartiles measured;
};

/// Those whose quartiles do not overlap, from the fastest on: what is no faster and no slower has
/// no order.
std::vector<Result> apart(std::vector<Result> results) {
    std::ranges::sort(results, std::ranges::less{},
                      [](const Result& result) { return result.measured.median; });
    std::vector<Result> kept;
    for (const Result& result : results) {
        if (kept.empty() || result.measured.q25 > kept.back().measured.q75) {
            kept.push_back(result);
        }
    }
    return kept;
}

double rank_correlation(const std::vector<Result>& results) {
    std::vector<double> predicted;
    std::vector<double> measured;
    for (const Result& result : results) {
        predicted.push_back(result.predicted);
        measured.push_back(result.measured.median);
    }
    return spearman(predicted, measured);
}

/// Agreement over the contests of one operation, or of all of them.
nlohmann::ordered_json agreement(const std::vector<Contest>& contests, const std::string& op = "") {
    std::vector<Result> results;
    std::vector<double> errors;
    for (const auto& contest : contests) {
        if ((op.empty() || contest.subject.op == op) && !contest.samples.empty()) {
            const Quartiles measured = quartiles(contest.samples);
            errors.push_back(std::abs(contest.predicted_ns / measured.median - 1));
            results.push_back({contest.predicted_ns, measured});
        }
    }
    const std::vector<Result> distinct = apart(results);
    return {{"plans", results.size()},
            {"plans_apart", distinct.size()},
            {"spearman", number(rank_correlation(distinct))},
            {"median_relative_error", number(quartiles(errors).median)}};
}

void print_contests(const std::vector<Contest>& contests, const Machine& machine) {
    for (const auto& contest : contests) {
        const auto measured = quartiles(contest.samples);
        print_line(nlohmann::ordered_json{{"type", "prediction"},
                                          {"op", contest.subject.op},
                                          {"plan", contest.subject.plan},
                                          {"ranks", contest.subject.ranks},
                                          {"bytes", contest.subject.bytes},
                                          {"messages", contest.subject.messages},
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
    summary.update(agreement(contests));
    int ranks_most = 0;
    for (const Contest& contest : contests) {
        ranks_most = std::max(ranks_most, contest.subject.ranks);
        if (!summary["by_op"].contains(contest.subject.op)) {
            summary["by_op"][contest.subject.op] = agreement(contests, contest.subject.op);
        }
    }
    summary["ranks_most"] = ranks_most;
    summary["comparable"] =
        "Plans of 2 to min(8, CPUs) ranks, each on a CPU of its own, differing in messages, order, "
        "mechanism and blocks; round trips between two mailboxes. With more ranks than CPUs the "
        "scheduler decides, which a model of "
        "messages does not claim to foresee, so such plans are left out. Predicted is the "
        "simulated time of one operation in a long sequence, as it is measured, and the measured "
        "time in which a rank writes its input and one reads its result (own_work_ns). The rank "
        "correlation is over plans whose quartiles do not overlap.";
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
    for (const auto& family : plans_to_predict(machine, pus, options.plans, options.seed)) {
        const double predicted = steady_prediction(family, machine, pus) * unit_ns;
        contests.push_back(contest_of(family, predicted));
    }
    const std::vector<int> ends = {pus[0], pus[1]};
    for (const auto protocol :
         {MailboxProtocol::ring, MailboxProtocol::nvp, MailboxProtocol::srbp}) {
        for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{256}}) {
            const MailboxScenario scenario{.protocol = protocol, .message_bytes = bytes};
            contests.push_back(contest_of(protocol, bytes,
                                          simulate_round_trip(machine, ends, scenario) * unit_ns));
        }
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
