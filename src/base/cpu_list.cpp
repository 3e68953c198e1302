// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace corymb {
namespace {

constexpr int cpu_max = 1 << 20; // Bounds memory for hostile text such as "0-2000000000".

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<int> parse_number(std::string_view text) {
    int number = -1;
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc{} || rest != end || number < 0 || number > cpu_max) {
        return std::nullopt;
    }
    return number;
}

} // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    text = trimmed(text);
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view item = trimmed(text.substr(0, comma));
        const std::size_t dash = item.find('-');
        const auto first = parse_number(item.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
        if (!first || !last || *last < *first) {
            return std::nullopt;
        }
        for (int cpu = *first; cpu <= *last; ++cpu) {
            cpus.push_back(cpu);
        }
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

std::string format_cpu_list(std::vector<int> cpus) {
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    std::string text;
    for (std::size_t first = 0; first < cpus.size();) {
        std::size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) {
            ++last;
        }
        text += (text.empty() ? "" : ",") + std::to_string(cpus[first]);
        if (last > first) {
            text += "-" + std::to_string(cpus[last]);
        }
        first = last + 1;
    }
    return text;
}

} // namespace corymb
