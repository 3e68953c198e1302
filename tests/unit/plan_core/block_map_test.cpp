// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"
#include "plan/block_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace {

using namespace corymb;

/// Of blocks that follow each other: counts up.
struct Item {
    std::uint32_t number = 0;
    bool operator==(const Item&) const = default;
    [[nodiscard]] Item advanced(std::uint32_t by) const { return {number + by}; }
};

/// What it should hold, block by block.
using Blocks = std::vector<std::optional<std::uint32_t>>;

Blocks all_of(const plan::BlockMap<Item>& map, std::uint32_t size) {
    Blocks blocks(size);
    std::uint32_t seen = 0;
    map.for_each(0, size, [&](const auto& range) {
        EXPECT_LE(seen, range.first);
        EXPECT_LT(range.first, range.end);
        for (seen = range.first; seen < range.end; ++seen) {
            blocks[seen] = range.value.advanced(seen - range.first).number;
        }
    });
    return blocks;
}

/// Short ranges leave hundreds of them, in many chunks; long ones replace many at once.
TEST(BlockMap, HoldsWhatWasAssignedLast) {
    constexpr std::uint32_t size = 1000;
    Random random(3);
    for (int round = 0; round < 20; ++round) {
        plan::BlockMap<Item> map;
        Blocks blocks(size);
        for (int step = 0; step < 4000; ++step) {
            const std::uint32_t first = random.below(size);
            const std::uint32_t longest = step % 500 == 499 ? size : 3;
            const std::uint32_t count = random.below(std::min(longest, size - first) + 1);
            const bool forgets = random.below(4) == 0;
            const std::uint32_t number = random.below(3) == 0 ? first : random.below(size);
            if (forgets) {
                map.erase(first, count);
            } else {
                map.assign(first, count, {number});
            }
            for (std::uint32_t block = 0; block < count; ++block) {
                blocks[first + block] =
                    forgets ? std::nullopt : std::optional<std::uint32_t>(number + block);
            }
            if (step % 50 == 0) {
                ASSERT_EQ(all_of(map, size), blocks) << "round " << round << ", step " << step;
            }
        }
        ASSERT_EQ(all_of(map, size), blocks);
    }
}

std::size_t ranges_of(const plan::BlockMap<Item>& map) {
    std::size_t ranges = 0;
    map.for_each(0, ~std::uint32_t{0}, [&](const auto&) { ++ranges; });
    return ranges;
}

TEST(BlockMap, BlocksThatMoveTogetherAreOneRange) {
    constexpr std::uint32_t size = 500;
    plan::BlockMap<Item> map;
    for (std::uint32_t block = 0; block < size; block += 2) { // More than a chunk holds.
        map.assign(block, 1, {block});
    }
    EXPECT_EQ(ranges_of(map), size / 2);
    for (std::uint32_t block = 1; block < size; block += 2) {
        map.assign(block, 1, {block});
    }
    EXPECT_EQ(ranges_of(map), 1U);
    map.erase(100, 1);
    EXPECT_EQ(ranges_of(map), 2U);
}

TEST(BlockMap, ShowsTheAskedBlocksOnly) {
    plan::BlockMap<Item> map;
    map.assign(10, 10, {100});
    std::vector<std::uint32_t> seen;
    map.for_each(5, 8,
                 [&](const auto& range) { seen = {range.first, range.end, range.value.number}; });
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{10, 13, 100}));
    map.for_each(12, 3,
                 [&](const auto& range) { seen = {range.first, range.end, range.value.number}; });
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{12, 15, 102}));
}

} // namespace
