// SPDX-License-Identifier: Apache-2.0
// A small generator whose sequence is the same everywhere, so that (seed, moves) decides a plan.
#pragma once

#include <cstdint>

namespace corymb {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 bits of state, passes BigCrush, no set-up cost.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

    constexpr std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, bound); the bias is below bound / 2^32.
    constexpr std::uint32_t below(std::uint32_t bound) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }
    /// Uniform in [0, 1).
    constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

} // namespace corymb
