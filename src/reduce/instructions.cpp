// SPDX-License-Identifier: Apache-2.0
#include "reduce/instructions.hpp"

namespace corymb::reduce {

std::int64_t usable_instructions() noexcept {
    std::int64_t usable = HWY_STATIC_TARGET;
#if HWY_ARCH_X86
    // The features that Highway's targets need. The builtin knows whether the kernel saves the
    // registers.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        usable |= HWY_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd")) {
            usable |= HWY_AVX3;
        }
    }
#endif
    return usable & HWY_TARGETS;
}

} // namespace corymb::reduce
