// SPDX-License-Identifier: Apache-2.0
// Calls of one object that exclude each other.
#include "remote/among.hpp"

#include <corymb/call_rule.hpp>
#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

/// Notes who is in at the same time.
class Room {
public:
    static constexpr bool is_exclusive = true;
    Task<> write(int name) {
        ++writers_;
        most_writers_ = std::max(most_writers_, writers_);
        is_mixed_ = is_mixed_ || readers_ != 0;
        order_.push_back(name);
        co_await this_task::yield();
        co_await at(0, [] {}); // Messages are read meanwhile.
        --writers_;
    }
    Task<> read(int name) const {
        ++readers_;
        most_readers_ = std::max(most_readers_, readers_);
        is_mixed_ = is_mixed_ || writers_ != 0;
        order_.push_back(name);
        co_await this_task::yield();
        co_await at(0, [] {});
        --readers_;
    }
    void note(int name) {
        is_mixed_ = is_mixed_ || writers_ != 0 || readers_ != 0;
        order_.push_back(name);
    }
    [[nodiscard]] int most_writers() const { return most_writers_; }
    [[nodiscard]] int most_readers() const { return most_readers_; }
    [[nodiscard]] bool is_mixed() const { return is_mixed_; }
    [[nodiscard]] std::vector<int> order() const { return order_; }

    /// Holds the room until `open`, which interleaves.
    Task<> hold() {
        is_held_ = true;
        while (is_held_) {
            co_await this_task::yield();
        }
    }
    void open() { is_held_ = false; }
    [[nodiscard]] bool is_held() const { return is_held_; }

    /// Calls itself back from another rank.
    Task<int> call_back(Remote<Room> self, Rank over) {
        co_return co_await at(
            over,
            [](Remote<Room> room) -> Task<int> {
                co_await room.call<&Room::note>(1);
                co_return 0;
            },
            self);
    }
    /// Readers may call readers.
    Task<int> read_back(Remote<Room> self, Rank over) const {
        co_return co_await at(
            over,
            [](Remote<Room> room) -> Task<int> {
                co_return co_await room.call<&Room::most_writers>();
            },
            self);
    }
    Task<> post_back(Remote<Room> self) { co_await self.post<&Room::note>(7); }

private:
    int writers_ = 0;
    mutable int readers_ = 0;
    int most_writers_ = 0;
    mutable int most_readers_ = 0;
    mutable bool is_mixed_ = false;
    bool is_held_ = false;
    mutable std::vector<int> order_;
};

} // namespace

template <>
inline constexpr CallRule call_rule<&Room::open> = CallRule::interleaved;
template <>
inline constexpr CallRule call_rule<&Room::is_held> = CallRule::interleaved;

