// SPDX-License-Identifier: Apache-2.0
// Calls by name, outside of tasks and in them.
#include "limits.hpp"
#include "remote/refusal.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_name.hpp>
#include <corymb/this_task.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Two ranks of this thread.
struct Pair {
    explicit Pair(const RemoteOptions& options = {}) : group(2, options) {}
    /// Until the call is over; both ranks serve.
    void finish(NamedCall& call) {
        const auto end = std::chrono::steady_clock::now() + test_limit();
        while (!call.test() && std::chrono::steady_clock::now() < end) {
            other.scheduler().poll();
        }
    }
    std::string answer(std::string_view name, std::string_view argument) {
        NamedCall call = begin_named(one, 1, name, bytes_of(argument));
        finish(call);
        return text_of(call.wait(1ms));
    }
    Error failure(std::string_view name) {
        try {
            answer(name, "");
        } catch (const Error& error) {
            return error;
        }
        return {Errc::internal, "it has not failed"};
    }
    RemoteGroup group;
    RemoteRank one = group.join(0);
    RemoteRank other = group.join(1);
};

TEST(NamedCall, GivesTheAnswerOfTheHandler) {
    Pair ranks;
    offer_function(ranks.other, "greet", [](NamedRequest& request) {
        EXPECT_EQ(request.from(), 0);
        EXPECT_EQ(request.name(), "greet");
        EXPECT_TRUE(request.is_wanted());
        const std::string text = "hello " + text_of(request.argument());
        request.answer(bytes_of(text));
        EXPECT_EQ(refusal([&] { request.answer({}); }), Errc::invalid_argument);
    });
    offer_function(ranks.other, "nothing", [](NamedRequest& /*request*/) {});
    EXPECT_EQ(ranks.answer("greet", "world"), "hello world");
    EXPECT_EQ(ranks.answer("nothing", "world"), "");
    const std::string large(100'000, 'x'); // Many messages, there and back.
    EXPECT_EQ(ranks.answer("greet", large), "hello " + large);
}

TEST(NamedCall, MayGoToTheOwnRank) {
    Pair ranks;
    offer_function(ranks.one, "echo",
                   [](NamedRequest& request) { request.answer(request.argument()); });
    NamedCall call = begin_named(ranks.one, 0, "echo", bytes_of("here"));
    EXPECT_EQ(text_of(call.wait(test_limit())), "here");
    EXPECT_FALSE(call.valid());
    EXPECT_EQ(refusal([&] { call.wait(1ms); }), Errc::invalid_argument);
}

TEST(NamedCall, OfAnUnknownNameNamesItAndTheRank) {
    Pair ranks;
    offer_function(ranks.other, "insert", [](NamedRequest& /*request*/) {});
    const Error error = ranks.failure("inzert");
    EXPECT_EQ(error.code(), Errc::unknown_name);
    EXPECT_EQ(error.ranks(), std::vector<int>{1});
    EXPECT_STREQ(error.what(), "rank 1 offers no function 'inzert'; did you mean 'insert'?");
    withdraw_function(ranks.other, "insert");
    EXPECT_EQ(ranks.failure("insert").code(), Errc::unknown_name);
}

TEST(NamedCall, RefusesMistakes) {
    Pair ranks;
    const auto handler = [](NamedRequest& /*request*/) {
    };
    offer_function(ranks.one, "a", handler);
    EXPECT_EQ(refusal([&] { offer_function(ranks.one, "a", handler); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([&] { offer_function(ranks.one, "", handler); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([&] { offer_function(ranks.one, std::string(256, 'a'), handler); }),
              Errc::invalid_argument);
    EXPECT_EQ(refusal([&] { offer_function(ranks.one, "b", nullptr); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([&] { withdraw_function(ranks.one, "b"); }), Errc::unknown_name);
    EXPECT_EQ(refusal([&] { post_named(ranks.one, 2, "a", {}); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([&] { post_named(ranks.one, 1, "", {}); }), Errc::invalid_argument);
}

TEST(NamedCall, ThrowsWhatTheHandlerHasThrown) {
    Pair ranks;
    offer_function(ranks.other, "throw",
                   [](NamedRequest& /*request*/) { throw std::out_of_range("of the handler"); });
    offer_function(ranks.other, "fail", [](NamedRequest& request) {
        request.fail(std::make_exception_ptr(Error(Errc::io, "no more paper", {1})));
    });
    offer_function(ranks.other, "answer and throw", [](NamedRequest& request) {
        request.answer(bytes_of("before"));
        throw std::out_of_range("nobody learns of it");
    });
    EXPECT_EQ(ranks.answer("answer and throw", ""), "before");
    EXPECT_THROW(ranks.answer("throw", ""), std::out_of_range);
    const Error error = ranks.failure("fail");
    EXPECT_EQ(error.code(), Errc::io);
    EXPECT_STREQ(error.what(), "no more paper");
}

TEST(NamedCall, IsAnsweredLater) {
    Pair ranks;
    std::vector<NamedReply> replies;
    offer_function(ranks.other, "later",
                   [&](NamedRequest& request) { replies.push_back(request.later()); });
    NamedCall first = begin_named(ranks.one, 1, "later", bytes_of("1"));
    NamedCall second = begin_named(ranks.one, 1, "later", bytes_of("2"));
    NamedCall third = begin_named(ranks.one, 1, "later", bytes_of("3"));
    ranks.other.scheduler().poll();
    ASSERT_EQ(replies.size(), 3U);
    EXPECT_FALSE(first.test());
    const std::array<std::span<const std::byte>, 2> parts{bytes_of("two "), bytes_of("parts")};
    replies[1].answer(ByteParts(parts));
    EXPECT_FALSE(replies[1].valid());
    EXPECT_EQ(refusal([&] { replies[1].answer({}); }), Errc::invalid_argument);
    EXPECT_EQ(text_of(second.wait(test_limit())), "two parts");
    EXPECT_FALSE(first.test());
    replies[0].fail(std::make_exception_ptr(std::range_error("later")));
    EXPECT_THROW(first.wait(test_limit()), std::range_error);
    replies.clear(); // Nobody answers the third.
    EXPECT_EQ(refusal([&] { third.wait(test_limit()); }), Errc::team_broken);
}

TEST(NamedCall, EndsWithATimeoutAndGoesOn) {
    Pair ranks;
    NamedReply reply;
    offer_function(ranks.other, "later", [&](NamedRequest& request) { reply = request.later(); });
    NamedCall call = begin_named(ranks.one, 1, "later", {});
    try {
        call.wait(2ms);
        ADD_FAILURE() << "nobody has answered";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
    ranks.other.scheduler().poll();
    reply.answer(bytes_of("late"));
    EXPECT_EQ(text_of(call.wait(test_limit())), "late");
}

TEST(NamedCall, ThatIsThrownAwayStopsTheFunction) {
    Pair ranks;
    NamedReply reply;
    offer_function(ranks.other, "later", [&](NamedRequest& request) { reply = request.later(); });
    std::optional<NamedCall> call = begin_named(ranks.one, 1, "later", {});
    ranks.other.scheduler().poll();
    EXPECT_FALSE(reply.stop_token().stop_requested());
    call.reset();
    ranks.other.scheduler().poll();
    EXPECT_TRUE(reply.stop_token().stop_requested());
    reply.answer(bytes_of("to nobody"));
    ranks.one.scheduler().poll();
    offer_function(ranks.other, "echo",
                   [](NamedRequest& request) { request.answer(request.argument()); });
    EXPECT_EQ(ranks.answer("echo", "the next one"), "the next one");
}

TEST(NamedCall, FailsWhenARankLeaves) {
    RemoteGroup group(3);
    RemoteRank one = group.join(0);
    std::optional<RemoteRank> called = group.join(1);
    std::optional<RemoteRank> caller = group.join(2);
    NamedReply reply;
    offer_function(*called, "later", [&](NamedRequest& request) { reply = request.later(); });
    offer_function(one, "later", [&](NamedRequest& request) { reply = request.later(); });
    NamedCall call = begin_named(one, 1, "later", {});
    called->scheduler().poll();
    called.reset();
    EXPECT_EQ(refusal([&] { reply.answer({}); }), Errc::invalid_argument);
    try {
        call.wait(test_limit());
        ADD_FAILURE() << "the rank has left";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
    NamedCall orphan = begin_named(*caller, 0, "later", {});
    one.scheduler().poll();
    const std::stop_token stop = reply.stop_token();
    caller.reset();
    EXPECT_EQ(refusal([&] { static_cast<void>(orphan.test()); }), Errc::invalid_argument);
    EXPECT_TRUE(serve_until(one, [&] { return stop.stop_requested(); }, test_limit()));
}

TEST(NamedCall, SaysWhenItIsOver) {
    Pair ranks;
    offer_function(ranks.other, "echo",
                   [](NamedRequest& request) { request.answer(request.argument()); });
    int over = 0;
    NamedCall call = begin_named(ranks.one, 1, "echo", {});
    call.then([&] { ++over; });
    EXPECT_EQ(over, 0);
    ranks.finish(call);
    EXPECT_EQ(over, 1);
    call.then([&] { ++over; });
    EXPECT_EQ(over, 2);
}

TEST(NamedCall, IsAwaitedInTasksAndServedByThem) {
    RemoteGroup group(2);
    const auto body = [&group](Rank rank) {
        RemoteRank own = group.join(rank);
        offer_function(own, "slow", [&own](NamedRequest& request) {
            auto slow = [](NamedReply reply, std::string argument) -> Task<> {
                co_await this_task::sleep_for(1ms);
                argument += '!';
                reply.answer(bytes_of(argument));
            };
            own.scheduler().spawn(slow(request.later(), text_of(request.argument())));
        });
        own.run([](Rank other) -> Task<> {
            for (int i = 0; i < 5; ++i) {
                EXPECT_EQ(text_of(co_await call_named(other, "slow", bytes_of("so"))), "so!");
            }
            try {
                co_await call_named(other, "unknown", {});
                ADD_FAILURE() << "there is no such function";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::unknown_name);
            }
        }(1 - rank));
    };
    std::jthread thread([&] { body(1); });
    body(0);
}

/// All to all with hardly any room, each rank in an event loop.
TEST(NamedCall, GoesOnInEventLoopsWithoutRoom) {
    constexpr int calls = 200;
    RemoteOptions tight;
    tight.capacity = 2;
    tight.message_bytes = 32;
    RemoteGroup group(3, tight);
    std::atomic<int> finished = 0;
    const auto body = [&](Rank rank) {
        RemoteRank own = group.join(rank);
        offer_function(own, "double", [](NamedRequest& request) {
            const std::string twice = text_of(request.argument()) + text_of(request.argument());
            request.answer(bytes_of(twice));
        });
        const int descriptor = own.scheduler().descriptor();
        std::vector<NamedCall> begun;
        const std::string argument(70, static_cast<char>('a' + rank));
        for (int i = 0; i < calls; ++i) {
            begun.push_back(begin_named(own, (rank + i) % 3, "double", bytes_of(argument)));
        }
        std::size_t over = 0;
        for (NamedCall& call : begun) {
            call.then([&] { ++over; });
        }
        while (over != begun.size()) {
            pollfd one{descriptor, POLLIN, 0};
            ASSERT_EQ(::poll(&one, 1, static_cast<int>(test_limit() / 1ms)), 1);
            own.scheduler().poll();
        }
        for (NamedCall& call : begun) {
            EXPECT_EQ(text_of(call.wait()), argument + argument);
        }
        ++finished;
        EXPECT_TRUE(serve_until(own, [&] { return finished == 3; }, test_limit()));
    };
    std::jthread second([&] { body(1); });
    std::jthread third([&] { body(2); });
    body(0);
}

TEST(NamedCall, IsNotWaitedForInHandlers) {
    Pair ranks;
    offer_function(ranks.other, "wait", [&](NamedRequest& /*request*/) {
        NamedCall back = begin_named(ranks.other, 0, "wait", {});
        EXPECT_EQ(refusal([&] { back.wait(1ms); }), Errc::invalid_argument);
    });
    EXPECT_EQ(ranks.answer("wait", ""), "");
}

TEST(NamedCall, IsPosted) {
    Pair ranks;
    int served = 0;
    offer_function(ranks.other, "post", [&](NamedRequest& request) {
        EXPECT_FALSE(request.is_wanted());
        ++served;
        throw std::runtime_error("nobody learns of it");
    });
    post_named(ranks.one, 1, "post", {});
    EXPECT_TRUE(serve_until(ranks.other, [&] { return served == 1; }, test_limit()));
    EXPECT_FALSE(serve_until(ranks.other, [&] { return served == 2; }, 1ms));
}

} // namespace
} // namespace corymb
