// SPDX-License-Identifier: Apache-2.0
// Discovery of machines that are not here, replayed from the gallery.
#include "machine/discover/statistics.hpp"
#include "machine/discover/survey.hpp"
#include "replay_probe.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace corymb::discover {
namespace {

double cost(const Machine& machine, int from, int to) {
    return machine.send_cost(from, to) + machine.receive_cost(from, to);
}

/// Relative errors of the model against the truth behind the probe, over all ordered pairs.
std::vector<double> errors(const Machine& model, const ReplayProbe& probe) {
    std::vector<double> result;
    for (int a = 0; a < model.size(); ++a) {
        for (int b = 0; b < model.size(); ++b) {
            const double truth = a == b ? 0 : probe.truth(a, b);
            if (truth > 0) {
                result.push_back(std::abs(cost(model, a, b) - truth) / truth);
            }
        }
    }
    return result;
}

/// Errors of class medians: each against the median truth of all pairs that the model puts in it.
std::vector<double> class_errors(const Machine& model, const ReplayProbe& probe) {
    std::map<int, std::vector<double>> truths;
    for (int a = 0; a < model.size(); ++a) {
        for (int b = 0; b < model.size(); ++b) {
            if (a != b && probe.truth(a, b) > 0) {
                truths[model.class_of(a, b)].push_back(probe.truth(a, b));
            }
        }
    }
    std::vector<double> result;
    for (const auto& [index, values] : truths) {
        const PairClass& pair_class = model.classes[static_cast<std::size_t>(index)];
        const double middle = median(values);
        result.push_back(std::abs(pair_class.send.median + pair_class.receive.median - middle) /
                         middle);
    }
    return result;
}

/// The levels of a made-up machine: costs in nanoseconds by the nearest common object.
Machine nested_machine(const std::string& synthetic) {
    Machine machine = topology_from_synthetic(synthetic);
    const auto n = static_cast<std::size_t>(machine.size());
    std::vector<float> send(n * n);
    std::vector<float> receive(n * n);
    for (int a = 0; a < machine.size(); ++a) {
        for (int b = 0; b < machine.size(); ++b) {
            if (a != b) {
                const std::size_t entry =
                    static_cast<std::size_t>(a) * n + static_cast<std::size_t>(b);
                send[entry] = static_cast<float>(machine.send_cost(a, b));
                receive[entry] = static_cast<float>(machine.receive_cost(a, b));
            }
        }
    }
    machine.send = send;
    machine.receive = receive;
    return machine;
}

TEST(SurveyAllPairs, TwoPusHaveOneClass) {
    const Machine truth = nested_machine("pack:1 l3:1 core:2 pu:1");
    ReplayProbe probe(truth, {});
    Machine model = blank_machine(2);
    const SurveyReport report = survey(model, probe, {});
    EXPECT_TRUE(report.complete);
    ASSERT_EQ(report.pairs_measured, 1u);
    ASSERT_EQ(model.classes.size(), 1u);
    EXPECT_NEAR(cost(model, 0, 1), probe.truth(0, 1), 0.05 * probe.truth(0, 1));
    EXPECT_NEAR(cost(model, 1, 0), probe.truth(1, 0), 0.05 * probe.truth(1, 0));
    EXPECT_NO_THROW(model.check());
}

TEST(SurveyAllPairs, FindsTheMatrixUnderNoise) {
    const Machine truth = nested_machine("pack:2 l3:2 core:4 pu:1");
    ReplayNoise noise;
    noise.asymmetry = 0.3;
    noise.dropped = 0.2;
    noise.permuted = true;
    ReplayProbe probe(truth, noise);
    Machine model = blank_machine(truth.size());
    const SurveyReport report = survey(model, probe, {});
    EXPECT_EQ(report.pairs_measured, report.pairs_total);
    EXPECT_NEAR(static_cast<double>(report.dropped) / static_cast<double>(report.batches), 0.2,
                0.03);
    EXPECT_LT(median(errors(model, probe)), 0.05);
    EXPECT_GE(model.classes.size(), 3u);
    EXPECT_GT(model.quality.split_half_r, -1.0);
    EXPECT_NO_THROW(model.check());
}

TEST(SurveyAllPairs, ReliabilityTellsStructureFromNoise) {
    // All pairs alike: what differs between them is noise, and the matrix is drawn together.
    const Machine flat = nested_machine("pack:1 l3:1 core:16 pu:1");
    ReplayProbe probe(flat, {.batch = 0.10});
    Machine model = blank_machine(flat.size());
    survey(model, probe, {});
    EXPECT_LT(model.quality.split_half_r, 0.5);
    const std::vector<double> off = errors(model, probe);
    EXPECT_LT(*std::max_element(off.begin(), off.end()), 0.06);

    // A mesh has a cost of its own for each pair, and both passes agree on it.
    const Machine mesh = gallery_machine("graviton3-1s-64c");
    ReplayProbe quiet(mesh, {.batch = 0.01});
    Machine copy = blank_machine(mesh.size());
    survey(copy, quiet, {});
    EXPECT_GT(copy.quality.split_half_r, 0.8);
    EXPECT_LT(median(errors(copy, quiet)), 0.02);
}

TEST(SurveyAllPairs, BudgetLeavesPairsOutAndSaysSo) {
    const Machine truth = nested_machine("pack:2 core:16 pu:1");
    ReplayProbe probe(truth, {});
    Machine model = blank_machine(truth.size());
    SurveyOptions options;
    options.end_s = 0.3; // Six batches of 200 us for each of 496 pairs take 0.6 s.
    const SurveyReport report = survey(model, probe, options);
    EXPECT_FALSE(report.complete);
    EXPECT_LT(report.pairs_measured, report.pairs_total);
    EXPECT_LT(probe.elapsed_s(), options.end_s + 0.1);
    ASSERT_FALSE(model.quality.remarks.empty());
    EXPECT_NE(model.quality.remarks.front().find("budget"), std::string::npos);
    EXPECT_NO_THROW(model.check());
    EXPECT_GT(cost(model, 0, 31), 0);
}

TEST(SurveyAllPairs, InterruptionEndsItSoon) {
    const Machine truth = nested_machine("pack:2 core:16 pu:1");
    ReplayProbe probe(truth, {});
    probe.interrupt_after = 30;
    Machine model = blank_machine(truth.size());
    survey(model, probe, {});
    EXPECT_LE(probe.pair_count(), 7u);
}

TEST(SurveyAllPairs, NothingButInterruptionsGivesNoClasses) {
    const Machine truth = nested_machine("pack:1 core:4 pu:1");
    ReplayProbe probe(truth, {.dropped = 1.0});
    Machine model = blank_machine(truth.size());
    const SurveyReport report = survey(model, probe, {.end_s = 0.05});
    EXPECT_EQ(report.pairs_measured, 0u);
    EXPECT_TRUE(model.classes.empty());
    EXPECT_EQ(report.dropped, report.batches);
}

/// What the topology of a machine promises, at three times the usual costs.
Machine slow_machine(const std::string& synthetic) {
    Machine machine = nested_machine(synthetic);
    for (auto* const matrix : {&machine.send, &machine.receive}) {
        for (float& entry : *matrix) {
            entry *= 3;
        }
    }
    return machine;
}

/// Surveyed until it has looked at so many pairs, six batches each.
struct Interrupted {
    Interrupted(const Machine& truth, long pairs) : probe(truth, {.batch = 0.001}) {
        probe.interrupt_after = 6 * pairs;
        model.topology = truth.topology;
        survey(model, probe, {});
    }
    ReplayProbe probe;
    Machine model;
};

// Up to 64 PUs all pairs are measured, above that some of each class.
const char* const shapes_of_surveys[] = {"pack:2 numa:2 l3:2 core:3 pu:2",
                                         "pack:2 numa:2 l3:4 core:8 pu:2"};

TEST(Survey, MeasuresEachClassBeforeAnyTwice) {
    for (const char* const shape : shapes_of_surveys) {
        const Machine truth = slow_machine(shape);
        const auto classes = static_cast<long>(truth.classes.size());
        ASSERT_EQ(classes, 5) << shape;
        const Interrupted some(truth, classes);
        std::set<int> seen;
        for (const auto& [a, b] : some.probe.order()) {
            EXPECT_TRUE(seen.insert(truth.class_of(a, b)).second) << shape;
        }
        EXPECT_EQ(seen.size(), truth.classes.size()) << shape;
        // A pair that was not measured costs what its class does.
        const std::vector<double> off = errors(some.model, some.probe);
        EXPECT_LT(*std::max_element(off.begin(), off.end()), 0.05) << shape;
        EXPECT_NO_THROW(some.model.check());
    }
}

TEST(Survey, NamesClassesThatWereNotMeasured) {
    for (const char* const shape : shapes_of_surveys) {
        const Machine truth = slow_machine(shape);
        const Interrupted some(truth, 2);
        const Machine& model = some.model;
        EXPECT_NO_THROW(model.check());
        const auto& remarks = model.quality.remarks;
        const auto said = std::find_if(remarks.begin(), remarks.end(), [](const auto& text) {
            return text.starts_with("No pair of these classes");
        });
        ASSERT_NE(said, remarks.end()) << shape;
        // One core, one L3, one node, one package, two: farther pairs never cost less.
        double before = 0;
        for (const int other : {1, 2, truth.size() / 8, truth.size() / 4, truth.size() / 2}) {
            EXPECT_GE(cost(model, 0, other), before) << shape << ", " << other;
            before = cost(model, 0, other);
        }
        EXPECT_GT(before, 1.5 * cost(truth, 0, truth.size() / 2) / 3) << "not the usual costs";
    }
}

/// All pairs cost the same, whatever the topology says.
Machine uniform_costs(const std::string& synthetic) {
    Machine machine = nested_machine(synthetic);
    std::fill(machine.send.begin(), machine.send.end(), 30.0f);
    std::fill(machine.receive.begin(), machine.receive.end(), 100.0f);
    return machine;
}

TEST(SurveyAllPairs, MakesNoClassesOfNoise) {
    const Machine truth = uniform_costs("pack:2 core:6 pu:1");
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        ReplayProbe probe(truth, {.slow = 0.5}, seed);
        Machine model;
        model.topology = truth.topology;
        SurveyOptions options;
        options.end_s = 4 * 66 * 6 * 0.0002; // Two passes, about twelve batches a pair.
        options.seed = seed;
        survey(model, probe, options);
        for (int a = 0; a < model.size(); ++a) {
            for (int b = 0; b < model.size(); ++b) {
                if (a != b) { // Those of one class in the topology are of one class.
                    const int like = a / 6 == b / 6 ? 1 : 6;
                    EXPECT_EQ(model.class_of(a, b), model.class_of(0, like)) << "seed " << seed;
                }
            }
        }
    }
}

