// SPDX-License-Identifier: Apache-2.0
// src/base/remote_memory.hpp: copies with a process, here the own one, and by what it is known.
#include "base/remote_memory.hpp"

#include <array>
#include <bit>
#include <gtest/gtest.h>
#include <unistd.h>

namespace corymb {
namespace {

const auto own_pid = static_cast<std::uint32_t>(::getpid());

ProcessMark mark_at(const std::uint64_t& place) {
    return {std::bit_cast<std::uint64_t>(&place), place};
}

TEST(RemoteMemoryTest, AProcessIsKnownByItsMark) {
    const std::uint64_t place = 0x1234'5678'9abc'def0;
    ProcessMark mark = mark_at(place);
    EXPECT_TRUE(is_marked(own_pid, mark));
    ++mark.value; // As if another process had its number.
    EXPECT_FALSE(is_marked(own_pid, mark));
    EXPECT_FALSE(is_marked(own_pid, {8, 0})); // Nothing is there.
    EXPECT_FALSE(is_marked(0x7fff'ffff, mark_at(place)));
}

TEST(RemoteMemoryTest, CopiesBothWays) {
    std::array<int, 5000> from{};
    std::array<int, 5000> to{};
    from.fill(3);
    EXPECT_TRUE(write_process(own_pid, to.data(), from.data(), sizeof from));
    EXPECT_EQ(to, from);
    from.fill(4);
    EXPECT_TRUE(read_process(own_pid, from.data(), to.data(), sizeof from));
    EXPECT_EQ(to, from);
    EXPECT_FALSE(write_process(own_pid, nullptr, from.data(), sizeof from));
    EXPECT_FALSE(read_process(own_pid, nullptr, to.data(), sizeof to));
    EXPECT_TRUE(write_process(own_pid, nullptr, nullptr, 0));
}

} // namespace
} // namespace corymb
