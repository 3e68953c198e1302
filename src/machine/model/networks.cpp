// SPDX-License-Identifier: Apache-2.0
// Classes of the network, and the text in which people and variables name them.
#include "machine/model/networks.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <system_error>
#include <utility>

namespace corymb {

namespace {

constexpr int nodes_most = cluster_ranks_max;

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
    throw Error(Errc::invalid_model, fmt::format("\"{}\" {}", text.substr(0, 60), what));
}

/// Takes the text up to the next separator away.
std::string_view next_part(std::string_view& rest, char separator) {
    const std::string_view part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

template <class Number>
bool is_number(std::string_view text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end;
}

Network class_from(std::string_view text) {
    std::array<double, 4> number{};
    std::string_view rest = text;
    bool are_numbers = std::ranges::count(text, ',') == 3;
    for (double& one : number) {
        are_numbers = is_number(next_part(rest, ','), one) && are_numbers;
    }
    if (!are_numbers) {
        refuse(text, "must be four numbers such as 2000,400,3,12: ns from sending to arrival, ns "
                     "between messages, GB/s of a stream and of a node");
    }
    const Network network{number[0], number[1], number[2], number[3]};
    check_network(network, "network");
    return network;
}

/// "2,5-7" are of class `number`.
void set_nodes(std::string_view list, int number, std::vector<int>& of_node) {
    const auto nodes = static_cast<int>(of_node.size());
    std::string_view rest = list;
    do {
        std::string_view range = next_part(rest, ',');
        const std::string_view begin = next_part(range, '-');
        int first = 0;
        int last = 0;
        if (!is_number(begin, first) || !is_number(range.empty() ? begin : range, last) ||
            first < 0 || last < first) {
            refuse(list, "must name nodes from 0, such as 2,5-7");
        }
        if (last >= nodes) {
            refuse(list, fmt::format("names a node that there is not: there are {}", nodes));
        }
        for (int node = first; node <= last; ++node) {
            int& is = of_node[static_cast<std::size_t>(node)];
            if (is != 0) {
                refuse(list, fmt::format("names node {} a second time", node));
            }
            is = number;
        }
    } while (!rest.empty());
}

/// The nodes of a class, "2,5-7".
std::string nodes_of(const std::vector<int>& of_node, int number) {
    std::vector<std::string> ranges;
    for (std::size_t first = 0; first < of_node.size(); ++first) {
        if (of_node[first] != number) {
            continue;
        }
        std::size_t last = first;
        while (last + 1 < of_node.size() && of_node[last + 1] == number) {
            ++last;
        }
        ranges.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
        first = last;
    }
    return fmt::format("{}", fmt::join(ranges, ","));
}

} // namespace

void check_network(const Network& network, const std::string& field) {
    const auto fail = [&](const char* name, const std::string& what) {
        throw Error(Errc::invalid_model, field + name + ": " + what);
    };
    for (const auto& [name, value] : {std::pair{".start_up_ns", network.start_up_ns},
                                      std::pair{".message_gap_ns", network.message_gap_ns}}) {
        if (!std::isfinite(value) || value < 0) {
            fail(name, fmt::format("must be >= 0, is {}", value));
        }
    }
    for (const auto& [name, value] :
         {std::pair{".stream_gbs", network.stream_gbs}, std::pair{".node_gbs", network.node_gbs}}) {
        if (!std::isfinite(value) || value <= 0) {
            fail(name, fmt::format("must be above 0, is {}", value));
        }
    }
    if (network.node_gbs < network.stream_gbs) {
        fail(".node_gbs", fmt::format("must be >= stream_gbs, which is {}, is {}",
                                      network.stream_gbs, network.node_gbs));
    }
}

std::vector<double> message_ns_of_nodes(const Cluster& cluster, std::uint64_t bytes) {
    std::vector<double> costs;
    for (const int number : cluster.network_of_node()) {
        const Network& own = cluster.networks[static_cast<std::size_t>(number)];
        costs.push_back(own.start_up_ns + own.message_gap_ns +
                        static_cast<double>(bytes) / own.stream_gbs);
    }
    return costs;
}

Network slowest_network(const Cluster& cluster) {
    Network slowest = cluster.networks[static_cast<std::size_t>(cluster.runs.front().network)];
    for (const NodeRun& run : cluster.runs) {
        const Network& one = cluster.networks[static_cast<std::size_t>(run.network)];
        const double start_up_ns = std::max(slowest.start_up_ns, one.start_up_ns);
        slowest = network_between(slowest, one);
        slowest.start_up_ns = start_up_ns;
    }
    return slowest;
}

Network network_between(const Network& one, const Network& other) noexcept {
    return {std::midpoint(one.start_up_ns, other.start_up_ns),
            std::max(one.message_gap_ns, other.message_gap_ns),
            std::min(one.stream_gbs, other.stream_gbs), std::min(one.node_gbs, other.node_gbs)};
}

Networks networks_from(std::string_view text, int nodes) {
    if (nodes < 1 || nodes > nodes_most) {
        throw Error(Errc::invalid_argument,
                    fmt::format("a network has from 1 to {} nodes, not {}", nodes_most, nodes));
    }
    Networks networks;
    std::string_view rest = text;
    networks.classes.push_back(class_from(next_part(rest, '/')));
    while (!rest.empty()) {
        std::string_view part = next_part(rest, '/');
        const std::string_view costs = next_part(part, '@');
        if (part.empty()) {
            refuse(costs, "must name its nodes, such as @2,5-7 behind the numbers");
        }
        networks.of_node.resize(static_cast<std::size_t>(nodes), 0);
        set_nodes(part, static_cast<int>(networks.classes.size()), networks.of_node);
        networks.classes.push_back(class_from(costs));
    }
    return networks;
}

std::string to_text(const Networks& networks) {
    std::string text;
    for (std::size_t i = 0; i < networks.classes.size(); ++i) {
        const Network& one = networks.classes[i];
        text += fmt::format("{}{},{},{},{}", i == 0 ? "" : "/", one.start_up_ns, one.message_gap_ns,
                            one.stream_gbs, one.node_gbs);
        if (i > 0) {
            text += "@" + nodes_of(networks.of_node, static_cast<int>(i));
        }
    }
    return text;
}

} // namespace corymb
