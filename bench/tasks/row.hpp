// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace corymb::bench {

using Clock = std::chrono::steady_clock;

inline double ns_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

struct Row {
    std::string what;
    std::size_t tasks;
    double median_ns; ///< For one task, turn or call.
    double low_ns;    ///< The least of the rounds.
    double high_ns;   ///< The largest of the rounds.
    double bytes = 0; ///< Memory of one task; 0: not measured.
};

inline Row row(const char* what, std::size_t tasks, std::vector<double> ns) {
    std::sort(ns.begin(), ns.end());
    return {what, tasks, ns[ns.size() / 2], ns.front(), ns.back()};
}

/// Calls between two ranks, beside two plain lines between the same threads, in turns.
[[nodiscard]] std::vector<Row> calls();

} // namespace corymb::bench
