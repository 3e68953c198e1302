// SPDX-License-Identifier: Apache-2.0
// Objects that move to other ranks while they are called.
#include "remote/among.hpp"
#include "remote/over_nodes.hpp"

#include <corymb/distributed.hpp>
#include <corymb/finish.hpp>
#include <corymb/object_group.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

namespace {
struct Name {
    virtual ~Name() = default;
    [[nodiscard]] std::string name() const { return text; }
    std::string text;
};
} // namespace

/// Has a base, members, and what can only be moved. Counts what is alive.
struct Cart : Name {
    Cart() { ++alive; }
    explicit Cart(std::string of) : Cart() { text = std::move(of); }
    Cart(const Cart&) = delete;
    Cart(Cart&& other) noexcept : Cart() {
        text = std::move(other.text);
        load = std::move(other.load);
        weight = other.weight;
    }
    Cart& operator=(Cart&&) = delete;
    ~Cart() override { --alive; }
    [[nodiscard]] Rank place() const { return here(); }
    void put_in(int what) { load.push_back(std::make_unique<int>(what)); }
    [[nodiscard]] int sum() const {
        int all = 0;
        for (const auto& one : load) {
            all += *one;
        }
        return all;
    }
    /// Asks to be moved from within.
    Task<bool> is_moved_at_once(Remote<Cart> self, Rank to) {
        try {
            co_await self.migrate(to);
        } catch (const Error& error) {
            co_return error.code() != Errc::deadlock;
        }
        co_return true;
    }
    Task<> leave(Remote<Cart> self, Rank to) { co_await self.post_migration(to); }
    /// Runs until it is let go.
    Task<> run() {
        is_running = true;
        while (is_running) {
            co_await this_task::yield();
        }
    }
    void let_go() { is_running = false; }
    [[nodiscard]] bool runs() const { return is_running; }

    std::vector<std::unique_ptr<int>> load;
    long weight = 1;
    bool is_running = false;
    static inline std::atomic<int> alive{0};
    static inline std::atomic<bool> throws{false};
};

template <>
struct RemoteCodec<Cart> {
    using Load = std::vector<std::unique_ptr<int>>;
    static std::size_t size(const Cart& cart) {
        return detail::size_of_all(cart.text, cart.load, cart.weight);
    }
    static void write(RemoteWriter& to, const Cart& cart) {
        detail::write_all(to, cart.text, cart.load, cart.weight);
    }
    static Cart read(RemoteReader& from) {
        if (Cart::throws) {
            throw std::range_error("no cart");
        }
        Cart cart(RemoteCodec<std::string>::read(from));
        cart.load = RemoteCodec<Load>::read(from);
        cart.weight = RemoteCodec<long>::read(from);
        return cart;
    }
};

namespace {

using namespace std::chrono_literals;

/// The code of what the awaited throws; none if it throws no Error.
Task<std::optional<Errc>> code_of(Task<> call) {
    try {
        co_await std::move(call);
    } catch (const Error& error) {
        co_return error.code();
    }
    co_return std::nullopt;
}
template <class T>
Task<> move_to(Remote<T> object, Rank to) {
    co_await object.migrate(to);
}
Task<> ask(Remote<Cart> cart) {
    co_await cart.call<&Cart::place>();
}

void caller(int size, const std::function<Task<>()>& main) {
    Cart::alive = 0;
    among(size, [&](Rank rank) -> Task<> {
        if (rank == 0) {
            co_await main();
        }
    });
    EXPECT_EQ(Cart::alive, 0);
}

TEST(Migration, PointersStayGoodAndEqual) {
    caller(4, []() -> Task<> {
        for (Rank home = 0; home < 4; ++home) {
            const auto cart = co_await create<Cart>(home, "red");
            const Remote<Name> name = cart;
            const auto weight = co_await cart.member<&Cart::weight>();
            const std::hash<Remote<Cart>> hash;
            for (const Rank to : {1, 0, 3, 3, 2, 1, 0}) {
                co_await cart.call<&Cart::put_in>(to);
                co_await cart.migrate(to);
                EXPECT_EQ(co_await cart.call<&Cart::place>(), to);
                EXPECT_EQ(cart.local() != nullptr, to == 0);
                EXPECT_EQ(co_await name.call<&Name::name>(), "red");
                const auto again = co_await cart.member<&Cart::weight>();
                EXPECT_EQ(again, weight);
                co_await weight.call([](long& of) { ++of; });
                const auto back = co_await at(to, [](Remote<Cart> given) { return given; }, cart);
                EXPECT_EQ(back, cart);
                EXPECT_EQ(hash(back), hash(cart));
            }
            EXPECT_EQ(co_await cart.call<&Cart::sum>(), 10);
            EXPECT_EQ(co_await weight.get(), 8);
            EXPECT_EQ(Cart::alive, 1);
            co_await cart.destroy();
            EXPECT_EQ(Cart::alive, 0);
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(co_await code_of(ask(cart)), Errc::invalid_argument);
            }
            EXPECT_EQ(co_await code_of(move_to(cart, 1)), Errc::invalid_argument);
        }
    });
}

