// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/step_kind.hpp"
#include "sim/interruptions.hpp"

#include <corymb/error.hpp>
#include <corymb/phases.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace corymb {

namespace {

using plan::no_step;
using plan::StepNumber;

constexpr std::array forms{CallForm::blocking, CallForm::nonblocking, CallForm::persistent,
                           CallForm::aligned};

std::size_t index(Rank rank) {
    return static_cast<std::size_t>(rank);
}

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, what);
}

/// Notes the order in which an execution performs the steps.
struct Order {
    std::vector<StepNumber> steps;
    void perform(StepNumber number) { steps.push_back(number); }
    void complete(StepNumber /*number*/) {}
};

void check(const PhaseOptions& options, Rank ranks) {
    const auto is_time = [](double value) {
        return value >= 0 && value <= 1e15;
    };
    if (!is_time(options.compute_ns) || !is_time(options.start_ns) || !is_time(options.delay_ns)) {
        refuse("times of phases must be 0 to 1e15 ns");
    }
    if (options.phases < 1 || options.phases > 1'000'000) {
        refuse(std::to_string(options.phases) + " phases; there are from 1 to 1,000,000");
    }
    if (options.looks < 1 || options.looks > 1'000'000) {
        refuse(std::to_string(options.looks) + " looks; there are from 1 to 1,000,000");
    }
    if (!(options.slack >= 0 && options.slack <= 100)) {
        refuse("the slack of a period must be 0 to 100");
    }
    if (options.delayed < -1 || options.delayed >= ranks) {
        refuse("rank " + std::to_string(options.delayed) +
               " is to be late, but the ranks are 0 to " + std::to_string(ranks - 1));
    }
}

} // namespace

const char* to_string(CallForm form) noexcept {
    switch (form) {
    case CallForm::blocking: return "blocking";
    case CallForm::nonblocking: return "nonblocking";
    case CallForm::persistent: return "persistent";
    case CallForm::aligned: return "aligned";
    }
    return "";
}

CallForm call_form_from_string(std::string_view name) {
    for (const CallForm form : forms) {
        if (name == to_string(form)) {
            return form;
        }
    }
    throw Error(Errc::unknown_name,
                "no form of a call is \"" + std::string(name.substr(0, 60)) +
                    "\"; there are blocking, nonblocking, persistent and aligned");
}

/// The steps of a plan in an order in which each comes behind those that it waits for.
struct Phases::Compiled {
    /// What a step waits for: the end of another one, and the time from there.
    struct Source {
        std::uint32_t place;
        double latency_ns;
    };

    /// A step of a rank.
    struct Work {
        Rank rank;
        std::uint32_t sources_end; ///< In `sources`; they begin where those of the step before end.
        double ns;
    };

    Rank ranks = 0;
    std::vector<Work> work;
    std::vector<Source> sources;

    Compiled(const Plan& plan, const Cluster& cluster, std::uint64_t bytes);

    template <class Runs>
    [[nodiscard]] PhaseTimes run(const PhaseOptions& options, const Runs& runs,
                                 double period_ns) const;

private:
    [[nodiscard]] double latency(const Activity& activity, double sent, bool is_far,
                                 double start_up_ns) const;
};

/// A rank that waited for a message shows how long that was under way. If it came later, only the
/// network's start-up is known.
double Phases::Compiled::latency(const Activity& activity, double sent, bool is_far,
                                 double start_up_ns) const {
    const double most = activity.begin - sent;
    return activity.begin > activity.wait_from ? most : std::min(is_far ? start_up_ns : 0.0, most);
}

