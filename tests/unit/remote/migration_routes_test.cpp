// SPDX-License-Identifier: Apache-2.0
// What ranks know of the places of objects, at moments that are made on purpose: a rank reads no
// messages while its task keeps the thread.
#include "remote/among.hpp"

#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

/// Notes the numbers that it is given, one call at a time.
struct Row {
    static constexpr bool is_exclusive = true;
    std::vector<int> numbers;
    void add(int number) { numbers.push_back(number); }
    /// Runs until it is let go.
    Task<> run() {
        while (!is_let_go) {
            co_await this_task::yield();
        }
    }
    Task<> sleep() {
        co_await this_task::sleep_for(std::chrono::seconds(2));
        has_slept = true;
    }
    [[nodiscard]] Rank place() const { return here(); }
    static inline std::atomic<bool> is_let_go{false};
    static inline std::atomic<bool> has_slept{false};
};
} // namespace

template <>
struct RemoteCodec<Row> {
    using Numbers = RemoteCodec<std::vector<int>>;
    static std::size_t size(const Row& row) { return Numbers::size(row.numbers); }
    static void write(RemoteWriter& to, const Row& row) { Numbers::write(to, row.numbers); }
    static Row read(RemoteReader& from) { return {Numbers::read(from)}; }
};

namespace {

/// Keeps the thread of the rank until then.
void keep_thread_until(const std::atomic<bool>& is_so) {
    while (!is_so) {
        std::this_thread::yield();
    }
}
Task<> move_to(Remote<Row> row, Rank to) {
    co_await row.migrate(to);
}
Task<Remote<Row>> make_moved(Rank home, Rank to) {
    const auto row = co_await create<Row>(home);
    co_await at<&move_to>(home, row, to);
    co_return row;
}
/// All that was sent there before has arrived.
Task<> meet(Rank rank) {
    for (int i = 0; i < 20; ++i) {
        co_await at(rank, [] {});
    }
}
Task<> until(const std::atomic<bool>& is_so) {
    while (!is_so) {
        co_await this_task::yield();
    }
}

/// Rank 1 has sent a call of the object back when the object comes to it again. Another call of the
/// same rank looks at the object there.
TEST(MigrationRoutes, LocalAsksNothingOfTheCallThatRuns) {
    std::atomic<int> runs{0};
    static std::atomic<int>* count = nullptr;
    count = &runs;
    std::atomic<bool> is_sent{false};
    std::atomic<bool> is_back{false};
    Remote<Row> shared;
    among(3, [&](Rank rank) -> Task<> {
        if (rank == 0) {
            const auto row = co_await make_moved(1, 2);
            shared = row;
            co_await finish([&]() -> Task<> {
                co_await row.tell<&Row::add>(1);
                is_sent = true;
                keep_thread_until(is_back);
                const auto found = co_await at(
                    1,
                    [](Remote<Row> one) {
                        ++*count;
                        return std::pair(here(), one.local() != nullptr);
                    },
                    row);
                EXPECT_EQ(found, std::pair(1, true));
            });
            EXPECT_EQ(co_await row.call<&Row::place>(), 1);
            co_await row.destroy();
        } else if (rank == 2) {
            co_await until(is_sent);
            co_await meet(1);
            co_await shared.migrate(1);
            is_back = true;
        }
    });
    EXPECT_EQ(runs, 1);
}

/// A tell is stopped while it comes back from where the object was, or has come back.
TEST(MigrationRoutes, AStopFollowsATellThatHasComeBack) {
    for (const bool is_read : {false, true}) {
        Row::has_slept = false;
        static std::atomic<bool> is_kept;
        static std::atomic<bool> is_over;
        is_kept = is_over = false;
        std::atomic<bool> is_asked{false};
        among(3, [&is_asked, is_read](Rank rank) -> Task<> {
            if (rank != 0) {
                co_return;
            }
            const auto row = co_await make_moved(1, 2);
            std::stop_source source;
            Spawned<void> told =
                spawn(finish([&is_asked, row, is_read, source]() mutable -> Task<> {
                          co_await row.tell<&Row::sleep>();
                          co_await post(1, [] {
                              is_kept = true;
                              keep_thread_until(is_over); // Rank 1 cannot say that it has seen all.
                          });
                          keep_thread_until(is_kept);
                          if (is_read) {
                              co_await meet(2);
                          }
                          source.request_stop();
                          is_asked = true;
                      }),
                      source.get_token());
            std::optional<Errc> code;
            try {
                co_await until(is_asked);
                is_over = true;
                co_await told;
            } catch (const Error& error) {
                code = error.code();
            }
            EXPECT_EQ(code, Errc::interrupted);
            co_await row.destroy();
        });
        EXPECT_FALSE(Row::has_slept);
    }
}

/// Rank 0 knows of more of its own objects where they are than it remembers of others'.
TEST(MigrationRoutes, OwnObjectsTakeNoRoomFromOthers) {
    static std::atomic<bool> is_kept;
    static std::atomic<bool> is_over;
    is_kept = is_over = false;
    among(3, [](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        std::vector<Remote<Row>> rows;
        for (int i = 0; i < 1100; ++i) { // remote/moved_objects_known is 1024.
            rows.push_back(co_await make_moved(0, 2));
        }
        for (int i = 0; i < 2; ++i) {
            rows.push_back(co_await make_moved(1, 2));
            co_await rows.back().call<&Row::place>();
        }
        co_await meet(1);
        co_await post(1, [] {
            is_kept = true;
            keep_thread_until(is_over); // Rank 1 cannot say where its objects are.
        });
        co_await until(is_kept);
        Spawned<Rank> place = spawn([](Remote<Row> row) -> Task<Rank> {
            co_return co_await row.call<&Row::place>();
        }(rows[1100]));
        co_await meet(2);
        EXPECT_TRUE(place.is_over());
        is_over = true;
        EXPECT_EQ(co_await place, 2);
        for (const auto& row : rows) {
            co_await row.destroy();
        }
    });
}

/// Rank 0 forgets the place of an object that keeps a call of it back.
TEST(MigrationRoutes, APlaceIsNotForgottenWhileACallIsKeptThere) {
    Row::is_let_go = false;
    std::atomic<bool> is_kept{false};
    std::atomic<bool> is_moving{false};
    std::atomic<bool> is_sent{false};
    std::atomic<bool> has_moved{false};
    Remote<Row> shared;
    among(4, [&](Rank rank) -> Task<> {
        if (rank == 0) {
            const auto row = co_await make_moved(1, 2);
            co_await row.call<&Row::place>();
            std::vector<Remote<Row>> others;
            for (int i = 0; i < 1024; ++i) { // remote/moved_objects_known
                others.push_back(co_await make_moved(1, 2));
            }
            for (std::size_t i = 1; i < others.size(); ++i) {
                co_await others[i].call<&Row::place>();
            }
            shared = row;
            is_kept = true;
            co_await until(is_moving);
            co_await row.post<&Row::add>(1);
            co_await meet(2);
            co_await others[0].call<&Row::place>(); // One place too many.
            co_await meet(2);
            co_await row.post<&Row::add>(2);
            is_sent = true;
            keep_thread_until(has_moved);
            Row seen;
            while (seen.numbers.size() != 2) {
                seen = co_await row.get();
            }
            const std::vector<int> in_order{1, 2};
            EXPECT_EQ(seen.numbers, in_order);
            EXPECT_EQ(co_await row.call<&Row::place>(), 3);
            for (const auto& other : others) {
                co_await other.destroy();
            }
            co_await row.destroy();
        } else if (rank == 2) {
            co_await until(is_kept);
            co_await finish([&]() -> Task<> {
                spawn([](Remote<Row> one) -> Task<> {
                    co_await one.call<&Row::run>();
                }(shared));
                co_await this_task::yield();
                spawn(move_to(shared, 3));
                co_await this_task::yield();
                is_moving = true;
                co_await until(is_sent);
                co_await meet(1);
                Row::is_let_go = true;
            });
            co_await meet(1);
            has_moved = true;
        }
    });
}

} // namespace
} // namespace corymb
