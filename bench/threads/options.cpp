// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace corymb::bench {

namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 26;
constexpr int threads_max = 1024;

Operation parse_operation(const std::string& word) {
    if (const auto op = operation_from_string(word)) {
        return *op;
    }
    throw UsageError("unknown operation \"" + word +
                     "\"; there are barrier, broadcast, broadcast-stream, reduce, allreduce");
}

Regime parse_regime(const std::string& word) {
    if (const auto regime = regime_from_string(word)) {
        return *regime;
    }
    throw UsageError("--regimes: unknown regime \"" + word +
                     "\"; there are alone, oversubscribed, neighbour, late");
}

Pin parse_pin(const std::string& word) {
    if (word == "auto") {
        return Pin::automatic;
    }
    if (word != "yes" && word != "no") {
        throw UsageError("--pin: \"" + word + "\" is not auto, yes or no");
    }
    return word == "yes" ? Pin::yes : Pin::no;
}

std::size_t parse_bytes(const std::string& word) {
    const auto bytes = number<std::size_t>(word, sizeof(double), bytes_max, "--bytes");
    if (bytes % sizeof(double) != 0) {
        throw UsageError("--bytes: " + word + " is not a multiple of 8, the size of an element");
    }
    return bytes;
}

using Setter = std::function<void(Options&, const std::string&)>;

template <class Value, class Parse>
void parse_list(std::vector<Value>& list, const std::string& text, Parse parse) {
    for (const auto& word : split(text)) {
        list.push_back(parse(word));
    }
}

const std::map<std::string, Setter>& setters() {
    static const std::map<std::string, Setter> table{
        {"--threads",
         [](Options& o, const std::string& text) {
             parse_list(o.threads, text, [](const std::string& word) {
                 return number<int>(word, 2, threads_max, "--threads");
             });
         }},
        {"--bytes",
         [](Options& o, const std::string& text) {
             parse_list(o.bytes, text, parse_bytes);
         }},
        {"--regimes",
         [](Options& o, const std::string& text) {
             parse_list(o.regimes, text, parse_regime);
         }},
        {"--contestants",
         [](Options& o, const std::string& text) {
             o.only = split(text);
         }},
        {"--pin",
         [](Options& o, const std::string& text) {
             o.pin = parse_pin(text);
         }},
        {"--seconds",
         [](Options& o, const std::string& text) {
             o.seconds = number<double>(text, 0.5, 86400, "--seconds");
         }},
        {"--slot-ms",
         [](Options& o, const std::string& text) {
             o.slot_ms = number<double>(text, 1, 1000, "--slot-ms");
         }},
        {"--seed",
         [](Options& o, const std::string& text) {
             o.seed = number<std::uint64_t>(text, 0, UINT64_MAX, "--seed");
         }},
        {"--plans",
         [](Options& o, const std::string& text) {
             o.plans = number<int>(text, 2, 1000, "--plans");
         }},
        {"--model",
         [](Options& o, const std::string& text) {
             o.model = text;
         }},
    };
    return table;
}

const std::map<std::string, Mode>& modes() {
    static const std::map<std::string, Mode> table{{"--help", Mode::help},
                                                   {"-h", Mode::help},
                                                   {"--list", Mode::list},
                                                   {"--predict", Mode::predict}};
    return table;
}

std::vector<int> thread_counts(const Options& options, int cpus) {
    if (!options.threads.empty()) {
        return options.threads;
    }
    std::vector<int> counts;
    for (const int count : {2, 4, 8, 16, 32}) {
        counts.push_back(count);
    }
    if (cpus > 2 && std::find(counts.begin(), counts.end(), cpus) == counts.end()) {
        counts.push_back(cpus);
    }
    std::sort(counts.begin(), counts.end());
    return counts;
}

/// Whether a regime is meant for so many ranks.
bool fits(Regime regime, int ranks, int cpus) {
    return (regime == Regime::oversubscribed) == (ranks > cpus);
}

