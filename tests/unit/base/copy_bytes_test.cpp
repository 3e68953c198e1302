// SPDX-License-Identifier: Apache-2.0
#include "base/copy_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace corymb {
namespace {

constexpr std::size_t page = 4096;

/// A place at the beginning of a page in it.
std::byte* page_in(std::vector<std::byte>& memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (page - begin % page) % page;
}

TEST(CopyBytesTest, CopiesAllLengthsBetweenAllPlaces) {
    constexpr std::size_t longest = 9000;
    std::vector<std::byte> source(longest + 2 * page);
    for (std::size_t i = 0; i < source.size(); ++i) {
        source[i] = static_cast<std::byte>(1 + i % 251);
    }
    const std::byte* const from = page_in(source) + 64;
    for (const std::size_t bytes : {0UL, 1UL, 7UL, 8UL, 9UL, 15UL, 16UL, 17UL, 1024UL, 2047UL,
                                    2048UL, 2049UL, 3072UL, 4097UL, 9000UL}) {
        for (const int behind : {-32, -1, 0, 1, 8, 16, 31, 32, 64}) {
            std::vector<std::byte> target(longest + 3 * page);
            std::byte* const to = page_in(target) + 64 + behind;
            copy_bytes(to, from, bytes);
            EXPECT_TRUE(std::equal(to, to + bytes, from)) << bytes << " bytes, " << behind;
            EXPECT_EQ(to[-1], std::byte{0}) << bytes << " bytes, " << behind;
            EXPECT_EQ(to[bytes], std::byte{0}) << bytes << " bytes, " << behind;
        }
    }
}

TEST(CopyBytesTest, KnowsPlacesThatLieBadly) {
    std::vector<std::byte> memory(4 * page);
    std::byte* const from = page_in(memory);
    for (const std::size_t behind : {1UL, 16UL, 31UL, page + 1, 2 * page + 31}) {
        EXPECT_TRUE(lie_badly(from + behind, from)) << behind;
    }
    for (const std::size_t behind : {0UL, 32UL, 64UL, page - 1, page, page + 32}) {
        EXPECT_FALSE(lie_badly(from + behind, from)) << behind;
    }
    EXPECT_FALSE(lie_badly(from, from + 16)); // Before it.
}

} // namespace
} // namespace corymb
