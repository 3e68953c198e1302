// SPDX-License-Identifier: Apache-2.0
// Chooses the compiled instruction set that the kernels use. Highway could choose, too, but by a
// library whose loading measures the processor's clock, for milliseconds in every process.
#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace corymb::reduce {

/// Highway's bits (HWY_AVX2, ...) of the instruction sets that are compiled and that this processor
/// and its kernel have. Thread-safe; some nanoseconds.
[[nodiscard]] std::int64_t usable_instructions() noexcept;

/// The best function among the `usable` sets. A null pointer stands for a set that is not compiled.
template <class Function>
[[nodiscard]] Function best_of(std::int64_t usable, Function for_avx512, Function for_avx2,
                               Function for_all) noexcept {
#if HWY_ARCH_X86
    if (for_avx512 != nullptr && (usable & HWY_AVX3) != 0) {
        return for_avx512;
    }
    if (for_avx2 != nullptr && (usable & HWY_AVX2) != 0) {
        return for_avx2;
    }
#endif
    return for_all;
}

} // namespace corymb::reduce

/// The `function` of the namespaces of foreach_target.h that is compiled for the best of `usable`.
#define CORYMB_REDUCE_BEST(function, usable)                                                       \
    best_of<decltype(&HWY_STATIC_DISPATCH(function))>((usable), HWY_CHOOSE_AVX3(function),         \
                                                      HWY_CHOOSE_AVX2(function),                   \
                                                      HWY_CHOOSE_FALLBACK(function))
