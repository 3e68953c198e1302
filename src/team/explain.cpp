// SPDX-License-Identifier: Apache-2.0
#include "team/explain.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corymb::team {

namespace {

bool is_wanted() noexcept {
    static const bool wanted = [] {
        const char* const text = std::getenv("CORYMB_EXPLAIN");
        return text != nullptr && *text != '\0' && std::string_view(text) != "0";
    }();
    return wanted;
}

void print(const std::string& text) noexcept {
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

std::string what(const PlanKey& key, const Plan& plan) {
    std::string text(to_string(key.op));
    if (key.bytes == any_part_bytes) {
        text += " of parts of any length";
    } else if (key.op != Collective::barrier) {
        text += fmt::format(" of up to {} B", key.bytes);
    }
    if (is_rooted(key.op) || key.root_first) {
        text += fmt::format(", root {}", key.root);
    }
    return text + fmt::format(", {} ranks", plan.size());
}

} // namespace

void explain_plan(const PlanKey& key, const Plan& plan, std::string_view made, std::int64_t ns,
                  const std::vector<TunedNumber>& numbers) noexcept {
    if (!is_wanted()) {
        return;
    }
    try {
        std::string line = fmt::format("corymb: plan of {}: {}, {} in {:.2f} ms", what(key, plan),
                                       plan.algorithm, made, static_cast<double>(ns) / 1e6);
        const char* between = ", by ";
        for (const TunedNumber& number : numbers) {
            line += fmt::format("{}{}", std::exchange(between, ", "), number.name);
        }
        print(line + '\n');
    } catch (const std::exception&) { // No memory: nothing is explained.
    }
}

void explain_doubts(std::string_view machine, const std::vector<std::string>& doubts) noexcept {
    if (!is_wanted() || doubts.empty()) {
        return;
    }
    try {
        std::string lines;
        for (const std::string& doubt : doubts) {
            lines += fmt::format("corymb: model of {}: {}\n", machine, doubt);
        }
        print(lines);
    } catch (const std::exception&) { // No memory: nothing is explained.
    }
}

} // namespace corymb::team