/// Unless asked for, long payloads are measured on a quiet machine only.
std::vector<std::size_t> payloads(const Options& options, Operation op, Regime regime) {
    if (op == Operation::barrier) {
        return {0};
    }
    if (!options.bytes.empty()) {
        const bool all = regime == Regime::alone || !options.regimes.empty();
        return all ? options.bytes
                   : std::vector{*std::min_element(options.bytes.begin(), options.bytes.end())};
    }
    if (regime != Regime::alone) {
        return {sizeof(double)};
    }
    return {8, 1024, 65536, 1048576};
}

std::vector<Regime> regimes(const Options& options, Operation op) {
    if (!options.regimes.empty()) {
        return options.regimes;
    }
    if (op == Operation::barrier) {
        return {Regime::alone, Regime::oversubscribed, Regime::neighbour, Regime::late};
    }
    return {Regime::alone, Regime::oversubscribed};
}

bool pinned(const Options& options, Regime regime) {
    if (options.pin != Pin::automatic) {
        return options.pin == Pin::yes;
    }
    return regime == Regime::alone || regime == Regime::neighbour;
}

} // namespace

Options parse_options(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (const auto mode = modes().find(words[i]); mode != modes().end()) {
            options.mode = mode->second;
        } else if (const auto setter = setters().find(words[i]); setter != setters().end()) {
            if (i + 1 == words.size()) {
                throw UsageError(words[i] + " needs a value");
            }
            setter->second(options, words[++i]);
        } else if (words[i].starts_with("-")) {
            throw UsageError("unknown option \"" + words[i] + "\"; see --help");
        } else {
            parse_list(options.ops, words[i], parse_operation);
        }
    }
    if (options.mode == Mode::measure && options.ops.empty()) {
        throw UsageError("which operation? for example: corymb-bench barrier,broadcast,allreduce");
    }
    return options;
}

std::vector<Case> cases_of(const Options& options, int cpus) {
    std::vector<Case> cases;
    for (const Operation op : options.ops) {
        for (const Regime regime : regimes(options, op)) {
            for (const int ranks : thread_counts(options, cpus)) {
                if (!fits(regime, ranks, cpus)) {
                    continue;
                }
                for (const std::size_t bytes : payloads(options, op, regime)) {
                    const Case next{op, ranks, bytes, regime, pinned(options, regime)};
                    if (std::find(cases.begin(), cases.end(), next) == cases.end()) {
                        cases.push_back(next);
                    }
                }
            }
        }
    }
    return cases;
}

std::string usage() {
    return "usage: corymb-bench OP[,OP...] [options]\n"
           "       corymb-bench --predict [options]\n"
           "       corymb-bench --list [OP...]\n"
           "\n"
           "OP: barrier, broadcast, broadcast-stream, reduce, allreduce\n"
           "\n"
           "  --threads LIST      numbers of ranks (default 2,4,8,16,32 and the number of CPUs)\n"
           "  --bytes LIST        payloads, multiples of 8 (default 8,1024,65536,1048576)\n"
           "  --regimes LIST      alone, oversubscribed, neighbour, late (default: by operation)\n"
           "  --contestants LIST  names or families to keep (default all; see --list)\n"
           "  --pin WHEN          auto, yes, no (auto: in the regimes alone and neighbour)\n"
           "  --seconds S         time for everything (default 60)\n"
           "  --slot-ms MS        length of a contestant's turn (default: from the time)\n"
           "  --seed N            order of the turns, random plans (default 1)\n"
           "  --predict           compare the simulator's times of plans with measured ones\n"
           "  --plans N           with --predict: how many plans (default 44)\n"
           "  --model FILE        with --predict: the machine model (default: the cached one,\n"
           "                      else one measured now)\n"
           "  --list              who would take part, without measuring\n"
           "\n"
           "Standard output: one JSON object a line. Standard error: progress and messages.\n"
           "Exit status: 0 done, 1 failed, 2 usage, 130 interrupted.\n";
}

} // namespace corymb::bench
