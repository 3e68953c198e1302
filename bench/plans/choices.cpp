// SPDX-License-Identifier: Apache-2.0
// Prints the planner's choices, one line for each operation, payload and place: the plan's name,
// simulated time and hash, and the numbers that decided. Places are all machines of the gallery and
// a few clusters. A change of the planner is judged by comparing the lines before it with the lines
// after it.
//
//     corymb-choices [--ranks LIST] [--bytes LIST] [--operations LIST] [--moves N]
//                    [--only "TEXT|TEXT"] [--per-cpu N] >before.tsv
//     corymb-choices [...] --against before.tsv
//     corymb-choices [...] --plans before.tsv
//
// With --per-cpu so many ranks take turns on each CPU, as processes do; that is not for clusters.
// With --plans it times the plans that are named there.
// With --against it prints the lines that differ, each with its time divided by the time before,
// and fails if a choice has become more than 1 % slower.
#include <corymb/cluster.hpp>
#include <corymb/error.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using corymb::Cluster;
using corymb::Collective;
using corymb::NodeKind;

constexpr std::array operations{
    Collective::barrier,        Collective::broadcast, Collective::reduce,    Collective::allreduce,
    Collective::gather,         Collective::scatter,   Collective::allgather, Collective::alltoall,
    Collective::reduce_scatter, Collective::scan,      Collective::exscan};

struct Options {
    std::vector<int> ranks{7, 32};
    std::vector<int> payloads{8, 4096, 65536, 1048576};
    std::vector<std::string> operations; ///< Empty: all.
    std::uint64_t moves = 2000;
    std::vector<std::string> only; ///< Parts of places' names. Empty: all places.
    int per_cpu = 1;
    std::string against;
    std::string plans;
};

struct Choice {
    std::string name;
    double time = 0;
    std::string hash;
    std::string decided; ///< Names of the deciding numbers.
};
using Choices = std::map<std::string, Choice>; ///< By place, operation and payload.

int number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1) {
        throw std::invalid_argument("\"" + std::string(text) + "\" is no positive number");
    }
    return value;
}

std::vector<std::string> parts_of(const std::string& text, char between) {
    std::vector<std::string> parts;
    std::istringstream list(text);
    for (std::string one; std::getline(list, one, between);) {
        parts.push_back(one);
    }
    return parts;
}

std::vector<int> numbers(const std::string& text) {
    std::vector<int> all;
    for (const std::string& one : parts_of(text, ',')) {
        all.push_back(number(one));
    }
    return all;
}

Options options_of(int count, char** words) {
    Options options;
    for (int i = 1; i < count; i += 2) {
        const std::string_view word = words[i];
        if (i + 1 == count) {
            throw std::invalid_argument(std::string(word) + " needs a value");
        }
        const std::string value = words[i + 1];
        if (word == "--ranks") {
            options.ranks = numbers(value);
        } else if (word == "--bytes") {
            options.payloads = numbers(value);
        } else if (word == "--operations") {
            options.operations = parts_of(value, ',');
        } else if (word == "--moves") {
            options.moves = static_cast<std::uint64_t>(number(value));
        } else if (word == "--only") {
            options.only = parts_of(value, '|');
        } else if (word == "--against") {
            options.against = value;
        } else if (word == "--plans") {
            options.plans = value;
        } else if (word == "--per-cpu") {
            options.per_cpu = number(value);
        } else {
            throw std::invalid_argument("unknown option " + std::string(word));
        }
    }
    return options;
}

/// Calls `choose` for each operation and payload; a payload of a barrier is none.
template <class Choose>
void for_each_request(const std::string& place, const Options& options, const Choices& plans,
                      Choices& choices, const Choose& choose) {
    const auto is_named = [&place](const std::string& part) {
        return place.find(part) != std::string::npos;
    };
    if (!options.only.empty() && std::ranges::none_of(options.only, is_named)) {
        return;
    }
    for (const Collective op : operations) {
        if (!options.operations.empty() &&
            std::ranges::find(options.operations, to_string(op)) == options.operations.end()) {
            continue;
        }
        for (const int payload : options.payloads) {
            const auto bytes = static_cast<std::uint64_t>(payload);
            if (op == Collective::barrier && payload != options.payloads.front()) {
                continue;
            }
            const std::string key = place + '\t' + std::string(to_string(op)) + '\t' +
                                    std::to_string(op == Collective::barrier ? 0 : bytes);
            const auto named = plans.find(key);
            const auto choice =
                choose(op, bytes, named == plans.end() ? "best" : named->second.name);
            std::string decided;
            for (const corymb::DecidingNumber& one : choice.decided) {
                decided += (decided.empty() ? "" : ",") + one.name;
            }
            choices[key] = {choice.plan.algorithm, choice.predicted, plan_hash(choice.plan),
                            decided};
        }
    }
}

