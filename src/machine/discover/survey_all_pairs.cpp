// SPDX-License-Identifier: Apache-2.0
// Every pair, twice, in two random orders: what both passes agree on is the pair's own, the rest is
// noise, and the matrix is drawn towards the medians of the classes by that measure. Pairs that
// were missed are taken to cost what others of their class in the topology do. If the passes agree
// on nothing, or nothing was measured twice, the classes are those of the topology.
#include "machine/discover/pair_table.hpp"
#include "machine/discover/statistics.hpp"
#include "machine/discover/survey.hpp"
#include "machine/discover/topology_classes.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

constexpr double noise_below = 0.3; ///< Correlation of two passes that agree on nothing.
/// Share of the time for pairs that are measured again if there is no time for all of them twice. A
/// tenth of the pairs says whether both passes agree; more would leave others out.
constexpr double share_again = 0.1;

Pairs all_pairs(int size) {
    Pairs pairs;
    for (int a = 0; a < size; ++a) {
        for (int b = a + 1; b < size; ++b) {
            pairs.emplace_back(a, b);
        }
    }
    return pairs;
}

void shuffle(Pairs& pairs, Random& random) {
    for (std::size_t left = pairs.size(); left > 1; --left) {
        std::swap(pairs[left - 1], pairs[random.below(static_cast<std::uint32_t>(left))]);
    }
}

/// The estimates of both passes.
struct Passes {
    std::array<std::optional<PairTable>, 2> table;

    [[nodiscard]] const PairEstimate* find(std::size_t pass, int a, int b) const {
        const PairEstimate* const found = table[pass] ? table[pass]->find(a, b) : nullptr;
        return found != nullptr && found->present() ? found : nullptr;
    }
};

/// How many batches a pair may take so that the rest of the pass fits into the time.
Effort affordable(double seconds, std::size_t pairs_left, double seconds_per_batch) {
    Effort effort;
    const double batches =
        seconds / static_cast<double>(std::max<std::size_t>(1, pairs_left)) / seconds_per_batch;
    effort.batches_max = static_cast<int>(std::clamp(batches, 6.0, 120.0));
    return effort;
}

/// False when the time was over before the last pair.
bool run_pass(PairTable& table, const Pairs& pairs, double end_s, double done_from, double done_to,
              const SurveyOptions& options) {
    PairProbe& probe = table.probe();
    const double begin_s = probe.elapsed_s();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const double now_s = probe.elapsed_s();
        if (probe.interrupted() || (now_s >= end_s && i > 0)) {
            return false;
        }
        const double per_batch =
            table.batches() > 0 ? (now_s - begin_s) / static_cast<double>(table.batches()) : 300e-6;
        table.set_effort(affordable(end_s - now_s, pairs.size() - i, std::max(per_batch, 1e-6)));
        table(pairs[i].first, pairs[i].second);
        if (options.progress) {
            const double share = static_cast<double>(i + 1) / static_cast<double>(pairs.size());
            options.progress(done_from + (done_to - done_from) * share, "pairs of CPUs");
        }
    }
    return true;
}

void fill_matrices(Machine& machine, const Passes& passes, const Pairs& pairs) {
    const auto n = static_cast<std::size_t>(machine.size());
    machine.send.assign(n * n, std::nanf(""));
    machine.receive.assign(n * n, std::nanf(""));
    for (std::size_t i = 0; i < n; ++i) {
        machine.send[i * n + i] = machine.receive[i * n + i] = 0;
    }
    for (const auto& [a, b] : pairs) {
        for (std::size_t from = 0; from < 2; ++from) {
            std::vector<double> send;
            std::vector<double> receive;
            for (std::size_t pass = 0; pass < 2; ++pass) {
                if (const PairEstimate* const estimate = passes.find(pass, a, b)) {
                    send.push_back(estimate->send[from].median);
                    receive.push_back(estimate->receive[from].median);
                }
            }
            const auto row = static_cast<std::size_t>(from == 0 ? a : b);
            const auto column = static_cast<std::size_t>(from == 0 ? b : a);
            if (!send.empty()) {
                machine.send[row * n + column] = static_cast<float>(median(send));
                machine.receive[row * n + column] = static_cast<float>(median(receive));
            }
        }
    }
}