TEST(Migration, EveryRankFindsIt) {
    caller(4, []() -> Task<> {
        const auto cart = co_await create<Cart>(1, "blue");
        co_await cart.migrate(2);
        const auto place = [](Remote<Cart> of) -> Task<Rank> {
            co_return co_await of.call<&Cart::place>();
        };
        for (const Rank next : {3, 0, 1, 2}) {
            for (Rank rank = 0; rank < 4; ++rank) {
                const Rank now = co_await cart.call<&Cart::place>();
                EXPECT_EQ(co_await at(rank, place, cart), now);
            }
            co_await cart.migrate(next);
        }
        co_await at(3, [](Remote<Cart> of) -> Task<> { co_await of.destroy(); }, cart);
    });
}

TEST(Migration, WhatCannotMoveIsRefused) {
    caller(3, []() -> Task<> {
        Cart own("own");
        const auto offered = offer(own);
        EXPECT_EQ(co_await code_of(move_to(offered, 1)), Errc::invalid_argument);
        EXPECT_EQ(co_await code_of(move_to(offered, 0)), Errc::invalid_argument);
        co_await offered.destroy();
        std::array<long, 3> row{};
        const auto elements = offer(std::span(row));
        EXPECT_EQ(co_await code_of(move_to(elements + 1, 1)), Errc::invalid_argument);
        co_await elements.destroy();
        const auto cart = co_await create<Cart>(1, "red");
        const auto weight = co_await cart.member<&Cart::weight>();
        EXPECT_EQ(co_await code_of(move_to(weight, 0)), Errc::invalid_argument);
        EXPECT_EQ(co_await code_of(move_to(cart, 3)), Errc::invalid_argument);
        EXPECT_EQ(co_await code_of(move_to(cart, -1)), Errc::invalid_argument);
        EXPECT_EQ(co_await code_of(move_to(Remote<Cart>(), 1)), Errc::invalid_argument);
        EXPECT_EQ(co_await cart.call<&Cart::place>(), 1);
        co_await cart.destroy();
    });
}

TEST(Migration, AMethodMayPostTheMoveOfItsObject) {
    caller(3, []() -> Task<> {
        for (const Rank home : {0, 1}) {
            const auto cart = co_await create<Cart>(home, "red");
            const bool is_moved = co_await cart.call<&Cart::is_moved_at_once>(cart, 2);
            EXPECT_FALSE(is_moved) << "the move would wait for the method";
            EXPECT_EQ(co_await cart.call<&Cart::place>(), home);
            co_await cart.call<&Cart::leave>(cart, 2);
            while (co_await cart.call<&Cart::place>() != 2) {
                co_await this_task::yield();
            }
            co_await cart.destroy();
        }
    });
}

TEST(Migration, WaitsForCallsThatRunAndLetsThoseInThatTheyWaitFor) {
    caller(3, []() -> Task<> {
        const auto cart = co_await create<Cart>(1, "red");
        const auto run = [](Remote<Cart> of) -> Task<> {
            co_await of.call<&Cart::run>();
        };
        Spawned<void> runs = spawn(run(cart));
        while (!co_await cart.call<&Cart::runs>()) {
            co_await this_task::yield();
        }
        EXPECT_EQ(co_await code_of(within(5ms, move_to(cart, 2))), Errc::timeout);
        Spawned<void> moves = spawn(move_to(cart, 2));
        Spawned<void> moves_on = spawn(move_to(cart, 0));
        co_await at(1, []() -> Task<> { co_await this_task::sleep_for(1ms); });
        EXPECT_EQ(co_await cart.call<&Cart::place>(), 1);
        co_await cart.call<&Cart::let_go>();
        co_await runs;
        co_await moves;
        co_await moves_on;
        EXPECT_EQ(co_await cart.call<&Cart::place>(), 0);
        co_await cart.destroy();
    });
}

