// SPDX-License-Identifier: Apache-2.0
#include "base/handover.hpp"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

namespace corymb {
namespace {

constexpr std::size_t longest = 9000;
constexpr std::size_t room = 256;

std::vector<std::byte> numbered() {
    std::vector<std::byte> bytes(longest + room);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(1 + i % 251);
    }
    return bytes;
}

/// Whether `copy` writes the bytes of the source there, and no others.
template <class Copy>
bool copies(const std::byte* from, std::size_t offset, std::size_t count, Copy copy) {
    std::vector<std::byte> target(longest + 2 * room);
    std::byte* const to = target.data() + room / 2 + offset;
    copy(to, from, count);
    return std::equal(to, to + count, from) &&
           std::count(target.begin(), target.end(), std::byte{0}) ==
               static_cast<std::ptrdiff_t>(target.size() - count);
}

TEST(HandoverTest, PastTheCachesCopiesAllLengthsBetweenAllPlaces) {
    const std::vector<std::byte> source = numbered();
    for (const std::size_t count : {0UL, 1UL, 63UL, 64UL, 65UL, 128UL, 1000UL, 4096UL, 9000UL}) {
        for (std::size_t to = 0; to < 70; to += 3) {
            for (const std::size_t from : {0UL, 1UL, 8UL, 40UL}) {
                EXPECT_TRUE(copies(source.data() + from, to, count, copy_past_caches))
                    << count << " bytes from " << from << " to " << to;
            }
        }
    }
}

TEST(HandoverTest, CopiesAlikeHoweverLongOthersHaveTaken) {
    const std::vector<std::byte> source = numbered();
    Handover handover;
    const auto copy = [&](std::byte* to, const std::byte* from, std::size_t count) {
        handover.copy(to, from, count);
    };
    for (std::size_t i = 0; i < 1000; ++i) { // Fresh memory each time: some take long.
        const std::size_t count = i % 3 == 0 ? i : longest - i;
        EXPECT_TRUE(copies(source.data() + i % 100, i % 70, count, copy)) << i;
    }
}

} // namespace
} // namespace corymb
