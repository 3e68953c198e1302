// SPDX-License-Identifier: Apache-2.0
// Runs a plan on a team of threads and takes the time of every rank. This is for looking at plans
// (`corymb demo`, the straggler strip), not for benchmarks against other libraries: bench/ is.
#include "bindings.hpp"

#include <corymb/operators.hpp>
#include <corymb/planner.hpp>
#include <corymb/team.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <utility>

namespace corymb::python {

namespace {

using Clock = std::chrono::steady_clock;
using Table = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

/// What the ranks of one run share. The ranks meet at `meeting` before each repetition, so that
/// nothing but their own times is shared while the operation runs.
struct Run {
    Run(const Plan& plan_to_run, std::size_t repetition_count, std::uint64_t payload_bytes)
        : plan(plan_to_run), repetitions(repetition_count),
          elements(std::max<std::size_t>(1, payload_bytes / sizeof(double))),
          ranks(static_cast<std::size_t>(plan_to_run.size())), meeting(plan_to_run.size()),
          entry(ranks * repetition_count), exit(ranks * repetition_count) {}

    const Plan& plan;
    std::size_t repetitions, elements, ranks;
    std::barrier<> meeting;
    std::vector<double> entry, exit; ///< [rank * repetitions + repetition], ns from `origin`.
    Clock::time_point origin = Clock::now();
    Clock::duration time_limit{};
    std::atomic<std::size_t> wrong{0};
    std::atomic<bool> stop{false};
    std::size_t done = 0; ///< Written by rank 0 alone.
};

double since(Clock::time_point origin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - origin).count();
}

/// The operation of the plan on `data`, which holds rank + repetition in every element.
void operate(Team& team, const Plan& plan, const std::vector<double>& input,
             std::vector<double>& output) {
    switch (plan.op) {
    case Collective::barrier: team.barrier(); break;
    case Collective::broadcast: team.broadcast(std::span<double>(output), plan.root); break;
    case Collective::reduce:
        team.reduce(std::span<const double>(input), std::span<double>(output), std::plus<>{},
                    plan.root);
        break;
    case Collective::allreduce:
        team.allreduce(std::span<const double>(input), std::span<double>(output), std::plus<>{});
        break;
    default: break; // Refused by run_plan.
    }
}

/// What every element of `output` must hold afterwards on this rank; the sums are exact in double.
bool correct(const Run& run, int rank, std::size_t repetition, const std::vector<double>& output) {
    const auto round = static_cast<double>(repetition);
    const auto n = static_cast<double>(run.ranks);
    const bool has_result = run.plan.op != Collective::reduce || rank == run.plan.root;
    if (run.plan.op == Collective::barrier || !has_result) {
        return true;
    }
    const double expected =
        run.plan.op == Collective::broadcast ? run.plan.root + round : n * round + n * (n - 1) / 2;
    return std::all_of(output.begin(), output.end(),
                       [expected](double value) { return value == expected; });
}

void run_rank(Team& team, Run& run, ProgressBridge& bridge) {
    const int rank = team.rank();
    std::vector<double> input(run.elements);
    std::vector<double> output(run.elements);
    const auto end = run.origin + run.time_limit;
    auto next_report = run.origin;
    for (std::size_t repetition = 0; repetition < run.repetitions; ++repetition) {
        if (rank == 0 && Clock::now() >= next_report) {
            const double done =
                static_cast<double>(repetition) / static_cast<double>(run.repetitions);
            const bool go_on = bridge.report(done, "running the plan") && Clock::now() < end;
            run.stop.store(!go_on, std::memory_order_relaxed);
            next_report = Clock::now() + std::chrono::milliseconds(100);
        }
        input.assign(run.elements, rank + static_cast<double>(repetition));
        output = input;
        run.meeting.arrive_and_wait();
        if (run.stop.load(std::memory_order_relaxed)) {
            return;
        }
        const std::size_t slot = static_cast<std::size_t>(rank) * run.repetitions + repetition;
        run.entry[slot] = since(run.origin);
        try {
            operate(team, run.plan, input, output);
        } catch (...) {
            run.meeting.arrive_and_drop(); // The others must not wait for this rank.
            throw;
        }
        run.exit[slot] = since(run.origin);
        if (!correct(run, rank, repetition, output)) {
            run.wrong.fetch_add(1, std::memory_order_relaxed);
        }
        if (rank == 0) {
            run.done = repetition + 1;
        }
        // Rank 0 may set `stop` for the next repetition only once everybody has read it.
        run.meeting.arrive_and_wait();
    }
}

/// The repetitions that were done, by [rank, repetition].
nb::object to_numpy(const Run& run, const std::vector<double>& values) {
    auto memory = std::make_unique<double[]>(run.ranks * run.done);
    for (std::size_t rank = 0; rank < run.ranks; ++rank) {
        const double* row = values.data() + rank * run.repetitions;
        std::copy(row, row + run.done, memory.get() + rank * run.done);
    }
    double* data = memory.release();
    const nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<double*>(held); });
    return nb::cast(Table(data, {run.ranks, run.done}, owner));
}

nb::dict run_plan(const Plan& plan, std::vector<int> cpus, std::size_t repetitions,
                  std::uint64_t bytes, double seconds, nb::object progress) {
    if (plan.size() < 1 || repetitions < 1 || !(seconds > 0 && seconds <= 1e6)) {
        throw nb::value_error("a run needs a rank, a repetition and a time limit");
    }
    if (has_parts(plan.op) || plan.op == Collective::scan || plan.op == Collective::exscan) {
        throw nb::value_error("run_plan runs barrier, broadcast, reduce and allreduce only");
    }
    ProgressBridge bridge(std::move(progress));
    Run run(plan, repetitions, bytes);
    run.time_limit =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    TeamOptions options;
    options.pin = !cpus.empty();
    options.cpus = std::move(cpus);
    options.plans = [&plan](const PlanNeed&) {
        return plan;
    };
    {
        const nb::gil_scoped_release unlocked;
        check_plan(plan);
        threads(plan.size(), [&](Team& team) { run_rank(team, run, bridge); }, options);
    }
    bridge.rethrow();
    nb::dict result;
    result["entry"] = to_numpy(run, run.entry);
    result["exit"] = to_numpy(run, run.exit);
    result["wrong"] = run.wrong.load(std::memory_order_relaxed);
    return result;
}

} // namespace

void bind_run(nb::module_& module) {
    module.def(
        "run_plan", &run_plan, nb::arg("plan"), nb::kw_only(), nb::arg("cpus") = std::vector<int>{},
        nb::arg("repetitions") = std::size_t{1000}, nb::arg("bytes") = std::uint64_t{8},
        nb::arg("seconds") = 10.0, nb::arg("progress") = nb::none(),
        nb::sig("def run_plan(plan: Plan, *, cpus: collections.abc.Sequence[int] = [], "
                "repetitions: int = 1000, bytes: int = 8, seconds: float = 10.0, progress: "
                "collections.abc.Callable[[float, str], bool | None] | None = None) "
                "-> dict[str, typing.Any]"),
        "Proves the plan, runs it on a team of threads (bound to `cpus` if given) and "
        "checks every result. Ends after `seconds` at the latest. Returns 'entry' and 'exit', ns "
        "by [rank, repetition done], and 'wrong', the number of wrong results.");
}

} // namespace corymb::python
