// SPDX-License-Identifier: Apache-2.0
#include "plan/cells.hpp"

#include "base/cache_line.hpp"

#include <algorithm>

namespace corymb::plan {

namespace {

constexpr std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) noexcept {
    return (number + by - 1) / by;
}

/// Data that is only moved fills its cells. Its blocks are cut at cache lines.
std::uint64_t cells_of_moved(std::uint64_t block, std::uint64_t count) noexcept {
    return count * (block + cache_line_bytes - 1) / cell_bytes + 1;
}

/// A cell holds whole elements if data is combined, so elements just too long to fit once more
/// waste the most. Blocks are cut at elements, too.
std::uint64_t cells_of_combined(const Plan& plan, std::uint64_t count) noexcept {
    constexpr std::uint64_t tried = 16;
    const std::uint64_t parts = divided_up(count, plan.block_count);
    std::uint64_t most = 1;
    for (std::uint64_t in_a_cell = 1; in_a_cell <= tried; ++in_a_cell) {
        const std::uint64_t element = cell_bytes / (in_a_cell + 1) + 1;
        const std::uint64_t of_part = plan.bytes_max / element;
        const std::uint64_t elements =
            std::min(count * divided_up(of_part, plan.block_count), parts * of_part);
        most = std::max(most, divided_up(elements, in_a_cell));
    }
    // Shorter elements waste less than one of them in each cell and each block.
    constexpr std::uint64_t shorter = cell_bytes / (tried + 2) + 1;
    const std::uint64_t bytes = count * (plan.block_bytes(plan.bytes_max) + shorter);
    return std::max(most, divided_up(bytes, cell_bytes - shorter));
}

} // namespace

std::uint64_t cells_of(const Plan& plan, const Blocks& blocks) noexcept {
    const std::uint64_t block = plan.block_bytes(plan.bytes_max);
    if (block > cell_slots_most * cell_bytes || blocks.count > cell_slots_most * cell_bytes) {
        return cell_slots_most + std::uint64_t{1};
    }
    return is_reduction(plan.op) ? cells_of_combined(plan, blocks.count)
                                 : cells_of_moved(block, blocks.count);
}

} // namespace corymb::plan
