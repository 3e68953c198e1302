// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../threads/statistics.hpp"

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
    Quartiles ns;     ///< The rounds', for one task, turn or call.
    double bytes = 0; ///< Memory of one task; 0: not measured.
};

/// Shared arrays, maps and queues of two ranks.
[[nodiscard]] std::vector<Row> shared_structures();
/// Data of 1 GiB that eight processes read: nanoseconds an element, bytes of all.
[[nodiscard]] std::vector<Row> memory();
/// Steps of groups of 2 to 16 ranks, beside loops of calls.
[[nodiscard]] std::vector<Row> group_steps();
/// An object that moves between two ranks.
[[nodiscard]] std::vector<Row> moves();
/// Calls of two ranks over TCP.
[[nodiscard]] std::vector<Row> far_calls();

/// Tasks with a stack of their own.
[[nodiscard]] std::vector<Row> stacks();
/// A replicated table, and others that two threads share, in turns.
[[nodiscard]] std::vector<Row> replicated_table();
/// Two ranks cluster points: nanoseconds for a candidate, and ratios.
[[nodiscard]] std::vector<Row> streamcluster();

} // namespace corymb::bench
