// SPDX-License-Identifier: Apache-2.0
#include "../threads/case.hpp"
#include "caller.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

namespace corymb::bench {

std::string_view to_string(CallOp op) noexcept {
    switch (op) {
    case CallOp::empty: return "empty";
    case CallOp::bytes64: return "bytes64";
    case CallOp::own: return "own";
    case CallOp::one_way: return "one_way";
    case CallOp::half: return "work_50";
    default: return "work_90";
    }
}

void work(std::uint64_t amount) noexcept {
    std::uint64_t state = amount | 1U;
    for (std::uint64_t round = 0; round < amount; ++round) { // Each waits for the one before.
        state = state * 6364136223846793005U + 1442695040888963407U;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    static std::atomic<std::uint64_t> sink{0};
    if (state == 0) { // Never: odd numbers stay odd now and then; keeps the result in use.
        sink.store(state, std::memory_order_relaxed);
    }
}

double work_per_ns() {
    static const double rate = [] {
        constexpr std::uint64_t amount = 2'000'000;
        double best_ns = 1e18;
        for (int turn = 0; turn < 5; ++turn) {
            const auto begin = Clock::now();
            work(amount);
            const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
            best_ns = std::min(best_ns, time.count());
        }
        return static_cast<double>(amount) / best_ns;
    }();
    return rate;
}

void bind_end(std::size_t end) {
    static const std::vector<int> cpus =
        allowed_cpus().size() < 2 ? std::vector<int>() : placement(2); // Before any is bound.
    if (!cpus.empty()) {
        bind_this_thread(cpus[end]);
    }
}

Repetition steps_of(std::uint64_t amount, Clock::duration budget) {
    return Repetition(budget, amount < 10'000 ? 32 : 1);
}

double smallest_work(Caller& caller, double efficiency, Clock::duration budget) {
    constexpr int looks = 4;
    constexpr double most_ns = 1e7;
    const double ratio = efficiency / (1 - efficiency);
    double length = 0;
    for (int look = 0; look < looks; ++look) {
        const auto amount = static_cast<std::uint64_t>(std::llround(length * work_per_ns()));
        const double overhead = caller.time_step(amount, budget / looks) - length;
        length = std::min(ratio * std::max(overhead, 0.0), most_ns);
    }
    return length;
}

} // namespace corymb::bench
