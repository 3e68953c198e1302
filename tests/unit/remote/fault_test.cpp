// SPDX-License-Identifier: Apache-2.0
// Calls that fail half way, are stopped, or meet ranks that leave.
#include "remote/among.hpp"
#include "remote/refusal.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {

/// Throws where it is told to.
struct Fragile {
    enum Where { nowhere, size, write_early, write_late, read, too_long, too_short, write_other };
    Where where = nowhere;
    std::string text;
};

template <>
struct RemoteCodec<Fragile> {
    static std::size_t size(const Fragile& value) {
        refuse(value, Fragile::size);
        return sizeof value.where + RemoteCodec<std::string>::size(value.text) -
               (value.where == Fragile::too_long ? 1 : 0);
    }
    static void write(RemoteWriter& to, const Fragile& value) {
        refuse(value, Fragile::write_early);
        if (value.where == Fragile::write_other) {
            throw std::range_error("no Error");
        }
        to.put(&value.where, sizeof value.where);
        if (value.where != Fragile::too_short) {
            RemoteCodec<std::string>::write(to, value.text);
        }
        refuse(value, Fragile::write_late);
    }
    static Fragile read(RemoteReader& from) {
        Fragile value;
        value.where = RemoteCodec<Fragile::Where>::read(from);
        refuse(value, Fragile::read);
        value.text = RemoteCodec<std::string>::read(from);
        return value;
    }
    static void refuse(const Fragile& value, Fragile::Where where) {
        if (value.where == where) {
            throw Error(Errc::invalid_model, "fragile");
        }
    }
};

namespace {

using namespace std::chrono_literals;

TEST(RemoteFault, AStoppedCallThatIsAnsweredLateMixesNothingUp) {
    static std::atomic<bool> release;
    release = false;
    among(2, [](Rank rank) -> Task<> {
        if (rank == 1) {
            co_return;
        }
        auto stubborn = []() -> Task<int> {
            while (!release) {
                co_await this_task::yield();
            }
            co_return -1;
        };
        auto call = [stubborn]() -> Task<int> {
            co_return co_await at(1, stubborn);
        };
        try {
            co_await within(1ms, call());
            ADD_FAILURE() << "it has ended";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::timeout);
        }
        // Long enough that names of calls with 12 bits would come again, and in the middle of the
        // call that has the same one.
        constexpr int calls = 5000;
        constexpr int same_name = 4094;
        int right = 0;
        for (int i = 0; i < calls; ++i) {
            const int back = co_await at(
                1,
                [](int number) -> Task<int> {
                    release = release || number == same_name;
                    co_await this_task::yield();
                    co_await this_task::yield();
                    co_return number;
                },
                i);
            right += back == i ? 1 : 0;
        }
        EXPECT_EQ(right, calls);
    });
}

TEST(RemoteFault, AnswersOfARankThatHasLeftStillCount) {
    RemoteGroup group(2, {.capacity = 1000});
    RemoteRank own = group.join(0);
    std::vector<Spawned<int>> calls;
    for (int i = 0; i < 500; ++i) {
        calls.push_back(own.scheduler().spawn([](int number) -> Task<int> {
            co_return co_await at(1, [](int n) { return n; }, number);
        }(i)));
    }
    for (int i = 0; i < 20; ++i) {
        own.scheduler().poll();
    }
    std::jthread([&] {
        RemoteRank other = group.join(1);
        for (int i = 0; i < 20; ++i) {
            other.scheduler().poll();
        }
    }).join();
    EXPECT_NO_THROW(own.scheduler().run([](std::vector<Spawned<int>> all) -> Task<> {
        int number = 0;
        for (Spawned<int>& call : all) {
            EXPECT_EQ(co_await call, number++);
        }
    }(std::move(calls))));
}

TEST(RemoteFault, ALongMessageOfARankThatHasLeftIsNotTakenForAnother) {
    RemoteGroup group(2, {.message_bytes = 32, .capacity = 1});
    RemoteRank own = group.join(0);
    {
        RemoteRank other = group.join(1);
        other.scheduler().spawn([]() -> Task<> {
            co_await post(0, [](const std::string&) {}, std::string(1000, 'x'));
        }());
        for (int part = 0; part < 3; ++part) {
            other.scheduler().poll();
            own.scheduler().poll();
        }
        own.scheduler().spawn([]() -> Task<> {
            for (int i = 0; i < 3; ++i) { // One is on its way, the others wait for room.
                co_await post(1, [] {});
            }
        }());
        own.scheduler().poll();
        other.scheduler().request_stop();
    }
    EXPECT_EQ(refusal([&] {
                  while (own.scheduler().poll() != 0) {
                  }
              }),
              Errc::team_broken);
    EXPECT_EQ(own.scheduler().poll(), 0U);
}