// The time of one look at each pair of twelve PUs, and of a second one at a few.
constexpr double short_s = 1.4 * 66 * 6 * 0.0002;

TEST(SurveyAllPairs, MakesNoClassesOfNoiseInOnePass) {
    const Machine truth = uniform_costs("pack:2 core:6 pu:1");
    int made_of_noise = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        ReplayProbe probe(truth, {.slow = 0.5}, seed);
        Machine model;
        model.topology = truth.topology;
        SurveyOptions options;
        options.end_s = short_s;
        options.seed = seed;
        survey(model, probe, options);
        std::map<int, std::set<int>> found; // Classes of the pairs of one class in the topology.
        for (int a = 0; a < model.size(); ++a) {
            for (int b = 0; b < model.size(); ++b) {
                if (a != b) {
                    found[a / 6 == b / 6].insert(model.class_of(a, b));
                }
            }
        }
        made_of_noise += found[0].size() + found[1].size() > 2;
    }
    EXPECT_LE(made_of_noise, 3) << "one in twenty is expected";
}

TEST(SurveyAllPairs, FindsStructureInOnePass) {
    const Machine truth = nested_machine("pack:2 core:6 pu:1");
    ReplayProbe probe(truth, {});
    Machine model = blank_machine(truth.size());
    survey(model, probe, {.end_s = short_s});
    EXPECT_NE(model.class_of(0, 1), model.class_of(0, 6));
    // A pair counts once for each of its directions.
    const auto& far = model.classes[static_cast<std::size_t>(model.class_of(0, 6))];
    EXPECT_LE(far.pairs_sampled, 72);
    EXPECT_GE(far.pairs_sampled, 60);
}

