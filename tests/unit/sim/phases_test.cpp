// SPDX-License-Identifier: Apache-2.0
// The recurrence over a plan's steps beside the full simulation, and what delays of one rank do.
#include "../test_cluster.hpp"

#include <corymb/error.hpp>
#include <corymb/phases.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;

Plan plan_for(const Cluster& cluster, Collective op) {
    PlanRequest request;
    request.op = op;
    return make_plan(cluster, request).plan;
}

PhaseOptions one_phase() {
    PhaseOptions options;
    options.compute_ns = 0;
    options.phases = 1;
    return options;
}

TEST(Phases, WithoutNoiseAreTheFullSimulation) {
    for (const auto& [nodes, ranks] : {std::pair{1, 16}, {2, 8}, {5, 3}, {8, 16}}) {
        const Cluster cluster = cluster_of(nodes, ranks);
        for (const Collective op : {Collective::barrier, Collective::broadcast,
                                    Collective::allreduce, Collective::allgather}) {
            const Plan plan = plan_for(cluster, op);
            const Timeline full = simulate(plan, cluster);
            const PhaseTimes lean = Phases(plan, cluster).run(one_phase());
            for (std::size_t rank = 0; rank < full.finish.size(); ++rank) {
                EXPECT_NEAR(lean.finish_ns[rank], full.finish[rank], 1e-6 * full.makespan);
            }
        }
    }
}

/// Mean makespans of replays by the recurrence, over those by the full simulation.
double mean_ratio(const Cluster& cluster, Collective op, const Noise& noise) {
    const Plan plan = plan_for(cluster, op);
    const Phases phases(plan, cluster);
    constexpr int replays = 200;
    double lean = 0;
    double full = 0;
    const std::vector<double> times = noisy_makespans(plan, cluster, 8, noise, replays);
    for (std::uint64_t replay = 0; replay < replays; ++replay) {
        full += times[replay];
        lean += phases.run(one_phase(), noise, replay).phase_ns.front();
    }
    return lean / full;
}

TEST(Phases, UnderNoiseFollowTheFullSimulation) {
    const std::vector<Noise> kinds{Noise::periodic(20'000, 1000), Noise::random(10'000, 2000)};
    for (const Noise& noise : kinds) {
        for (const Collective op : {Collective::barrier, Collective::allreduce}) {
            // Within a node nothing is approximated but the lines that several readers take.
            EXPECT_NEAR(mean_ratio(cluster_of(1, 16), op, noise), 1, 0.02) << to_string(op);
            // Between nodes messages share links as without noise.
            EXPECT_NEAR(mean_ratio(cluster_of(6, 4), op, noise), 1, 0.03) << to_string(op);
        }
    }
}

/// How much later the other ranks end a phase when a rank stops, in parts of its stop.
double seen_by_others(const Phases& phases, PhaseOptions options, Rank delayed, double delay_ns) {
    options.phases = 1;
    const PhaseTimes before = phases.run(options);
    options.delayed = delayed;
    options.delay_ns = delay_ns;
    const PhaseTimes after = phases.run(options);
    double sum = 0;
    for (Rank rank = 0; rank < phases.size(); ++rank) {
        const auto place = static_cast<std::size_t>(rank);
        sum += rank == delayed ? 0 : after.finish_ns[place] - before.finish_ns[place];
    }
    return sum / ((phases.size() - 1) * delay_ns);
}

TEST(Phases, BlockingFormsPassADelayOnAndOthersHideIt) {
    const Cluster cluster = cluster_of(4, 4);
    const Phases phases(plan_for(cluster, Collective::barrier), cluster);
    PhaseOptions options;
    options.compute_ns = 1e6;
    EXPECT_NEAR(seen_by_others(phases, options, 0, 5e5), 1, 0.01);
    for (const CallForm form : {CallForm::nonblocking, CallForm::persistent, CallForm::aligned}) {
        options.form = form;
        EXPECT_EQ(seen_by_others(phases, options, 0, 5e5), 0) << to_string(form);
        // Rank 0 passes messages of its node on. A stop of it that is longer than the computing
        // shows, less the computing that was left; one of a rank that only tells it does not.
        EXPECT_NEAR(seen_by_others(phases, options, 0, 5e6), 0.82, 0.01) << to_string(form);
        EXPECT_EQ(seen_by_others(phases, options, 1, 5e6), 0) << to_string(form);
    }
}

TEST(Phases, AlignedPhasesAbsorbShortStops) {
    const Cluster cluster = cluster_of(2, 4);
    const Phases phases(plan_for(cluster, Collective::barrier), cluster);
    PhaseOptions options;
    options.form = CallForm::aligned;
    options.phases = 10;
    options.slack = 0.5;
    const PhaseTimes quiet = phases.run(options);
    options.delayed = 3;
    options.delay_ns = 0.2 * options.compute_ns;
    EXPECT_EQ(phases.run(options).finish_ns, quiet.finish_ns);
}

TEST(Phases, DependOnSeedAndReplayAlone) {
    const Cluster cluster = cluster_of(3, 4);
    const Phases phases(plan_for(cluster, Collective::allreduce), cluster);
    Noise noise = Noise::random(50'000, 5'000);
    const PhaseOptions options;
    const auto once = phases.run(options, noise, 3).phase_ns;
    EXPECT_EQ(once.size(), 100);
    EXPECT_EQ(once, phases.run(options, noise, 3).phase_ns);
    EXPECT_NE(once, phases.run(options, noise, 4).phase_ns);
    noise.seed = 2;
    EXPECT_NE(once, phases.run(options, noise, 3).phase_ns);
}

TEST(Phases, RefuseWhatTheyCannotDo) {
    const Cluster cluster = cluster_of(2, 2);
    const Plan plan = plan_for(cluster, Collective::barrier);
    const Phases phases(plan, cluster);
    const auto refused = [&](auto change) {
        PhaseOptions options;
        change(options);
        EXPECT_THROW((void)phases.run(options), Error);
    };
    refused([](PhaseOptions& options) { options.phases = 0; });
    refused([](PhaseOptions& options) { options.looks = 0; });
    refused([](PhaseOptions& options) { options.compute_ns = -1; });
    refused([](PhaseOptions& options) { options.delayed = 4; });
    refused([](PhaseOptions& options) { options.slack = -1; });
    EXPECT_THROW((void)phases.run({}, Noise::periodic(1, 2)), Error);
    EXPECT_THROW(Phases(plan, cluster_of(2, 3)), Error);
    EXPECT_EQ(call_form_from_string("aligned"), CallForm::aligned);
    EXPECT_THROW((void)call_form_from_string("late"), Error);
}

} // namespace
