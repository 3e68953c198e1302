// SPDX-License-Identifier: Apache-2.0
// Arenas: objects found by key, apart from each other, given back all at once.
#include "base/arena.hpp"

#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace corymb {
namespace {

struct alignas(line_pair_bytes) Line {
    std::uint64_t value = 7;
};
struct Large {
    std::byte bytes[100'000];
};

ArenaKey key(std::uint32_t kind, std::int32_t from = 0, std::uint64_t id = 0) {
    return {kind, 0, from, 0, id};
}

/// Counts what is out.
class CountingMemory final : public Memory {
public:
    Reach reach() const noexcept override { return Reach::process; }
    std::byte* at(Offset offset) const noexcept override {
        ++looks;
        return heap_.at(offset);
    }
    void lock() override {
        ++locks;
        heap_.lock();
    }
    void unlock() noexcept override { heap_.unlock(); }
    Offset take(std::size_t bytes) override {
        out += bytes;
        return heap_.take(bytes);
    }
    void give_back(Offset block, std::size_t bytes) noexcept override {
        out -= bytes;
        heap_.give_back(block, bytes);
    }
    std::size_t out = 0;
    std::size_t locks = 0;
    mutable std::size_t looks = 0;

private:
    HeapMemory heap_;
};

TEST(ArenaTest, AKeyNamesOneObject) {
    HeapMemory memory;
    Arena arena(memory);
    auto& line = arena.find_or_make<Line>(key(1));
    EXPECT_EQ(line.value, 7u);
    line.value = 9;
    Arena other(memory, arena.root());
    EXPECT_EQ(&other.find_or_make<Line>(key(1)), &line);
    EXPECT_EQ(other.find_or_make<Line>(key(1)).value, 9u);
    EXPECT_NE(&arena.find_or_make<Line>(key(2)), &line);
    EXPECT_NE(&arena.find_or_make<Line>(key(1, 5)), &line);
    EXPECT_NE(&arena.find_or_make<Line>(key(1, 0, 1)), &line);
}

TEST(ArenaTest, ObjectsAreApartAlignedAndZero) {
    HeapMemory memory;
    Arena arena(memory);
    std::set<std::uintptr_t> begins;
    for (std::int32_t i = 0; i < 3000; ++i) {
        auto& line = arena.find_or_make<Line>(key(1, i));
        EXPECT_EQ(line.value, 7u);
        line.value = static_cast<std::uint64_t>(i);
        begins.insert(reinterpret_cast<std::uintptr_t>(&line));
        if (i % 1000 == 0) {
            const auto& large = arena.find_or_make<Large>(key(2, i));
            EXPECT_EQ(large.bytes[99'999], std::byte{0});
            begins.insert(reinterpret_cast<std::uintptr_t>(&large));
        }
    }
    EXPECT_EQ(begins.size(), 3003u);
    std::uintptr_t before = 0;
    for (const std::uintptr_t begin : begins) {
        EXPECT_EQ(begin % line_pair_bytes, 0u);
        EXPECT_GE(begin, before + sizeof(Line));
        before = begin;
    }
    for (std::int32_t i = 0; i < 3000; ++i) {
        EXPECT_EQ(arena.find_or_make<Line>(key(1, i)).value, static_cast<std::uint64_t>(i));
    }
    EXPECT_LT(arena.bytes(), 3000 * sizeof(Line) * 2 + 3 * 110'000u);
}

TEST(ArenaTest, DroppingGivesEverythingBack) {
    CountingMemory memory;
    Arena kept(memory);
    const std::size_t before = memory.out;
    Arena arena(memory);
    for (std::int32_t i = 0; i < 100; ++i) {
        arena.find_or_make<Line>(key(1, i));
        arena.find_or_make<Large>(key(2, i / 10));
    }
    EXPECT_EQ(memory.out, before + arena.bytes());
    arena.drop();
    EXPECT_EQ(memory.out, before);
}

TEST(ArenaTest, FindsAmongManyInFewLooksWithoutTheLock) {
    CountingMemory memory;
    Arena arena(memory);
    constexpr std::int32_t ranks = 32;
    const auto for_each_edge = [](const auto& edge) {
        for (std::uint32_t lane = 0; lane < 9; ++lane) {
            for (std::int32_t from = 0; from < ranks; ++from) {
                for (std::int32_t to = 0; to < ranks; ++to) {
                    edge(ArenaKey{1, lane, from, to, 0});
                }
            }
        }
    };
    for_each_edge([&](const ArenaKey& of) {
        arena.find_or_make<Line>(of).value =
            of.lane * 10'000u + static_cast<std::uint64_t>(of.from * ranks + of.to);
    });
    std::set<std::uint64_t> values;
    std::size_t edges = 0;
    std::size_t most = 0;
    memory.looks = memory.locks = 0;
    for_each_edge([&](const ArenaKey& of) {
        const std::size_t before = memory.looks;
        values.insert(arena.find_or_make<Line>(of).value);
        most = std::max(most, memory.looks - before);
        ++edges;
    });
    EXPECT_EQ(values.size(), edges);
    EXPECT_EQ(memory.locks, 0u);
    EXPECT_LT(memory.looks, 10 * edges); // A tree of four branches under 64 roots has 4 levels.
    EXPECT_LT(most, 25u);
    std::size_t visited = 0;
    arena.visit([&](const ArenaKey&, std::byte*) { ++visited; });
    EXPECT_EQ(visited, edges);
}

TEST(ArenaTest, ThreadsFindTheSameObject) {
    HeapMemory memory;
    Arena arena(memory);
    std::vector<std::vector<Line*>> seen(4);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : seen) {
            threads.emplace_back([&memory, &mine, root = arena.root()] {
                Arena handle(memory, root);
                for (std::int32_t i = 0; i < 500; ++i) {
                    mine.push_back(&handle.find_or_make<Line>(key(1, i)));
                }
            });
        }
    }
    for (const auto& other : seen) {
        EXPECT_EQ(other, seen[0]);
    }
}

/// Two keys whose entries go to the same place of an empty arena.
std::array<ArenaKey, 2> keys_of_one_place() {
    CountingMemory memory;
    Arena arena(memory);
    arena.find_or_make<Line>(key(1));
    const auto looks_for = [&](const ArenaKey& of) {
        memory.looks = 0;
        static_cast<void>(arena.find(of));
        return memory.looks;
    };
    std::size_t least = looks_for(key(2));
    for (std::int32_t other = 1;; ++other) {
        const std::size_t looks = looks_for(key(2, other));
        if (looks > least) { // Past the entry that is there.
            return {key(1), key(2, other)};
        }
        least = std::min(least, looks);
    }
}

TEST(ArenaTest, ThreadsThatMakeObjectsAtTheSamePlaceFindTheirOwn) {
    if (usable_cpus().count() < 2) {
        GTEST_SKIP() << "two threads never look and publish at the same time here";
    }
    constexpr int rounds = 100'000;
    constexpr int latest = 500;
    const auto keys = keys_of_one_place();
    HeapMemory memory;
    std::atomic<std::uint64_t> root{0};
    std::atomic<int> arrivals{0};
    std::atomic<int> foreign{0};
    const auto make_own = [&](std::uint64_t own) {
        int awaited = 0;
        const auto meet = [&] {
            awaited += 2;
            for (++arrivals; arrivals.load() < awaited;) {
            }
        };
        for (int round = 0; round < rounds; ++round) {
            if (own == 0) {
                root.store(Arena(memory).root());
            }
            meet();
            Arena arena(memory, root.load());
            // One looks while the other publishes, at times in every instant of that.
            for (int i = 0; own == 0 && i < round % latest; ++i) {
                static_cast<void>(arrivals.load());
            }
            auto& line = arena.find_or_make<Line>(keys[own]); // Nobody else asks for it.
            foreign += line.value == 7 ? 0 : 1;
            line.value = own;
            foreign += &arena.find_or_make<Line>(keys[own]) == &line ? 0 : 1;
            meet();
            if (own == 0) {
                arena.drop();
            }
        }
    };
    {
        const std::jthread other([&] { make_own(1); });
        make_own(0);
    }
    EXPECT_EQ(foreign.load(), 0);
}

} // namespace
} // namespace corymb