TEST(SurveyByClasses, UsesAndVerifiesTheTopology) {
    const Machine truth = nested_machine("pack:2 numa:2 l3:4 core:8 pu:2");
    ReplayProbe probe(truth, {});
    Machine model;
    model.topology = truth.topology;
    const SurveyReport report = survey(model, probe, {});
    EXPECT_TRUE(report.complete);
    EXPECT_LT(report.pairs_measured * 10, report.pairs_total);
    EXPECT_LT(median(errors(model, probe)), 0.03);
    const std::vector<double> off = errors(model, probe);
    EXPECT_LT(*std::max_element(off.begin(), off.end()), 0.10);
    EXPECT_TRUE(model.topology.disagreements.empty()) << model.topology.disagreements.front();
    EXPECT_NO_THROW(model.check());
}

TEST(SurveyByClasses, NoticesThatTheTopologyIsWrong) {
    const Machine truth = nested_machine("pack:2 l3:8 core:8 pu:1");
    ReplayProbe probe(truth, {});
    Machine model = blank_machine(truth.size());
    model.topology.source = "hwloc"; // As in a guest: two packages of one big L3 each.
    for (int pu = 0; pu < truth.size(); ++pu) {
        Pu& here = model.topology.pus[static_cast<std::size_t>(pu)];
        here.core = pu;
        here.package = here.l3 = here.numa = pu / 64;
    }
    survey(model, probe, {});
    EXPECT_FALSE(model.topology.disagreements.empty());
    EXPECT_LT(median(errors(model, probe)), 0.05);
}