Phases::Compiled::Compiled(const Plan& plan, const Cluster& cluster, std::uint64_t bytes)
    : ranks(plan.size()) {
    const Timeline quiet = simulate(plan, cluster, bytes, true);
    const plan::Matching matching(plan);
    Order order;
    plan::Execution(matching, order).run();
    std::vector<std::uint32_t> place(matching.step_count(), 0);
    const std::vector<NodePlace> places = cluster.places();
    const std::vector<int> network = cluster.network_of_node();
    const auto activity_of = [&](StepNumber number) -> const Activity& {
        return quiet.ranks[index(matching.rank_of(number))][matching.index_of(number)];
    };
    work.reserve(order.steps.size());
    for (const StepNumber number : order.steps) {
        if (matching.is_rendezvous(number)) {
            refuse("phases are simulated for short payloads; this plan sends messages that are "
                   "longer than a slot of a channel");
        }
        const Rank rank = matching.rank_of(number);
        const Activity& activity = activity_of(number);
        const StepNumber room = matching.needs_room(number);
        if (plan::has_source(matching.step(number).kind)) {
            const StepNumber source = matching.partner(number);
            const int here = places[index(rank)].node;
            const int there = places[index(matching.rank_of(source))].node;
            const double start_up = network_between(cluster.networks[index(network[index(here)])],
                                                    cluster.networks[index(network[index(there)])])
                                        .start_up_ns;
            sources.push_back({place[source], latency(activity, activity_of(source).end,
                                                      here != there, start_up)});
        } else if (room != no_step && matching.step(number).kind == StepKind::publish) {
            for (const StepNumber reader : matching.readers(room)) {
                sources.push_back({place[reader], 0});
            }
        } else if (room != no_step) {
            sources.push_back({place[room], 0});
        }
        place[number] = static_cast<std::uint32_t>(work.size());
        work.push_back(
            {rank, static_cast<std::uint32_t>(sources.size()), activity.end - activity.begin});
    }
}

template <class Runs>
PhaseTimes Phases::Compiled::run(const PhaseOptions& options, const Runs& runs,
                                 double period_ns) const {
    const bool is_blocking = options.form == CallForm::blocking;
    const int looks = is_blocking ? 1 : options.looks;
    const double stretch = options.compute_ns / looks;
    std::vector<double> clock(index(ranks), 0);
    std::vector<int> left(index(ranks), 0); // Stretches of computing in this phase.
    std::vector<double> ended(work.size());
    PhaseTimes times;
    double last = 0;
    double delay = options.delay_ns;
    const auto compute = [&](Rank rank) {
        double& now = clock[index(rank)];
        now = runs.run(rank, now, stretch);
        --left[index(rank)];
        if (rank == options.delayed) {
            now += std::exchange(delay, 0.0);
        }
    };
    for (int phase = 0; phase < options.phases; ++phase) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            double& now = clock[index(rank)];
            left[index(rank)] = looks;
            if (options.form == CallForm::aligned) {
                now = std::max(now, phase * period_ns);
            } else if (options.form == CallForm::nonblocking) {
                now = runs.run(rank, now, options.start_ns);
            } else if (is_blocking) {
                compute(rank);
            }
        }
        std::uint32_t source = 0;
        for (std::size_t place = 0; place < work.size(); ++place) {
            const Work& step = work[place];
            double there = 0;
            for (; source < step.sources_end; ++source) {
                there = std::max(there, ended[sources[source].place] + sources[source].latency_ns);
            }
            double& now = clock[index(step.rank)];
            while (now < there && left[index(step.rank)] > 0) {
                compute(step.rank);
            }
            now = runs.run(step.rank, std::max(now, there), step.ns);
            ended[place] = now;
        }
        for (Rank rank = 0; rank < ranks; ++rank) {
            while (left[index(rank)] > 0) {
                compute(rank);
            }
        }
        const double end = *std::ranges::max_element(clock);
        times.phase_ns.push_back(end - last);
        last = end;
    }
    times.finish_ns = std::move(clock);
    return times;
}

Phases::Phases(const Plan& plan, const Cluster& cluster, std::uint64_t bytes)
    : compiled_(std::make_shared<const Compiled>(plan, cluster, bytes)) {}

PhaseTimes Phases::run(const PhaseOptions& options, const Noise& noise,
                       std::uint64_t replay) const {
    check(options, compiled_->ranks);
    noise.check();
    double period = 0;
    if (options.form == CallForm::aligned) {
        PhaseOptions quiet = options;
        quiet.form = CallForm::persistent;
        quiet.phases = 2; // The second one begins as all later ones do.
        quiet.delayed = -1;
        period = compiled_->run(quiet, sim::undisturbed, 0).phase_ns.back() * (1 + options.slack);
    }
    return noise.present()
               ? compiled_->run(options, sim::Interruptions(noise, compiled_->ranks, replay, 1),
                                period)
               : compiled_->run(options, sim::undisturbed, period);
}

Rank Phases::size() const noexcept {
    return compiled_->ranks;
}

std::uint64_t Phases::step_count() const noexcept {
    return compiled_->work.size();
}

} // namespace corymb
