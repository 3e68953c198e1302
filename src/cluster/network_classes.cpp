// SPDX-License-Identifier: Apache-2.0
#include "cluster/network_classes.hpp"

#include "cluster/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

namespace corymb::cluster {

namespace {

/// A number by which classes are told apart. Two values count as equal if the larger, with `blur`
/// added to both, is at most `factor` times the smaller. Start-ups vary by more than `blur` where
/// ranks share processors. The other two numbers tell nothing: a gap is mostly the processor's, and
/// a node's total rate depends on its number of ranks.
struct Criterion {
    double Network::* number;
    double factor;
    double blur;
};
const std::array<Criterion, 2> criteria{
    {{&Network::start_up_ns, tuning::start_up_factor, tuning::start_up_blur_ns},
     {&Network::stream_gbs, tuning::stream_factor, 0}}};

bool are_same(const Criterion& by, double one, double other) {
    const auto [least, most] = std::minmax(one, other);
    return most + by.blur <= by.factor * (least + by.blur);
}

/// The evidence about a class: numbers from its nodes' meetings, and its measurement.
struct Evidence {
    Network seen;
    Network measured;
};

/// Two classes differ if both kinds of evidence agree on a criterion, and on the direction.
bool are_same(const Evidence& one, const Evidence& other) {
    return std::ranges::all_of(criteria, [&](const Criterion& by) {
        const auto is_less = [&by](const Network& left, const Network& right) {
            return left.*by.number < right.*by.number;
        };
        return are_same(by, one.seen.*by.number, other.seen.*by.number) ||
               are_same(by, one.measured.*by.number, other.measured.*by.number) ||
               is_less(one.seen, other.seen) != is_less(one.measured, other.measured);
    });
}

/// The lot of each node's number: lots are apart, and the numbers of a lot follow each other
/// closely.
std::vector<int> lots_of(std::span<const Network> best, const Criterion& by) {
    std::vector<std::size_t> order(best.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto number = [&](std::size_t node) {
        return best[node].*by.number;
    };
    std::ranges::sort(order, std::ranges::less{}, number);
    std::vector<int> lots(best.size(), 0);
    for (std::size_t i = 1; i < order.size(); ++i) {
        const bool same = are_same(by, number(order[i - 1]), number(order[i]));
        lots[order[i]] = lots[order[i - 1]] + (same ? 0 : 1);
    }
    return lots;
}

/// Rounds to four digits, more than the number's accuracy.
double rounded(double number) {
    return std::strtod(fmt::format("{:.4g}", number).c_str(), nullptr);
}

Network rounded(const Network& network) {
    const double stream_gbs = rounded(network.stream_gbs);
    return {rounded(network.start_up_ns), rounded(network.message_gap_ns), stream_gbs,
            std::max(stream_gbs, rounded(network.node_gbs))};
}

} // namespace

std::vector<std::vector<Meeting>> meetings_of(int nodes) {
    // A round robin. Of an even number of players, all but the last stand in a circle, and two of
    // them meet if their numbers add up to the round's. The player that is left alone meets the
    // last.
    const int circle = nodes + nodes % 2 - 1;
    const int rounds = std::min(circle, tuning::rounds_most.value());
    std::vector<std::vector<Meeting>> meetings;
    for (int round = 0; round < rounds; ++round) {
        const int sum = round * circle / rounds;
        std::vector<Meeting>& now = meetings.emplace_back();
        for (int node = 0; node < circle; ++node) {
            const int partner = (sum - node + circle) % circle;
            const int other = partner == node ? circle : partner;
            if (node < other && other < nodes) {
                now.emplace_back(node, other);
            }
        }
    }
    return meetings;
}

Network best_of(const Network& one, const Network& other) noexcept {
    return {std::min(one.start_up_ns, other.start_up_ns),
            std::min(one.message_gap_ns, other.message_gap_ns),
            std::max(one.stream_gbs, other.stream_gbs), std::max(one.node_gbs, other.node_gbs)};
}

std::vector<int> classes_of(std::span<const Network> best) {
    std::array<std::vector<int>, criteria.size()> lots;
    std::ranges::transform(criteria, lots.begin(),
                           [&](const Criterion& by) { return lots_of(best, by); });
    std::map<std::array<int, criteria.size()>, int> numbers;
    std::vector<int> classes;
    for (std::size_t node = 0; node < best.size(); ++node) {
        const std::array key{lots[0][node], lots[1][node]};
        classes.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
    }
    if (numbers.size() > tuning::classes_most) {
        std::ranges::fill(classes, 0);
    }
    return classes;
}

std::vector<Probe> probes_of(std::span<const int> class_of_node, std::span<const Network> best) {
    std::vector<std::vector<int>> members;
    for (std::size_t node = 0; node < class_of_node.size(); ++node) {
        const auto number = static_cast<std::size_t>(class_of_node[node]);
        members.resize(std::max(members.size(), number + 1));
        members[number].push_back(static_cast<int>(node));
    }
    std::vector<Probe> probes;
    for (std::size_t number = 0; number < members.size(); ++number) {
        const auto& nodes = members[number];
        probes.push_back(
            {static_cast<int>(number), {nodes.front(), nodes.back()}, nodes.size() == 1});
        if (nodes.size() > 1) {
            probes.back().nodes.second = nodes[1];
        }
    }
    std::ranges::stable_sort(probes, std::ranges::less{}, [&](const Probe& probe) {
        const Network& one = best[static_cast<std::size_t>(probe.nodes.first)];
        return std::tuple(probe.is_mixed, -one.stream_gbs, one.start_up_ns);
    });
    for (Probe& probe : probes) {
        const bool is_first = probe.number == probes.front().number;
        if (probe.is_mixed && probes.size() > 1) {
            probe.nodes.second = probes[is_first ? 1 : 0].nodes.first;
        }
    }
    return probes;
}

Networks networks_of(std::span<const int> class_of_node, std::span<const Network> best,
                     std::span<const Probe> probes, std::span<const Network> measured) {
    std::vector<Evidence> kept;
    std::vector<int> becomes(probes.size()); // by class
    for (std::size_t i = 0; i < probes.size(); ++i) {
        Network own = measured[i];
        if (probes[i].is_mixed && i > 0) {
            // The other half has the first class's start-up; a class that is slower elsewhere
            // hardly starts up faster.
            own.start_up_ns =
                std::max(2 * own.start_up_ns - measured[0].start_up_ns, own.start_up_ns);
        }
        Evidence evidence{best[static_cast<std::size_t>(probes[i].nodes.first)], rounded(own)};
        for (std::size_t node = 0; node < best.size(); ++node) {
            if (class_of_node[node] == probes[i].number) {
                evidence.seen = best_of(evidence.seen, best[node]);
            }
        }
        const auto same = std::ranges::find_if(
            kept, [&](const Evidence& other) { return are_same(other, evidence); });
        becomes[static_cast<std::size_t>(probes[i].number)] = static_cast<int>(same - kept.begin());
        if (same == kept.end()) {
            kept.push_back(evidence);
        }
    }
    Networks networks;
    for (const Evidence& one : kept) {
        networks.classes.push_back(one.measured);
    }
    if (kept.size() > 1) {
        for (const int number : class_of_node) {
            networks.of_node.push_back(becomes[static_cast<std::size_t>(number)]);
        }
    }
    return networks;
}

Networks with_gaps(Networks networks, std::span<const double> gap_of_node) {
    for (std::size_t number = 0; number < networks.classes.size(); ++number) {
        std::vector<double> gaps;
        for (std::size_t node = 0; node < gap_of_node.size(); ++node) {
            const int own = networks.of_node.empty() ? 0 : networks.of_node[node];
            if (own == static_cast<int>(number) && gap_of_node[node] > 0) {
                gaps.push_back(gap_of_node[node]);
            }
        }
        if (!gaps.empty()) {
            const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
            std::ranges::nth_element(gaps, middle);
            double& gap_ns = networks.classes[number].message_gap_ns;
            gap_ns = std::max(gap_ns, rounded(*middle));
        }
    }
    return networks;
}

} // namespace corymb::cluster