TEST(SurveyByClasses, DirectionsOfAClassMayDiffer) {
    const Machine truth = nested_machine("pack:2 core:48 pu:1");
    ReplayProbe probe(truth, {.asymmetry = 0.5});
    Machine model;
    model.topology = truth.topology;
    survey(model, probe, {});
    EXPECT_NEAR(cost(model, 0, 95), probe.truth(0, 95), 0.1 * probe.truth(0, 95));
    EXPECT_NEAR(cost(model, 95, 0), probe.truth(95, 0), 0.1 * probe.truth(95, 0));
}

TEST(SurveyByClasses, EndsInTimeWithACompleteModel) {
    const Machine truth = gallery_machine("epyc-9754-2s-512t");
    for (const double end_s : {0.01, 0.1, 0.5}) {
        ReplayProbe probe(truth, {});
        Machine model = blank_machine(truth.size());
        SurveyOptions options;
        options.end_s = end_s;
        survey(model, probe, options);
        EXPECT_LT(probe.elapsed_s(), end_s + 0.05);
        EXPECT_NO_THROW(model.check());
    }
}

/// Prints the table of docs/explain/measuring.md.
TEST(SurveyByClasses, GalleryMachinesWithoutAnyTopology) {
    std::printf("%-36s %5s %9s %7s %8s %8s %8s\n", "machine", "PUs", "pairs", "share", "classes",
                "class", "pair");
    for (const bool permuted : {false, true}) {
        for (const std::string& name : gallery_names()) {
            const Machine truth = gallery_machine(name);
            if (truth.size() <= full_matrix_pus_max) {
                continue;
            }
            ReplayNoise noise;
            noise.permuted = permuted;
            ReplayProbe probe(truth, noise);
            Machine model = blank_machine(truth.size());
            const SurveyReport report = survey(model, probe, {.end_s = 60});
            ASSERT_NO_THROW(model.check()) << name;
            const double share = static_cast<double>(report.pairs_measured) /
                                 static_cast<double>(report.pairs_total);
            const double class_error = median(class_errors(model, probe));
            const double pair_error = median(errors(model, probe));
            std::printf("%-36s %5d %9zu %6.1f%% %8zu %7.1f%% %7.1f%%\n",
                        (name + (permuted ? " (permuted)" : "")).c_str(), truth.size(),
                        report.pairs_measured, 100 * share, model.classes.size(), 100 * class_error,
                        100 * pair_error);
            EXPECT_LT(class_error, 0.10) << name;
            EXPECT_LT(pair_error, 0.20) << name;
            EXPECT_LT(share, permuted ? 0.8 : 0.4) << name;
        }
    }
}

} // namespace
} // namespace corymb::discover
