// SPDX-License-Identifier: Apache-2.0
// How fast the reduction kernels are: beside the plain loop that a compiler makes of the operator,
// and beside a copy of as many bytes, all in turns in one run. bench/README.md says how to read it.
#include "../engine/turns.hpp"

#include <corymb/operators.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using corymb::ElementType;
using corymb::Operator;
using corymb::Reduction;
using corymb::bench::times_in_turns;
using Clock = std::chrono::steady_clock;

constexpr std::size_t rounds = 15;
constexpr double turn_seconds = 0.002;

struct Contest {
    const char* type;
    const char* op;
    Reduction kernel;
    Reduction::Combine plain;
};

/// What the compiler makes of the loop, with the operator that corymb promises for the type.
template <class T, class Op>
Contest contest(ElementType type, Operator op) {
    return {to_string(type), to_string(op), corymb::reduction_of(type, op),
            corymb::detail::combine_each<T, Op>};
}

/// As corymb rounds it: in float, once.
template <class T, class Op>
struct InFloat {
    T operator()(T a, T b) const { return T(Op{}(static_cast<float>(a), static_cast<float>(b))); }
};

std::vector<Contest> contests() {
    using corymb::BFloat16;
    using corymb::Float16;
    using corymb::maximum;
    return {
        contest<std::uint8_t, std::plus<>>(ElementType::uint8, Operator::sum),
        contest<std::uint8_t, std::multiplies<>>(ElementType::uint8, Operator::prod),
        contest<std::uint32_t, std::plus<>>(ElementType::uint32, Operator::sum),
        contest<std::int32_t, maximum>(ElementType::int32, Operator::max),
        contest<std::uint64_t, std::multiplies<>>(ElementType::uint64, Operator::prod),
        contest<std::int64_t, maximum>(ElementType::int64, Operator::max),
        contest<std::uint32_t, std::bit_xor<>>(ElementType::uint32, Operator::bitwise_xor),
        contest<std::uint32_t, std::logical_and<>>(ElementType::uint32, Operator::logical_and),
        contest<Float16, InFloat<Float16, std::plus<>>>(ElementType::float16, Operator::sum),
        contest<BFloat16, InFloat<BFloat16, std::plus<>>>(ElementType::bfloat16, Operator::sum),
        contest<float, std::plus<>>(ElementType::float32, Operator::sum),
        contest<float, maximum>(ElementType::float32, Operator::max),
        contest<double, std::plus<>>(ElementType::float64, Operator::sum),
        contest<double, maximum>(ElementType::float64, Operator::max),
        contest<std::complex<float>, std::multiplies<>>(ElementType::complex64, Operator::prod),
        contest<corymb::ValueIndex<double>, corymb::min_loc>(ElementType::float64_index64,
                                                             Operator::min_loc),
    };
}

/// Bytes that `work` moves in a second, for a turn of about turn_seconds.
template <class Work>
double rate(double bytes, Work work) {
    int repetitions = 1;
    for (;;) {
        const auto begin = Clock::now();
        for (int i = 0; i < repetitions; ++i) {
            work();
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (seconds > turn_seconds || repetitions > 1 << 24) {
            return bytes * repetitions / seconds;
        }
        repetitions *= 4;
    }
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void measure(const Contest& entry, std::size_t bytes) {
    const std::size_t count = bytes / entry.kernel.element_bytes;
    std::vector<std::byte> left(bytes, std::byte{1});
    std::vector<std::byte> right(bytes, std::byte{2});
    std::vector<std::byte> out(bytes);
    const auto moved = static_cast<double>(bytes);
    enum : std::size_t { kernel, plain, copy, contestants };
    const auto rates = times_in_turns(contestants, rounds, [&](std::size_t who) {
        // Two inputs and one output; a copy has one of each.
        switch (who) {
        case kernel:
            return rate(3 * moved, [&] {
                entry.kernel.combine(left.data(), right.data(), out.data(), count, nullptr);
            });
        case plain:
            return rate(3 * moved, [&] {
                entry.plain(left.data(), right.data(), out.data(), count, nullptr);
            });
        default: return rate(2 * moved, [&] { std::memcpy(out.data(), left.data(), bytes); });
        }
    });
    const double fast = median(rates[kernel]) / 1e9;
    const double slow = median(rates[plain]) / 1e9;
    const double memcpy_rate = median(rates[copy]) / 1e9;
    std::printf("%-16s %-12s %9zu %9.1f %9.1f %7.2f %9.1f %7.2f\n", entry.type, entry.op, bytes,
                fast, slow, fast / slow, memcpy_rate, fast / memcpy_rate);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::size_t> sizes;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        std::size_t bytes = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
        if (error != std::errc{} || end != word.data() + word.size() || bytes < 16 ||
            bytes > std::size_t{1} << 32U) {
            std::fprintf(stderr, "corymb-bench-kernels [BYTES...]: from 16 to 4294967296\n");
            return 2;
        }
        sizes.push_back(bytes);
    }
    if (sizes.empty()) {
        sizes = {4096, 262144, 16777216};
    }
    std::printf("kernels for %s; GB/s of all bytes read and written\n",
                corymb::kernel_instructions());
    std::printf("%-16s %-12s %9s %9s %9s %7s %9s %7s\n", "type", "operator", "bytes", "kernel",
                "loop", "ratio", "memcpy", "ratio");
    for (const Contest& entry : contests()) {
        for (const std::size_t bytes : sizes) {
            measure(entry, bytes);
        }
    }
    return 0;
}
