// SPDX-License-Identifier: Apache-2.0
// A call that comes while another thread is in one of the same handle is refused, and that one goes
// on.
#include "handles/world.hpp"
#include "limits.hpp"

#include <corymb/this_task.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

namespace corymb::handles {

namespace {

using namespace std::chrono_literals;

bool is_shared(Kind kind) {
    return kind == Kind::asks || kind == Kind::looks || kind == Kind::any_thread ||
           kind == Kind::any_thread_if_any;
}

template <class Handle>
void expect_refused_meanwhile(const Calls<Handle>& calls, Handle& handle) {
    for (const auto& call : calls) {
        if (is_shared(call.kind)) {
            continue; // Some of them would change what the next one finds.
        }
        const std::string said = outcome(call, handle);
        EXPECT_TRUE(has(said, "another thread")) << call.name << ": " << said;
    }
}

/// The call, as soon as no peek of the main thread is in its way.
template <class Wait>
void wait_in_earnest(const Wait& wait) {
    for (;;) {
        try {
            wait();
            return;
        } catch (const Error& error) {
            ASSERT_TRUE(has(error.what(), "another thread")) << error.what();
        }
    }
}

/// `wait()` in another thread, and when it is there `check()`; then `release()`, which ends it.
/// `peek()` is a call that tells whether it is there.
template <class Wait, class Peek, class Check, class Release>
void meanwhile(const Wait& wait, const Peek& peek, const Check& check, const Release& release) {
    std::jthread waiting([&wait] { wait_in_earnest(wait); });
    const auto end = std::chrono::steady_clock::now() + test_limit();
    for (bool is_there = false; !is_there;) {
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        try {
            peek();
            std::this_thread::sleep_for(1ms);
        } catch (const Error& error) {
            is_there = has(error.what(), "another thread");
        }
    }
    check();
    release();
    waiting.join();
}

TEST(HandleInTwoThreads, OfATeamIsRefused) {
    Teams teams;
    meanwhile([&] { teams.one.barrier(); }, [&] { static_cast<void>(teams.one.progress()); },
              [&] {
                  expect_refused_meanwhile(team_calls(), teams.one);
                  expect_refused_meanwhile(request_calls(), teams.request);
              },
              [&] { teams.other.barrier(); });
    EXPECT_NO_THROW(static_cast<void>(teams.one.progress())); // Afterwards it is free.
}

TEST(HandleInTwoThreads, OfMailboxesIsRefused) {
    Boxes boxes;
    meanwhile([&] { EXPECT_TRUE(boxes.one.wait(test_limit())); },
              [&] { static_cast<void>(boxes.one.has_left(1)); },
              [&] { expect_refused_meanwhile(mailbox_calls(), boxes.one); },
              [&] { EXPECT_TRUE(boxes.other.send_value(0, 'x')); });
}

TEST(HandleInTwoThreads, OfRingsIsRefused) {
    Ends ends;
    meanwhile([&] { EXPECT_TRUE(ends.reader.wait(test_limit())); },
              [&] { static_cast<void>(ends.reader.at_end()); },
              [&] { expect_refused_meanwhile(reader_calls(), ends.reader); },
              [&] { ends.publisher.publish_value('x'); });
    ends.publisher.publish_value('y');
    meanwhile([&] { ends.publisher.publish_value('z', test_limit()); },
              [&] { static_cast<void>(ends.publisher.take_dropped()); },
              [&] { expect_refused_meanwhile(publisher_calls(), ends.publisher); },
              [&] { EXPECT_EQ(ends.reader.probe([](const BroadcastMessage&) {}), 2u); });
}

TEST(HandleInTwoThreads, OfMulticastIsRefused) {
    Places places;
    meanwhile([&] { EXPECT_EQ(places.one.sleep(test_limit()), 1); },
              [&] { places.one.on(1, [](std::span<const std::byte>) {}); },
              [&] {
                  expect_refused_meanwhile(multicast_calls(), places.one);
                  expect_refused_meanwhile(token_calls(), places.token);
              },
              [&] { static_cast<void>(places.other.call([] {})); });
    EXPECT_EQ(places.other.poll(), 1);
}

TEST(HandleInTwoThreads, OfASchedulerIsRefused) {
    Scheduler scheduler;
    std::stop_source source;
    auto sleep = []() -> Task<> {
        try {
            co_await this_task::sleep_for(test_limit());
        } catch (const Error&) { // It is asked to stop.
        }
    };
    meanwhile([&] { scheduler.run(sleep(), source.get_token()); },
              [&] { static_cast<void>(scheduler.poll()); },
              [&] { expect_refused_meanwhile(scheduler_calls(), scheduler); },
              [&] { source.request_stop(); });
}

/// The end of a handle waits for the call that it would pull the ground from.
TEST(HandleInTwoThreads, EndsAfterTheOtherCall) {
    Boxes boxes;
    meanwhile([&] { EXPECT_TRUE(boxes.one.wait(test_limit())); },
              [&] { static_cast<void>(boxes.one.has_left(1)); }, [] {},
              [&] {
                  std::thread ending([&] { boxes.one = Mailbox(); });
                  EXPECT_TRUE(boxes.other.send_value(0, 'x'));
                  ending.join();
              });
    EXPECT_TRUE(boxes.other.has_left(0));
}

} // namespace

} // namespace corymb::handles
