// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/topology_classes.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb::discover {
namespace {

std::size_t place(int index) {
    return static_cast<std::size_t>(index);
}

double class_cost(const PairClass& pair_class) {
    return pair_class.send.median + pair_class.receive.median;
}

Statistic scaled(Statistic statistic, double factor) {
    statistic.median *= factor;
    statistic.q25 *= factor;
    statistic.q75 *= factor;
    return statistic;
}

/// Index of the measured class that is the fewest levels away, of two the inner one.
std::size_t nearest_measured(const std::vector<ClassSamples>& samples, std::size_t index) {
    for (std::size_t away = 1; away < samples.size(); ++away) {
        if (away <= index && samples[index - away].pair_count() > 0) {
            return index - away;
        }
        if (index + away < samples.size() && samples[index + away].pair_count() > 0) {
            return index + away;
        }
    }
    return index;
}

} // namespace

TopologyClasses::TopologyClasses(const Topology& topology, const NodeDistances& distances) {
    prior_.topology = topology;
    classes_from_topology(prior_, distances);
}

std::vector<std::vector<std::pair<int, int>>> TopologyClasses::some_pairs(Random& random,
                                                                          std::size_t most) const {
    std::vector<std::vector<int>> members(place(prior_.group_count()));
    for (int pu = 0; pu < prior_.size(); ++pu) {
        members[place(prior_.group[place(pu)])].push_back(pu);
    }
    const auto below = [&](std::size_t count) {
        return static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(count)));
    };
    std::vector<std::vector<std::pair<int, int>>> pairs(place(count()));
    std::vector<std::size_t> seen(place(count())); // Pairs of groups: each has the same chance.
    for (std::size_t a = 0; a < members.size(); ++a) {
        for (std::size_t b = a; b < members.size(); ++b) {
            const int index = prior_.group_class[a * members.size() + b];
            if (index < 0) {
                continue;
            }
            const std::size_t first = below(members[a].size());
            const std::size_t other = 1 + below(std::max<std::size_t>(1, members[a].size() - 1));
            const int to = a == b ? members[a][(first + other) % members[a].size()]
                                  : members[b][below(members[b].size())];
            std::vector<std::pair<int, int>>& chosen = pairs[place(index)];
            const std::size_t chance = below(++seen[place(index)]);
            if (chosen.size() < most) {
                chosen.emplace_back(members[a][first], to);
            } else if (chance < most) {
                chosen[chance] = {members[a][first], to};
            }
        }
    }
    return pairs;
}

std::vector<PairClass> TopologyClasses::costs(const std::vector<ClassSamples>& samples) const {
    std::vector<PairClass> classes = prior_.classes;
    for (std::size_t index = 0; index < classes.size(); ++index) {
        if (samples[index].pair_count() > 0) {
            samples[index].fill(classes[index]);
        }
    }
    for (std::size_t index = 0; index < classes.size(); ++index) {
        if (samples[index].pair_count() > 0) {
            continue;
        }
        const std::size_t near = nearest_measured(samples, index);
        double factor = class_cost(classes[near]) / class_cost(prior_.classes[near]);
        for (std::size_t outer = index + 1; outer < classes.size(); ++outer) {
            if (samples[outer].pair_count() > 0) {
                factor = std::min(factor,
                                  class_cost(classes[outer]) / class_cost(prior_.classes[index]));
            }
        }
        PairClass& made = classes[index];
        made.send = scaled(made.send, factor);
        made.receive = scaled(made.receive, factor);
        made.round_trip = scaled(made.round_trip, factor);
    }
    return classes;
}

void measure_each_class(const TopologyClasses& classes, PairTable& table, Random& random,
                        double end_s) {
    constexpr std::size_t tries_max = 4;
    auto pairs = classes.some_pairs(random, tries_max);
    for (std::size_t attempt = 0; attempt < tries_max; ++attempt) {
        for (std::vector<std::pair<int, int>>& of_class : pairs) {
            if (attempt >= of_class.size()) {
                continue;
            }
            if (table.probe().interrupted() || table.probe().elapsed_s() >= end_s) {
                return;
            }
            if (table(of_class[attempt].first, of_class[attempt].second).present()) {
                of_class.clear();
            }
        }
    }
}

} // namespace corymb::discover