namespace {

class Exclusive : public ::testing::TestWithParam<Rank> {
protected:
    void caller(const std::function<Task<>(Remote<Room>, Rank)>& main) const {
        among(3, [&](Rank rank) -> Task<> {
            if (rank == 0) {
                const Remote<Room> room = co_await create<Room>(GetParam());
                co_await main(room, GetParam());
            }
        });
    }
};

TEST_P(Exclusive, WritersExcludeAllAndReadersRunTogether) {
    caller([](Remote<Room> room, Rank) -> Task<> {
        co_await finish([room]() -> Task<> {
            for (int i = 0; i < 60; ++i) {
                if (i % 20 < 10) {
                    co_await room.tell<&Room::read>(i);
                } else if (i % 2 == 0) {
                    co_await room.tell<&Room::write>(i);
                } else {
                    co_await room.tell<&Room::note>(i);
                }
            }
        });
        EXPECT_EQ(co_await room.call<&Room::most_writers>(), 1);
        EXPECT_GT(co_await room.call<&Room::most_readers>(), 1);
        EXPECT_FALSE(co_await room.call<&Room::is_mixed>());
        const std::vector<int> order = co_await room.call<&Room::order>();
        EXPECT_EQ(order.size(), 60U);
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << "first come, first served";
    });
}

/// In the middle of a change its numbers differ.
struct Halves {
    static constexpr bool is_exclusive = true;
    Task<> change() {
        ++one;
        co_await this_task::sleep_for(50us);
        ++other;
    }
    long one = 0;
    long other = 0;
};
bool is_whole(const Halves& pair) {
    return pair.one == pair.other;
}

TEST_P(Exclusive, ElementsAreReadAndWrittenBetweenMethods) {
    std::array<Halves, 3> all; // Outlives the runs.
    Remote<Halves> first;
    std::atomic<bool> is_offered{false};
    among(3, [&](Rank rank) -> Task<> {
        if (rank == GetParam()) {
            first = offer(std::span(all));
            is_offered = true;
        }
        while (!is_offered) {
            co_await this_task::yield();
        }
        if (rank != 0) {
            co_return;
        }
        co_await finish([&first]() -> Task<> {
            const auto read = [](Remote<Halves> from) -> Task<> {
                EXPECT_TRUE(std::ranges::all_of(co_await from.get(3), is_whole));
            };
            const auto write = [](Remote<Halves> from) -> Task<> {
                const std::array<Halves, 2> values{Halves{100, 100}, Halves{100, 100}};
                co_await from.put(std::span(values));
            };
            for (int i = 0; i < 10; ++i) {
                co_await (first + i % 2).tell<&Halves::change>();
                co_await this_task::sleep_for(20us); // It begins.
                spawn(read(first));
                co_await (first + i % 2).tell<&Halves::change>();
                co_await this_task::sleep_for(20us);
                spawn(write(first));
            }
        });
        EXPECT_TRUE(std::ranges::all_of(co_await first.get(3), is_whole));
    });
}

Task<> hold_it(Remote<Room> room) {
    co_await room.call<&Room::hold>();
}
Task<> note_it(Remote<Room> room, int name) {
    co_await room.call<&Room::note>(name);
}
Task<> until_held(Remote<Room> room) {
    for (bool is_held = false; !is_held;) {
        is_held = co_await room.call<&Room::is_held>();
        co_await this_task::yield();
    }
}

TEST_P(Exclusive, AStoppedCallGivesItsPlaceUp) {
    caller([](Remote<Room> room, Rank) -> Task<> {
        Spawned<void> holds = spawn(hold_it(room));
        co_await until_held(room);
        try {
            co_await within(std::chrono::milliseconds(5), note_it(room, 1));
            ADD_FAILURE() << "the room is held";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::timeout);
        }
        Spawned<void> notes = spawn(note_it(room, 2));
        co_await room.call<&Room::open>();
        co_await holds;
        co_await notes;
        const std::vector<int> order = co_await room.call<&Room::order>();
        EXPECT_EQ(order.size(), 1U);
        EXPECT_EQ(order.back(), 2);
    });
}

TEST_P(Exclusive, ADestroyedObjectEndsAfterThoseThatWait) {
    caller([](Remote<Room> room, Rank on) -> Task<> {
        Spawned<void> holds = spawn(hold_it(room));
        co_await until_held(room);
        Spawned<void> notes = spawn(note_it(room, 2));
        co_await this_task::yield();
        co_await at(on, [] {}); // It waits there now.
        co_await room.post<&Room::open>();
        co_await room.destroy();
        co_await holds;
        co_await notes;
    });
}

TEST_P(Exclusive, ACallBackIsRefusedAndNamesTheChain) {
    caller([](Remote<Room> room, Rank on) -> Task<> {
        for (const Rank over : {0, 1, 2}) {
            try {
                co_await room.call<&Room::call_back>(room, over);
                ADD_FAILURE() << "it has called itself";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::deadlock) << error.what();
                EXPECT_EQ(error.ranks(), std::vector<Rank>{on});
                EXPECT_NE(std::string(error.what()).find("of rank " + std::to_string(on)),
                          std::string::npos);
            }
            EXPECT_EQ(co_await room.call<&Room::read_back>(room, over), 0);
        }
        co_await room.call<&Room::post_back>(room); // Nobody waits for it.
        const std::vector<int> order = co_await room.call<&Room::order>();
        EXPECT_EQ(order.size(), 1U);
    });
}

TEST_P(Exclusive, FunctionObjectsAreExclusive) {
    caller([](Remote<Room> room, Rank) -> Task<> {
        co_await finish([room]() -> Task<> {
            for (int i = 0; i < 20; ++i) {
                co_await room.tell([](Room& of, int name) -> Task<> { co_await of.write(name); },
                                   i);
            }
        });
        EXPECT_EQ(co_await room.call<&Room::most_writers>(), 1);
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Exclusive, ::testing::Values(0, 1));

} // namespace
} // namespace corymb
