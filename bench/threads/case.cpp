// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace corymb::bench {

namespace {

using namespace std::string_view_literals;

constexpr std::array operation_names{
    std::pair{Operation::barrier, "barrier"sv},
    std::pair{Operation::broadcast, "broadcast"sv},
    std::pair{Operation::broadcast_stream, "broadcast-stream"sv},
    std::pair{Operation::reduce, "reduce"sv},
    std::pair{Operation::allreduce, "allreduce"sv},
};

constexpr std::array regime_names{
    std::pair{Regime::alone, "alone"sv},
    std::pair{Regime::oversubscribed, "oversubscribed"sv},
    std::pair{Regime::neighbour, "neighbour"sv},
    std::pair{Regime::late, "late"sv},
};

template <class Names, class Value>
std::string_view name_of(const Names& names, Value value) noexcept {
    for (const auto& [known, name] : names) {
        if (known == value) {
            return name;
        }
    }
    return "?";
}

template <class Value, class Names>
std::optional<Value> value_of(const Names& names, std::string_view wanted) noexcept {
    for (const auto& [known, name] : names) {
        if (name == wanted) {
            return known;
        }
    }
    return std::nullopt;
}

template <class Number>
std::optional<Number> parse(const std::string& word) {
    Number value{};
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || stop != end) {
        return std::nullopt;
    }
    return value;
}

/// The kernel refuses a mask smaller than its own; 8192 CPUs are the most that Linux supports.
constexpr int cpus_max = 8192;

struct CpuMask {
    CpuMask() noexcept : set(CPU_ALLOC(cpus_max)), bytes(CPU_ALLOC_SIZE(cpus_max)) {
        if (set != nullptr) {
            CPU_ZERO_S(bytes, set);
        }
    }
    CpuMask(const CpuMask&) = delete;
    CpuMask& operator=(const CpuMask&) = delete;
    ~CpuMask() { CPU_FREE(set); }

    cpu_set_t* set;
    std::size_t bytes;
};

} // namespace

std::string_view to_string(Operation op) noexcept {
    return name_of(operation_names, op);
}
std::string_view to_string(Regime regime) noexcept {
    return name_of(regime_names, regime);
}

std::optional<Operation> operation_from_string(std::string_view name) noexcept {
    return value_of<Operation>(operation_names, name);
}

std::optional<Regime> regime_from_string(std::string_view name) noexcept {
    return value_of<Regime>(regime_names, name);
}

std::string describe(const Case& what) {
    std::string text(to_string(what.op));
    if (what.bytes != 0) {
        text += " of " + std::to_string(what.bytes) + " B";
    }
    text += ", " + std::to_string(what.ranks) + " ranks, ";
    text += to_string(what.regime);
    return text + (what.pinned ? ", pinned" : "");
}

std::vector<std::string> to_words(const Case& what) {
    return {std::string(to_string(what.op)), std::to_string(what.ranks), std::to_string(what.bytes),
            std::string(to_string(what.regime)), what.pinned ? "pinned" : "free"};
}

std::optional<Case> case_from_words(const std::vector<std::string>& words) {
    if (words.size() != 5) {
        return std::nullopt;
    }
    const auto op = operation_from_string(words[0]);
    const auto ranks = parse<int>(words[1]);
    const auto bytes = parse<std::size_t>(words[2]);
    const auto regime = regime_from_string(words[3]);
    const bool pin_known = words[4] == "pinned" || words[4] == "free";
    if (!op || !ranks || *ranks < 1 || !bytes || *bytes % sizeof(double) != 0 || !regime ||
        !pin_known || (*op != Operation::barrier) != (*bytes != 0)) {
        return std::nullopt;
    }
    return Case{*op, *ranks, *bytes, *regime, words[4] == "pinned"};
}

std::vector<int> allowed_cpus() {
    std::vector<int> allowed;
    const CpuMask mask;
    if (mask.set != nullptr && sched_getaffinity(0, mask.bytes, mask.set) == 0) {
        for (int cpu = 0; cpu < cpus_max; ++cpu) {
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), mask.bytes, mask.set)) {
                allowed.push_back(cpu);
            }
        }
    }
    if (allowed.empty()) {
        allowed.push_back(0);
    }
    return allowed;
}

bool bind_this_thread(const std::vector<int>& cpus) noexcept {
    const CpuMask mask;
    const auto is_none = [](int cpu) {
        return cpu < 0 || cpu >= cpus_max;
    };
    if (mask.set == nullptr || std::any_of(cpus.begin(), cpus.end(), is_none)) {
        return false;
    }
    for (const int cpu : cpus) {
        CPU_SET_S(static_cast<std::size_t>(cpu), mask.bytes, mask.set);
    }
    return sched_setaffinity(0, mask.bytes, mask.set) == 0;
}

bool bind_this_thread(int cpu) noexcept {
    return bind_this_thread(std::vector<int>{cpu});
}

std::vector<int> placement(int ranks) {
    const auto allowed = allowed_cpus();
    std::vector<int> cpus;
    for (int rank = 0; rank < ranks; ++rank) {
        cpus.push_back(allowed[static_cast<std::size_t>(rank) % allowed.size()]);
    }
    return cpus;
}

} // namespace corymb::bench