/// Ranks on PUs that are spread over the machine.
void choose_on_machine(const std::string& name, int ranks, const Options& options,
                       const Choices& plans, Choices& choices) {
    corymb::Machine machine = corymb::gallery_machine(name);
    const int size = std::min(ranks, machine.size());
    corymb::PlanRequest request;
    request.moves = options.moves;
    for (int rank = 0; rank < size; ++rank) {
        request.placement.push_back(rank * machine.size() / size);
    }
    if (options.per_cpu > 1) {
        request.oversubscribed = true;
        request.cpus = std::max(size / options.per_cpu, 1);
        machine.kernel_copy = {1400, 4}; // Start in ns, and rate.
    }
    for_each_request(name + ", " + std::to_string(size) + " ranks", options, plans, choices,
                     [&](Collective op, std::uint64_t bytes, const std::string& algorithm) {
                         request.algorithm = algorithm;
                         request.op = op;
                         request.bytes = bytes;
                         request.root = is_rooted(op) ? 0 : -1;
                         return make_plan(machine, request);
                     });
}

Cluster cluster_of(std::string name, std::vector<corymb::NodeRun> runs,
                   corymb::RankOrder order = corymb::RankOrder::block) {
    Cluster cluster;
    cluster.name = std::move(name);
    cluster.kinds = {NodeKind::of_shape({2, 8, 100, 200, 10}),
                     NodeKind::of_gallery("epyc-9654-2s-192c")};
    cluster.runs = std::move(runs);
    cluster.order = order;
    cluster.networks = {{2000, 400, 3, 12}, {20000, 2000, 0.25, 0.5}};
    return cluster;
}

std::vector<Cluster> clusters() {
    using corymb::RankOrder;
    return {cluster_of("2 nodes of 8", {{0, 2, 8, 0, {}}}),
            cluster_of("8 nodes of 4", {{0, 8, 4, 0, {}}}),
            cluster_of("4 nodes of 8, in turns", {{0, 4, 8, 0, {}}}, RankOrder::cyclic),
            cluster_of("6 nodes of 3 and 1 of 2", {{0, 6, 3, 0, {}}, {0, 1, 2, 0, {}}}),
            cluster_of("16 nodes of 1", {{0, 16, 1, 0, {}}}),
            cluster_of("5 nodes of 4, 2 of them slow", {{0, 3, 4, 0, {}}, {0, 2, 4, 1, {}}}),
            cluster_of("4 nodes of 6 on both packages", {{1, 4, 6, 0, {0, 96, 1, 97, 2, 98}}}),
            cluster_of("16 nodes of 16", {{0, 16, 16, 0, {}}}),
            cluster_of("8 nodes of 8", {{0, 8, 8, 0, {}}}),
            cluster_of("12 nodes of 16, in turns", {{0, 12, 16, 0, {}}}, RankOrder::cyclic)};
}

Choices all_choices(const Options& options, const Choices& plans) {
    Choices choices;
    for (const int ranks : options.ranks) {
        for (const std::string& name : corymb::gallery_names()) {
            choose_on_machine(name, ranks, options, plans, choices);
        }
    }
    for (const Cluster& cluster : clusters()) {
        for_each_request(cluster.name, options, plans, choices,
                         [&](Collective op, std::uint64_t bytes, const std::string& algorithm) {
                             corymb::PlanRequest request;
                             request.op = op;
                             request.bytes = bytes;
                             request.algorithm = algorithm;
                             return make_plan(cluster, request);
                         });
    }
    return choices;
}

Choices read(const std::string& file) {
    std::ifstream in(file);
    if (!in) {
        throw std::invalid_argument("cannot read " + file);
    }
    Choices choices;
    for (std::string line; std::getline(in, line);) {
        std::istringstream cells(line);
        std::array<std::string, 6> cell;
        for (std::string& text : cell) {
            std::getline(cells, text, '\t');
        }
        choices[cell[0] + '\t' + cell[1] + '\t' + cell[2]] = {cell[3], std::stod(cell[4]), cell[5],
                                                              ""};
    }
    return choices;
}

/// Prints what differs. Whether no choice has become more than 1 % slower.
bool compare(const Choices& before, const Choices& now) {
    constexpr double tolerated = 1.01;
    bool is_fine = true;
    std::size_t equal = 0;
    for (const auto& [key, choice] : now) {
        const auto known = before.find(key);
        if (known == before.end()) {
            continue;
        }
        const Choice& old = known->second;
        if (old.hash == choice.hash) {
            ++equal;
            continue;
        }
        const double ratio = old.time > 0 ? choice.time / old.time : 1;
        is_fine = is_fine && ratio <= tolerated;
        std::printf("%s\t%s\t%s\t%.4f\n", key.c_str(), old.name.c_str(), choice.name.c_str(),
                    ratio);
    }
    std::fprintf(stderr, "%zu of %zu plans are equal\n", equal, now.size());
    return is_fine;
}

} // namespace

int main(int count, char** words) {
    try {
        const Options options = options_of(count, words);
        const Choices before = options.against.empty() ? Choices{} : read(options.against);
        const Choices choices =
            all_choices(options, options.plans.empty() ? Choices{} : read(options.plans));
        if (!options.against.empty()) {
            return compare(before, choices) ? 0 : 1;
        }
        for (const auto& [key, choice] : choices) {
            std::printf("%s\t%s\t%.3f\t%s\t%s\n", key.c_str(), choice.name.c_str(), choice.time,
                        choice.hash.c_str(), choice.decided.c_str());
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "corymb-choices: %s\n", error.what());
        return 2;
    }
    return 0;
}