TEST(Migration, AnObjectWhoseCodecThrowsStays) {
    caller(3, []() -> Task<> {
        const auto cart = co_await create<Cart>(1, "red");
        Cart::throws = true;
        bool has_thrown = false;
        try {
            co_await cart.migrate(2);
        } catch (const std::range_error&) {
            has_thrown = true;
        }
        Cart::throws = false;
        EXPECT_TRUE(has_thrown);
        EXPECT_EQ(co_await cart.call<&Cart::place>(), 1);
        co_await cart.migrate(2);
        EXPECT_EQ(co_await cart.call<&Cart::place>(), 2);
        co_await cart.destroy();
    });
}

TEST(Migration, MembersOfAGroupMayMove) {
    caller(4, []() -> Task<> {
        const std::vector<Rank> ranks{0, 1, 2, 3, 1};
        const auto group = co_await create_group<Cart>(ranks, std::string("one"));
        const auto members = co_await group.members();
        for (int step = 0; step < 5; ++step) {
            co_await members[static_cast<std::size_t>(step)].migrate((step + 2) % 4);
            co_await group.step<&Cart::put_in>(step);
            const int sum = co_await group.reduce<&Cart::sum>(std::plus<int>());
            EXPECT_EQ(sum, 5 * step * (step + 1) / 2);
        }
        const auto heavy = co_await group.select([](const Cart& c) { return c.weight == 1; });
        EXPECT_EQ((co_await heavy.members()).size(), 5U);
        std::vector<Rank> places = co_await group.gather<&Cart::place>();
        EXPECT_EQ(places, (std::vector<Rank>{2, 3, 0, 1, 2}));
        for (const auto& member : members) {
            co_await member.destroy();
        }
    });
}

/// Far more objects than a rank remembers the places of.
TEST(Migration, PlacesAreForgottenInTime) {
    caller(3, []() -> Task<> {
        std::vector<Remote<Cart>> carts;
        for (int i = 0; i < 2500; ++i) {
            carts.push_back(co_await create<Cart>(1, "c"));
            co_await carts.back().migrate(i % 2 == 0 ? 2 : 0);
        }
        for (int round = 0; round < 2; ++round) {
            for (const auto& cart : carts) {
                co_await cart.tell<&Cart::put_in>(1);
            }
        }
        for (std::size_t i = 0; i < carts.size(); ++i) {
            EXPECT_EQ(co_await carts[i].call<&Cart::place>(), i % 2 == 0 ? 2 : 0);
        }
        for (const auto& cart : carts) {
            EXPECT_EQ(co_await cart.call<&Cart::sum>(), 2);
            co_await cart.destroy();
        }
    });
}

/// Notes who has called, in what order.
struct Notes {
    static constexpr int streams = 12;
    std::array<int, streams> next{};
    long calls = 0;
    bool is_disordered = false;
    int note(int stream, int number) {
        int& expected = next.at(static_cast<std::size_t>(stream));
        is_disordered = is_disordered || number != expected;
        expected = number + 1;
        ++calls;
        return number;
    }
    Task<int> note_later(int stream, int number) {
        const int noted = note(stream, number);
        co_await this_task::yield();
        co_return noted;
    }
};
struct OrderedNotes : Notes {
    static constexpr bool is_exclusive = true;
};

/// One stream of calls of all kinds, whose order is checked by the object.
template <class T>
Task<> call_in_order(Remote<T> notes, int stream, int count, unsigned seed) {
    std::mt19937 random(seed);
    for (int number = 0; number < count; ++number) {
        switch (random() % 5) {
        case 0: EXPECT_EQ(co_await notes.template call<&T::note>(stream, number), number); break;
        case 1: co_await notes.template post<&T::note>(stream, number); break;
        case 2:
            EXPECT_EQ(co_await notes.template call<&T::note_later>(stream, number), number);
            break;
        default: co_await notes.template tell<&T::note>(stream, number); break;
        }
        if (random() % 16 == 0) {
            co_await this_task::yield();
        }
    }
}
template <class T>
Task<> move_about(Remote<T> notes, int moves, unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < moves; ++i) {
        co_await notes.migrate(static_cast<Rank>(random() % static_cast<unsigned>(ranks())));
    }
}
template <class T>
Task<> storm(int streams, int count, int moves, unsigned seed) {
    const auto notes = co_await create<T>(static_cast<Rank>(seed) % ranks());
    co_await finish([=]() -> Task<> {
        for (int stream = 0; stream < streams; ++stream) {
            co_await tell(
                stream % ranks(),
                [=](Remote<T> of) -> Task<> {
                    co_await call_in_order(of, stream, count,
                                           seed * 100 + static_cast<unsigned>(stream));
                },
                notes);
        }
        for (int mover = 0; mover < 2; ++mover) {
            co_await tell(
                mover % ranks(),
                [=](Remote<T> of) -> Task<> {
                    co_await move_about(of, moves, seed + static_cast<unsigned>(mover));
                },
                notes);
        }
    });
    // Posts of the end may still be on their way.
    T seen = co_await notes.get();
    while (seen.calls < long{streams} * count) {
        co_await this_task::yield();
        seen = co_await notes.get();
    }
    EXPECT_FALSE(seen.is_disordered) << "seed " << seed;
    EXPECT_EQ(seen.calls, long{streams} * count);
    co_await notes.destroy();
}

