// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace corymb::bench {

namespace {

/// A tenth of a nanosecond is finer than anything that repeats.
double rounded(double value_ns) {
    return std::round(value_ns * 10) / 10;
}

double rounded_ratio(double value) {
    return std::round(value * 1000) / 1000;
}

void add_first_calls(nlohmann::ordered_json& row, const std::vector<double>& first_ns) {
    if (!first_ns.empty()) {
        row["first_ns"] = rounded(first_ns.front());
    }
    if (first_ns.size() > 1) {
        const Quartiles further = quartiles({first_ns.begin() + 1, first_ns.end()});
        row["further_root_ns"] = rounded(further.median);
    }
}

} // namespace

bool lacks_peers(const std::vector<Outcome>& outcomes) {
    const auto is_peer = [](const Outcome& outcome) {
        return outcome.contestant.family != "corymb";
    };
    return std::any_of(outcomes.begin(), outcomes.end(), is_peer) &&
           std::none_of(outcomes.begin(), outcomes.end(), [&](const Outcome& outcome) {
               return is_peer(outcome) && outcome.skipped.empty();
           });
}

void add_floor_of(std::vector<Outcome>& outcomes) {
    const Outcome* best = nullptr;
    for (const auto& outcome : outcomes) {
        const bool measured = outcome.skipped.empty() && outcome.contestant.family == "floor";
        if (measured &&
            (best == nullptr || outcome.operation_ns.median < best->operation_ns.median)) {
            best = &outcome;
        }
    }
    if (best != nullptr) {
        Outcome floor = *best;
        floor.contestant.waiting = "best is " + best->contestant.name;
        floor.contestant.name = "floor";
        outcomes.push_back(std::move(floor));
    }
}

std::vector<std::string> row_lines(const Case& what, const std::vector<Outcome>& outcomes) {
    const auto corymb = std::find_if(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return outcome.contestant.name == "corymb" && outcome.skipped.empty();
    });
    std::vector<std::string> lines;
    for (const auto& outcome : outcomes) {
        nlohmann::ordered_json row{{"type", "row"},
                                   {"op", to_string(what.op)},
                                   {"contestant", outcome.contestant.name},
                                   {"family", outcome.contestant.family},
                                   {"ranks", what.ranks},
                                   {"bytes", what.bytes},
                                   {"pinned", what.pinned},
                                   {"regime", to_string(what.regime)},
                                   {"waiting", outcome.contestant.waiting}};
        for (const char* name :
             {"median_ns", "q25", "q75", "ratio", "cpu_ns", "first_ns", "further_root_ns"}) {
            row[name] = nullptr;
        }
        if (outcome.skipped.empty()) {
            row["median_ns"] = rounded(outcome.operation_ns.median);
            row["q25"] = rounded(outcome.operation_ns.q25);
            row["q75"] = rounded(outcome.operation_ns.q75);
            row["cpu_ns"] = rounded(outcome.cpu_ns);
            add_first_calls(row, outcome.first_ns);
            if (corymb != outcomes.end()) {
                const double base = std::max(corymb->operation_ns.median, 0.1);
                row["ratio"] = rounded_ratio(outcome.operation_ns.median / base);
            }
        }
        row["slots"] = outcome.slots;
        row["skipped"] = outcome.skipped.empty() ? nlohmann::ordered_json(nullptr)
                                                 : nlohmann::ordered_json(outcome.skipped);
        // A strange byte in an error text must not end the run.
        lines.push_back(row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }
    return lines;
}

} // namespace corymb::bench