/// Of each class of `machine`.
std::vector<ClassSamples> samples_of(const Machine& machine, const Passes& passes,
                                     const Pairs& pairs) {
    std::vector<ClassSamples> samples(machine.classes.size());
    for (const auto& [a, b] : pairs) {
        for (std::size_t pass = 0; pass < 2; ++pass) {
            if (const PairEstimate* const estimate = passes.find(pass, a, b)) {
                samples[static_cast<std::size_t>(machine.class_of(a, b))].add(*estimate, 0);
                samples[static_cast<std::size_t>(machine.class_of(b, a))].add(*estimate, 1);
            }
        }
    }
    return samples;
}

/// Gives the pairs that were missed the cost of their class in the topology. Returns their entries.
std::vector<std::size_t> fill_missed(Machine& machine, const TopologyClasses& classes,
                                     const std::vector<PairClass>& costs) {
    const auto n = static_cast<std::size_t>(machine.size());
    std::vector<std::size_t> missed;
    for (std::size_t entry = 0; entry < n * n; ++entry) {
        if (std::isnan(machine.send[entry])) {
            const PairClass& pair_class = costs[static_cast<std::size_t>(
                classes.class_of(static_cast<int>(entry / n), static_cast<int>(entry % n)))];
            machine.send[entry] = static_cast<float>(pair_class.send.median);
            machine.receive[entry] = static_cast<float>(pair_class.receive.median);
            missed.push_back(entry);
        }
    }
    return missed;
}

/// Statistics of the classes that were inferred, out of the estimates. A class whose pairs were all
/// missed keeps what the inference gave it.
void fill_classes(Machine& machine, const Passes& passes, const Pairs& pairs) {
    const std::vector<ClassSamples> samples = samples_of(machine, passes, pairs);
    for (std::size_t index = 0; index < samples.size(); ++index) {
        if (samples[index].pair_count() > 0) {
            samples[index].fill(machine.classes[index]);
        }
        machine.classes[index].pairs_sampled = 0;
    }
    for (const auto& [a, b] : pairs) { // Each counts once for a direction.
        if (passes.find(0, a, b) != nullptr || passes.find(1, a, b) != nullptr) {
            ++machine.classes[static_cast<std::size_t>(machine.class_of(a, b))].pairs_sampled;
            ++machine.classes[static_cast<std::size_t>(machine.class_of(b, a))].pairs_sampled;
        }
    }
}

/// Least correlation between two passes over the pairs that both have measured: the lower end of
/// its 95 % interval (Fisher's transformation). NaN where too few were measured twice to tell.
double least_agreement(const Passes& passes, const Pairs& pairs) {
    std::array<std::vector<double>, 2> costs;
    for (const auto& [a, b] : pairs) {
        const PairEstimate* const first = passes.find(0, a, b);
        const PairEstimate* const second = passes.find(1, a, b);
        if (first != nullptr && second != nullptr) {
            costs[0].push_back(std::log(first->cost()));
            costs[1].push_back(std::log(second->cost()));
        }
    }
    const std::size_t twice = costs[0].size();
    const double found = twice > 3 ? correlation(costs[0], costs[1]) : Statistic::missing;
    return std::tanh(std::atanh(found) - 1.64 / std::sqrt(static_cast<double>(twice) - 3));
}

/// Classes of pairs that differ by noise alone are given up for those of the topology.
void judge_classes(Machine& machine, const TopologyClasses& classes,
                   const std::vector<PairClass>& costs, const Passes& passes, const Pairs& pairs) {
    if (machine.classes.size() < 2) {
        return;
    }
    const double agreed = least_agreement(passes, pairs);
    if (agreed >= noise_below) {
        return;
    }
    machine.classes = costs;
    machine.group = classes.prior().group;
    machine.group_class = classes.prior().group_class;
    machine.quality.remarks.push_back(
        std::isnan(agreed)
            ? "Too few pairs were measured twice to tell structure from noise, so the classes are "
              "those of the topology. A larger budget helps."
            : fmt::format(
                  "Two measurements of the same pairs hardly agree (r may be {:.2f}), so the "
                  "classes are those of the topology. Measure again when less else runs.",
                  agreed));
}

