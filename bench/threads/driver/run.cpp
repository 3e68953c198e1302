// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include "../worker/time.hpp"
#include "measure.hpp"
#include "output.hpp"
#include "rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace corymb::bench {

namespace {

std::vector<Contestant> kept(const Case& what, const Options& options) {
    auto list = contestants_for(what);
    if (!options.only.empty()) {
        std::erase_if(list, [&](const Contestant& contestant) {
            return std::none_of(options.only.begin(), options.only.end(), [&](const auto& word) {
                return word == contestant.name || word == contestant.family;
            });
        });
    }
    return list;
}

/// Cases get time by the number of contestants, more where a slot must be long.
double weight(const Case& what, const Options& options) {
    const auto contestants = static_cast<double>(kept(what, options).size());
    const bool patient = what.regime == Regime::neighbour || what.regime == Regime::late;
    return contestants * (patient ? 2 : 1);
}

/// The exit status.
int no_peers(const std::vector<Outcome>& outcomes) {
    const auto first = std::find_if(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return outcome.contestant.family != "corymb";
    });
    std::fprintf(stderr, "corymb-bench: no peer could be measured; %s: %s\n",
                 first->contestant.name.c_str(), first->skipped.c_str());
    return 1;
}

} // namespace

int run_cases(const Options& options) {
    const auto cases = cases_of(options, static_cast<int>(allowed_cpus().size()));
    if (cases.empty()) {
        throw UsageError("nothing to measure: no case fits --threads and --regimes on " +
                         std::to_string(allowed_cpus().size()) + " CPUs");
    }
    const std::int64_t begin = wall_ns();
    const auto total_ns = static_cast<std::int64_t>(options.seconds * 1e9);
    double weights = 0;
    for (const auto& what : cases) {
        weights += weight(what, options);
    }
    if (weights == 0) {
        throw UsageError("--contestants: nobody of that name or family; see --list");
    }
    print_run_line(options);
    std::vector<Outcome> all;
    for (const auto& what : cases) {
        const std::int64_t now = wall_ns();
        const auto left = static_cast<double>(std::max<std::int64_t>(begin + total_ns - now, 0));
        const double own = weight(what, options);
        // What a case leaves over goes to those after it.
        const auto share = static_cast<std::int64_t>(left * own / weights);
        const Schedule schedule{now, now + share, static_cast<std::int64_t>(options.slot_ms * 1e6),
                                options.seed};
        auto outcomes = measure_case(what, kept(what, options), schedule, [&](double part) {
            const auto done = static_cast<double>(now - begin) + part * static_cast<double>(share);
            print_progress(done / static_cast<double>(total_ns), describe(what));
        });
        weights = std::max(weights - own, own * 1e-9);
        all.insert(all.end(), outcomes.begin(), outcomes.end());
        add_floor_of(outcomes);
        for (const auto& line : row_lines(what, outcomes)) {
            print_line(line);
        }
    }
    print_progress(1, "done");
    print_line(nlohmann::ordered_json{{"type", "end"}, {"cases", cases.size()}}.dump());
    return lacks_peers(all) ? no_peers(all) : 0;
}

int list_contestants(const Options& options) {
    Options all = options;
    if (all.ops.empty()) {
        all.ops = {Operation::barrier, Operation::broadcast, Operation::broadcast_stream,
                   Operation::reduce, Operation::allreduce};
    }
    for (const auto& what : cases_of(all, static_cast<int>(allowed_cpus().size()))) {
        for (const auto& contestant : kept(what, all)) {
            nlohmann::ordered_json line{
                {"type", "contestant"},          {"op", to_string(what.op)},
                {"contestant", contestant.name}, {"family", contestant.family},
                {"ranks", what.ranks},           {"bytes", what.bytes},
                {"pinned", what.pinned},         {"regime", to_string(what.regime)},
                {"waiting", contestant.waiting}, {"skipped", nullptr}};
            if (program_path(contestant.program).empty()) {
                line["skipped"] = why_absent(contestant.program);
            }
            print_line(line.dump());
        }
    }
    return 0;
}

} // namespace corymb::bench
