// SPDX-License-Identifier: Apache-2.0
// The largest plan that the library reads and proves: far above what machines need, low enough that
// a hostile file cannot exhaust memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corymb::plan {

inline constexpr std::size_t rank_count_max = 1u << 16;
inline constexpr std::size_t step_count_max = 1u << 24; ///< Steps of all ranks together.
/// Ranks of a plan that is only simulated; a proof takes a bit for each pair of ranks.
inline constexpr std::size_t simulated_rank_count_max = 1u << 20;
inline constexpr std::size_t simulated_step_count_max = 1u << 27;
inline constexpr std::uint32_t block_count_max = 1u << 24;
inline constexpr std::uint64_t payload_bytes_max = std::uint64_t{1} << 48;
inline constexpr std::size_t file_bytes_max = std::size_t{64} << 20;

} // namespace corymb::plan