TEST(RemoteFault, ATellThatWaitsForRoomEndsWithItsRank) {
    RemoteGroup group(2, {.capacity = 1});
    RemoteRank silent = group.join(1);
    {
        RemoteRank own = group.join(0);
        own.scheduler().spawn([]() -> Task<> {
            co_await finish([] {
                for (int i = 0; i < 10; ++i) {
                    spawn([]() -> Task<> {
                        co_await tell(1, [] {});
                    }());
                }
            });
        }());
        for (int i = 0; i < 5; ++i) {
            own.scheduler().poll();
        }
    }
}

TEST(RemoteFault, ACodecMayThrowAnywhere) {
    for (const std::size_t length : {0U, 1000U}) {
        among(2, [length](Rank rank) -> Task<> {
            const Rank other = 1 - rank;
            const auto echo = [](Fragile given) {
                return given;
            };
            const auto echo_later = [](Fragile given) -> Task<Fragile> {
                co_await this_task::yield();
                co_return given;
            };
            const auto make = [](Fragile::Where where, std::size_t of) {
                return Fragile{where, std::string(of, 'x')};
            };
            const auto make_later = [](Fragile::Where where, std::size_t of) -> Task<Fragile> {
                co_await this_task::yield();
                co_return Fragile{where, std::string(of, 'x')};
            };
            for (const auto where :
                 {Fragile::size, Fragile::write_early, Fragile::write_late, Fragile::read,
                  Fragile::too_long, Fragile::too_short, Fragile::write_other}) {
                const Fragile fragile{where, std::string(length, 'x')};
                for (int kind = 0; kind < 5; ++kind) {
                    bool has_thrown = false;
                    try {
                        switch (kind) {
                        case 0: co_await at(other, echo, fragile); break;
                        case 1: co_await at(other, echo_later, fragile); break;
                        case 2: co_await at(other, make, where, length); break;
                        case 3: co_await at(other, make_later, where, length); break;
                        default:
                            co_await finish(
                                [&]() -> Task<> { co_await tell(other, echo, fragile); });
                        }
                    } catch (const std::exception&) {
                        has_thrown = true;
                    }
                    EXPECT_TRUE(has_thrown) << "kind " << kind << " at " << where;
                }
            }
            const Fragile good{Fragile::nowhere, "good"};
            EXPECT_EQ((co_await at(other, echo, good)).text, "good");
        });
    }
}

TEST(RemoteFault, ARankThatHasLeftIsNamed) {
    RemoteGroup group(2);
    std::jthread([&] { group.join(1).scheduler().poll(); }).join();
    RemoteRank own = group.join(0);
    for (int i = 0; i < 2; ++i) {
        try {
            own.run([]() -> Task<> {
                co_await at(1, [] {});
            }());
            ADD_FAILURE() << "the rank has left";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
            EXPECT_EQ(error.ranks(), std::vector<int>{1});
        }
    }
}

TEST(RemoteFault, ARankJoinsOnce) {
    RemoteGroup group(2);
    {
        const RemoteRank first = group.join(1);
    }
    EXPECT_EQ(refusal([&] { static_cast<void>(group.join(1)); }), Errc::invalid_argument);
}

struct Base {
    virtual ~Base() = default;
    int base() { return 1; }
};
struct Middle : Base {
    int middle() { return 2; }
};
struct Last : Middle {
    const std::string& name() const& { return name_; }
    std::string name_ = "last";
};

TEST(RemoteFault, ABaseOfABaseIsFound) {
    among(2, [](Rank rank) -> Task<> {
        const Remote<Last> last = co_await create<Last>(1 - rank);
        const Remote<Middle> middle = last;
        const Remote<Base> base = middle;
        EXPECT_EQ(co_await base.call<&Base::base>(), 1);
        EXPECT_EQ(co_await last.call<&Last::middle>(), 2);
    });
}

} // namespace
} // namespace corymb