TEST(Migration, CallsOfATaskKeepTheirOrderInStorms) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        RemoteOptions options;
        options.capacity = seed % 2 == 0 ? 128 : 4;
        among(
            4,
            [seed](Rank rank) -> Task<> {
                if (rank == 0) {
                    co_await storm<Notes>(Notes::streams, 250, 60, seed);
                    co_await storm<OrderedNotes>(Notes::streams, 250, 60, seed + 1);
                }
            },
            options);
    }
}

TEST(Migration, KeepsTheOrderOverNodesToo) {
    for (const Nodes& nodes : {Nodes{0, 1, 0, 2}}) {
        RemoteOptions options;
        options.capacity = 8;
        over_nodes(
            nodes,
            [](Rank rank) -> Task<> {
                if (rank == 0) {
                    co_await storm<Notes>(8, 40, 15, 7);
                    co_await storm<OrderedNotes>(8, 40, 15, 8);
                }
            },
            options);
    }
}

TEST(Migration, BackAndForthAThousandTimes) {
    caller(3, []() -> Task<> {
        const auto cart = co_await create<Cart>(1, "red");
        const auto watch = [](Remote<Cart> of) -> Task<> {
            for (int i = 0; i < 300; ++i) {
                co_await of.call<&Cart::put_in>(1);
            }
        };
        co_await finish([=]() -> Task<> {
            co_await tell(1, watch, cart);
            co_await tell(2, watch, cart);
            for (int i = 0; i < 1000; ++i) {
                co_await cart.migrate(i % 2 == 0 ? 2 : 1);
            }
        });
        EXPECT_EQ(co_await cart.call<&Cart::sum>(), 600);
        co_await cart.destroy();
    });
}

/// Calls, moves and the end of an object meet.
TEST(Migration, AnObjectThatIsDestroyedMeanwhileEndsOnce) {
    caller(3, []() -> Task<> {
        for (int round = 0; round < 60; ++round) {
            const auto cart = co_await create<Cart>(round % 3, "red");
            const auto quietly = [](Task<> call) -> Task<> {
                const auto code = co_await code_of(std::move(call));
                EXPECT_TRUE(!code || *code == Errc::invalid_argument);
            };
            co_await finish([&]() -> Task<> {
                spawn(quietly(move_to(cart, (round + 1) % 3)));
                spawn(quietly(ask(cart)));
                spawn(quietly(move_to(cart, (round + 2) % 3)));
                for (int pause = 0; pause < round % 7; ++pause) {
                    co_await this_task::yield();
                }
                co_await cart.destroy();
                spawn(quietly(ask(cart)));
            });
            EXPECT_EQ(Cart::alive, 0);
        }
    });
}

TEST(Migration, StoppedCallsMixNothingUp) {
    caller(3, []() -> Task<> {
        const auto notes = co_await create<Notes>(1);
        co_await finish([&]() -> Task<> {
            spawn(move_about(notes, 100, 1));
            for (int i = 0; i < 200; ++i) {
                const auto call = [](Remote<Notes> of) -> Task<> {
                    co_await of.call([](Notes& in) { ++in.calls; });
                };
                const auto code = co_await code_of(within(50us, call(notes)));
                EXPECT_TRUE(!code || *code == Errc::timeout);
            }
        });
        const auto add = [](Notes& in, int by) {
            return in.next[0] += by;
        };
        for (int i = 1; i <= 20; ++i) {
            EXPECT_EQ(co_await notes.call(add, 1), i);
        }
        co_await notes.destroy();
    });
}

} // namespace
} // namespace corymb
