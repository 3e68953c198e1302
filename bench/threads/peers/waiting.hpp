// SPDX-License-Identifier: Apache-2.0
// How the textbook peers wait. The textbooks spin; with more ranks than CPUs that would only
// measure time slices, so there a competent author yields, and so do we.
#pragma once

#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace corymb::bench {

inline void relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

enum class Waiting : unsigned char { spin, spin_then_yield };

/// Polls until `ready()` is true.
template <class Ready>
inline void wait_until(Waiting waiting, Ready ready) noexcept {
    constexpr int polls_before_yield = 200;
    for (int poll = 0; !ready(); ++poll) {
        if (waiting == Waiting::spin || poll < polls_before_yield) {
            relax();
        } else {
            sched_yield();
        }
    }
}

} // namespace corymb::bench
