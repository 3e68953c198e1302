// SPDX-License-Identifier: Apache-2.0
// What is measured: one operation, for a number of ranks and bytes, under one load of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::bench {

enum class Operation : std::uint8_t {
    barrier,
    broadcast,        ///< The root moves on with every operation, so that time is latency.
    broadcast_stream, ///< The root stays, so that time is the reciprocal of throughput.
    reduce,           ///< The root moves on with every operation.
    allreduce,
};

enum class Regime : std::uint8_t {
    alone,          ///< No more ranks than CPUs, nothing else to run.
    oversubscribed, ///< More ranks than CPUs.
    neighbour,      ///< A foreign process spins on one of the CPUs.
    late,           ///< In every operation one rank arrives `late_ns` after the others.
};

/// How late the late rank is.
inline constexpr std::int64_t late_ns = 10'000'000;

struct Case {
    Operation op = Operation::barrier;
    int ranks = 2;
    std::size_t bytes = 0; ///< 0 for a barrier, else a multiple of sizeof(double).
    Regime regime = Regime::alone;
    bool pinned = true;

    [[nodiscard]] std::size_t count() const noexcept { return bytes / sizeof(double); }
    bool operator==(const Case&) const = default;
};

/// Whether the root moves on with every operation.
[[nodiscard]] constexpr bool has_moving_root(Operation op) noexcept {
    return op == Operation::broadcast || op == Operation::reduce;
}

std::string_view to_string(Operation op) noexcept;
std::string_view to_string(Regime regime) noexcept;
std::optional<Operation> operation_from_string(std::string_view name) noexcept;
std::optional<Regime> regime_from_string(std::string_view name) noexcept;

/// "barrier", "broadcast of 8 B" and so on, with ranks and regime: for people.
std::string describe(const Case& what);

/// The case as words of a command line, and back. Empty when the words are not a case.
std::vector<std::string> to_words(const Case& what);
std::optional<Case> case_from_words(const std::vector<std::string>& words);

/// CPUs of the inherited affinity mask, ascending.
std::vector<int> allowed_cpus();
/// Binds the calling thread (and what it creates) to one CPU; false when the system refuses.
bool bind_this_thread(int cpu) noexcept;
/// The same to several.
bool bind_this_thread(const std::vector<int>& cpus) noexcept;
/// CPU of each rank when ranks are pinned: the allowed CPUs in turn.
std::vector<int> placement(int ranks);

} // namespace corymb::bench
