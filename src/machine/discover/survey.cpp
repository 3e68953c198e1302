// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/survey.hpp"

#include "base/random.hpp"
#include "machine/discover/levels.hpp"
#include "machine/discover/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

/// Every unordered pair of a small machine, a fixed random sample of a large one.
std::vector<std::pair<int, int>> some_pairs(int size) {
    constexpr int pairs_max = 10'000;
    std::vector<std::pair<int, int>> pairs;
    if (size * (size - 1) / 2 <= pairs_max) {
        for (int a = 0; a < size; ++a) {
            for (int b = a + 1; b < size; ++b) {
                pairs.emplace_back(a, b);
            }
        }
        return pairs;
    }
    Random random(1);
    while (pairs.size() < pairs_max) {
        const int a = static_cast<int>(random.below(static_cast<std::uint32_t>(size)));
        // Neighbours in the numbering are as likely as strangers: near pairs are few.
        const int b = random.below(2) == 0
                          ? static_cast<int>(random.below(static_cast<std::uint32_t>(size)))
                          : (a + 1 + static_cast<int>(random.below(8))) % size;
        if (a != b) {
            pairs.emplace_back(std::min(a, b), std::max(a, b));
        }
    }
    return pairs;
}

Machine by_topology(const Machine& machine) {
    Machine prior;
    prior.topology = machine.topology;
    classes_from_topology(prior);
    return prior;
}

double pair_cost(const Machine& machine, int a, int b) {
    return (machine.send_cost(a, b) + machine.receive_cost(a, b) + machine.send_cost(b, a) +
            machine.receive_cost(b, a)) /
           2;
}

} // namespace

SurveyReport survey(Machine& machine, PairProbe& probe, const SurveyOptions& options) {
    const bool all = options.full_matrix || probe.size() <= full_matrix_pus_max;
    const SurveyReport report = all ? survey_all_pairs(machine, probe, options)
                                    : survey_by_classes(machine, probe, options);
    std::string unmeasured;
    for (const PairClass& pair_class : machine.classes) {
        if (pair_class.pairs_sampled == 0) {
            unmeasured += (unmeasured.empty() ? "" : ", ") + pair_class.name;
        }
    }
    if (!unmeasured.empty()) {
        machine.quality.remarks.push_back(
            fmt::format("No pair of these classes could be measured: {}. Their costs are typical "
                        "of the topology, in proportion to the measured ones. Measure again with "
                        "a larger budget, or when less else runs.",
                        unmeasured));
    }
    return report;
}

void record_disagreements(Machine& machine) {
    const Machine prior = by_topology(machine);
    if (prior.classes.size() < 2 && distinct_levels(machine.topology.pus).empty()) {
        return; // Nothing was reported that could be contradicted.
    }
    std::map<int, std::vector<double>> costs;                   // By topology class.
    std::map<int, std::map<int, std::vector<double>>> measured; // Then by measured class.
    for (const auto& [a, b] : some_pairs(machine.size())) {
        const double cost = pair_cost(machine, a, b);
        if (cost > 0) {
            costs[prior.class_of(a, b)].push_back(cost);
            measured[prior.class_of(a, b)][machine.class_of(a, b)].push_back(cost);
        }
    }
    std::vector<std::string>& texts = machine.topology.disagreements;
    const auto name = [&](int index) {
        return prior.classes[static_cast<std::size_t>(index)].name;
    };
    // Classes of the topology are ordered from near to far.
    for (auto near = costs.begin(); near != costs.end(); ++near) {
        for (auto far = std::next(near); far != costs.end(); ++far) {
            const double near_cost = median(near->second);
            const double far_cost = median(far->second);
            if (far_cost < 0.9 * near_cost) {
                texts.push_back(fmt::format("{} pairs take {:.0f} ns, but {} pairs only {:.0f} ns",
                                            name(near->first), near_cost, name(far->first),
                                            far_cost));
            }
        }
    }
    for (const auto& [level, groups] : measured) {
        double low = 0;
        double high = 0;
        for (const auto& [group, values] : groups) {
            if (values.size() * 10 < costs[level].size()) {
                continue; // A few odd pairs are no second class.
            }
            const double middle = median(values);
            low = low == 0 ? middle : std::min(low, middle);
            high = std::max(high, middle);
        }
        if (high > 1.5 * low) {
            texts.push_back(fmt::format("{} pairs fall into classes from {:.0f} to {:.0f} ns: the "
                                        "topology hides a level",
                                        name(level), low, high));
        }
    }
}

} // namespace corymb::discover