/// Correlation between the passes of what sets the pairs of a class apart; also over all classes.
void fill_reliability(Machine& machine, const Passes& passes, const Pairs& pairs) {
    std::vector<std::array<std::vector<double>, 2>> residuals(machine.classes.size());
    for (const auto& [a, b] : pairs) {
        const PairEstimate* const first = passes.find(0, a, b);
        const PairEstimate* const second = passes.find(1, a, b);
        if (first != nullptr && second != nullptr) {
            auto& columns = residuals[static_cast<std::size_t>(machine.class_of(a, b))];
            columns[0].push_back(std::log(first->cost()));
            columns[1].push_back(std::log(second->cost()));
        }
    }
    std::array<std::vector<double>, 2> all;
    for (std::size_t index = 0; index < residuals.size(); ++index) {
        auto& columns = residuals[index];
        machine.classes[index].reliability = correlation(columns[0], columns[1]);
        for (std::size_t pass = 0; pass < 2; ++pass) {
            const double middle = median(columns[pass]);
            for (const double value : columns[pass]) {
                all[pass].push_back(value - middle);
            }
        }
    }
    machine.quality.split_half_r = correlation(all[0], all[1]);
}

/// Entries keep their own value from r = 0.8 on and take the class median below 0.3, or if r is
/// unknown. They lie between in between: noise would otherwise look like structure to the planner.
void shrink_to_classes(Machine& machine) {
    const auto n = static_cast<std::size_t>(machine.size());
    for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = 0; to < n; ++to) {
            if (from == to) {
                continue;
            }
            const PairClass& pair_class = machine.classes[static_cast<std::size_t>(
                machine.class_of(static_cast<int>(from), static_cast<int>(to)))];
            const double agreed = std::isnan(pair_class.reliability) ? 0 : pair_class.reliability;
            const auto weight =
                static_cast<float>(std::clamp((agreed - noise_below) / 0.5, 0.0, 1.0));
            const auto draw = [weight](float& entry, double centre) {
                entry = weight * entry + (1 - weight) * static_cast<float>(centre);
            };
            draw(machine.send[from * n + to], pair_class.send.median);
            draw(machine.receive[from * n + to], pair_class.receive.median);
        }
    }
}

} // namespace

SurveyReport survey_all_pairs(Machine& machine, PairProbe& probe, const SurveyOptions& options) {
    Pairs pairs = all_pairs(machine.size());
    Random random(options.seed);
    const TopologyClasses classes(machine.topology, options.distances);
    Passes passes;
    SurveyReport report;
    report.pairs_total = pairs.size();
    const double begin_s = probe.elapsed_s();
    const double half_s = begin_s + (options.end_s - begin_s) / 2;
    for (std::size_t pass = 0; pass < 2; ++pass) {
        shuffle(pairs, random);
        PairTable& table = passes.table[pass].emplace(probe, Effort{});
        const double from = 0.5 * static_cast<double>(pass);
        const double end_s = pass == 0 ? half_s : options.end_s;
        measure_each_class(classes, table, random, pass == 0 ? options.end_s : end_s);
        const bool done = run_pass(table, pairs, end_s, from, from + 0.5, options);
        report.complete = report.complete && done;
        if (!done && pass == 0) { // One pass over all pairs is worth more than two over half.
            const double again_s = share_again * (options.end_s - begin_s);
            report.complete = run_pass(table, pairs, options.end_s - again_s, from, 1, options);
            PairTable& again = passes.table[1].emplace(probe, Effort{});
            run_pass(again, pairs, options.end_s, 1, 1, options);
            break;
        }
    }
    for (const auto& table : passes.table) {
        report.batches += table ? table->batches() : 0;
        report.dropped += table ? table->dropped() : 0;
    }
    for (const auto& [a, b] : pairs) {
        const bool known = passes.find(0, a, b) != nullptr || passes.find(1, a, b) != nullptr;
        report.pairs_measured += known ? 1 : 0;
    }
    if (report.pairs_measured == 0) {
        return report;
    }
    fill_matrices(machine, passes, pairs);
    const std::vector<PairClass> costs = classes.costs(samples_of(classes.prior(), passes, pairs));
    const std::vector<std::size_t> missed = fill_missed(machine, classes, costs);
    infer_classes(machine); // Names the classes and notes disagreements, too.
    judge_classes(machine, classes, costs, passes, pairs);
    for (const std::size_t entry : missed) {
        machine.send[entry] = machine.receive[entry] = std::nanf("");
    }
    fill_classes(machine, passes, pairs);
    fill_reliability(machine, passes, pairs);
    shrink_to_classes(machine);
    if (report.pairs_measured < report.pairs_total) {
        machine.quality.remarks.push_back(
            fmt::format("Only {} of {} pairs could be measured; the others have the costs of their "
                        "class. A larger budget helps.",
                        report.pairs_measured, report.pairs_total));
    }
    return report;
}

} // namespace corymb::discover
