// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/shared_resources.hpp"

#include <corymb/discover.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace corymb::discover {
namespace {

constexpr SharedSets sets{1 << 24, 1 << 26, 1 << 25};

bool always(double /*seconds*/) {
    return true;
}

/// A machine on which copiers out of one place reach 25 at most, and a change of a word takes 50.
SharedTimes answers() {
    return {[](int, std::span<const int> cpus, std::int64_t) {
                return std::min(25.0, 10.0 * static_cast<double>(cpus.size()));
            },
            [](int, std::span<const int> cpus, std::int64_t) {
                return std::min(8.0, 5.0 * static_cast<double>(cpus.size()));
            },
            [](std::span<const int> cpus) {
                return 50.0 * static_cast<double>(cpus.size());
            }};
}

const SharedResource* find(const std::vector<SharedResource>& all, SharedUse use, Scope scope) {
    const auto found = std::ranges::find_if(
        all, [&](const SharedResource& one) { return one.use == use && one.scope == scope; });
    return found == all.end() ? nullptr : &*found;
}

TEST(SharedResources, AreCurvesOverCores) {
    const Machine machine = topology_from_synthetic("pack:2 numa:1 l3:1 core:6 pu:2");
    Machine filled = machine;
    filled.shared = measured_shared_resources(machine, answers(), sets, always);
    ASSERT_NO_THROW(filled.check());
    const SharedResource* memory = find(filled.shared, SharedUse::copies_from, Scope::numa);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(memory->count, (std::vector<int>{1, 2, 4, 6})) << "one PU of each core";
    EXPECT_EQ(memory->value, (std::vector<double>{10, 20, 25, 25}));
    EXPECT_EQ(memory->origin, DataOrigin::measured);
    EXPECT_EQ(memory->from_bytes, 1 << 25) << "less stays in the cache";
    ASSERT_NE(find(filled.shared, SharedUse::copies_from, Scope::l3), nullptr);
    ASSERT_NE(find(filled.shared, SharedUse::copies_between, Scope::package), nullptr);
    const SharedResource* buffer = find(filled.shared, SharedUse::copies_from, Scope::pu);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(buffer->value, (std::vector<double>{10, 16, 16, 16, 16})) << "as fast as a copy";
    const SharedResource* word = find(filled.shared, SharedUse::word, Scope::machine);
    ASSERT_NE(word, nullptr);
    EXPECT_EQ(word->count, (std::vector<int>{1, 2, 4, 8, 12}));
    EXPECT_EQ(word->value.back(), 600);
}

TEST(SharedResources, TakeThePublicationOffTheWord) {
    Machine machine = topology_from_synthetic("core:2 pu:1");
    machine.classes.front().send = {5, 5, 5, 1};
    machine.shared_line = {{0, {1}, {30}}};
    const auto found = measured_shared_resources(machine, answers(), sets, always);
    const SharedResource* word = find(found, SharedUse::word, Scope::machine);
    ASSERT_NE(word, nullptr);
    EXPECT_EQ(word->value, (std::vector<double>{50, 65}));
}

TEST(SharedResources, AreLeftOutWhereNothingIsSharedOrKnown) {
    EXPECT_TRUE(measured_shared_resources(topology_from_synthetic("pu:1"), answers(), sets, always)
                    .empty());
    const Machine machine = topology_from_synthetic("numa:1 core:2 pu:1");
    const auto never = [](double) {
        return false;
    };
    EXPECT_TRUE(measured_shared_resources(machine, answers(), sets, never).empty());
    SharedTimes silent = answers();
    silent.copies = [](int, std::span<const int>, std::int64_t) {
        return std::numeric_limits<double>::quiet_NaN();
    };
    const auto found = measured_shared_resources(machine, silent, sets, always);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().use, SharedUse::word);
}

TEST(SharedResources, HaveSetsThatMemoryAllows) {
    constexpr std::int64_t mebi = 1 << 20;
    EXPECT_EQ(shared_sets(32 * mebi, 1024 * mebi).cache_bytes, 16 * mebi);
    EXPECT_EQ(shared_sets(32 * mebi, 1024 * mebi).memory_bytes, 64 * mebi);
    EXPECT_EQ(shared_sets(0, 1024 * mebi).memory_bytes, 32 * mebi);
    EXPECT_EQ(shared_sets(64 * mebi, 512 * mebi).memory_bytes, 0);
    EXPECT_EQ(shared_sets(512 * mebi, 65536 * mebi).memory_bytes, 0) << "it takes too long";
    EXPECT_EQ(shared_sets(512 * mebi, 65536 * mebi).cache_bytes, 32 * mebi);
}

} // namespace
} // namespace corymb::discover
