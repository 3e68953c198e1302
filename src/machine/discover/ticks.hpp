// SPDX-License-Identifier: Apache-2.0
// The finest clock that a core can read by itself, for intervals of tens of nanoseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace corymb::discover {

using Ticks = std::uint64_t;

/// Reads the clock after all earlier loads and before all later instructions. Earlier stores may
/// still wait in the store buffer: that is the moment from which a sender is free again.
inline Ticks ticks() noexcept {
#if defined(__x86_64__)
    _mm_lfence();
    const Ticks now = __rdtsc();
    _mm_lfence();
    return now;
#elif defined(__aarch64__)
    Ticks now;
    __asm__ __volatile__("isb; mrs %0, cntvct_el0; isb" : "=r"(now)::"memory");
    return now;
#else
    return static_cast<Ticks>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// How ticks relate to time on this machine.
struct TickScale {
    double ns_per_tick = 1;
    double overhead_ns = 0; ///< What two neighbouring reads differ by; part of every interval.

    /// Nanoseconds between two reads without the cost of reading; at least 0.
    [[nodiscard]] double ns(Ticks from, Ticks to) const noexcept {
        const double raw = static_cast<double>(to - from) * ns_per_tick - overhead_ns;
        return raw > 0 ? raw : 0;
    }
};

constexpr std::size_t reads_in_a_row = 64;

/// Ticks from one read of the clock to the next. The mean over the quickest `reads_in_a_row` of
/// these reads: a tick may be longer than a read, so a single interval says nothing, and an
/// interrupt spoils a row.
[[nodiscard]] double ticks_a_read(std::span<const Ticks> reads) noexcept;

/// Compares ticks with the monotonic clock for about 5 ms.
TickScale calibrate_ticks();

/// Compares the two clocks over as long as the object lives.
class DriftCheck {
public:
    DriftCheck();
    /// Parts per million by which ticks left the monotonic clock, given the scale found earlier.
    [[nodiscard]] double ppm(const TickScale& scale) const;

private:
    Ticks ticks_;
    std::int64_t ns_;
};

/// Whether the processor promises that ticks run at a constant rate on all cores.
bool ticks_are_invariant();

} // namespace corymb::discover
