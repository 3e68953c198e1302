// SPDX-License-Identifier: Apache-2.0
// Calls among processes: the same promises as among threads, and what is told of ranks that are
// killed.
#include "remote_children.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_name.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <string>

namespace corymb {
namespace {

using namespace process_test;
using namespace std::chrono_literals;

class Log {
public:
    void note(const std::string& line) { lines_ += line + "\n"; }
    [[nodiscard]] std::string lines() const { return lines_; }

private:
    std::string lines_;
};

TEST(RemoteProcesses, CallAndShareObjects) {
    constexpr int size = 3;
    RemoteGroup group(size, shared());
    const Descriptor descriptor(group);
    Children children;
    for (Rank rank = 1; rank < size; ++rank) {
        children.start([&, rank] {
            RemoteRank own = RemoteGroup::open(descriptor.number()).join(rank);
            own.run([](Rank self) -> Task<> {
                const Rank previous = co_await at(self - 1, [] { return here(); });
                require(previous == self - 1, "the call runs at its rank");
            }(rank));
        });
    }
    RemoteRank own = group.join(0);
    const std::string lines = own.run([]() -> Task<std::string> {
        const Remote<Log> log = co_await create<Log>(2);
        co_await finish([log]() -> Task<> {
            for (Rank rank = 0; rank < size; ++rank) {
                co_await tell(
                    rank,
                    [](Remote<Log> to) -> Task<> {
                        co_await to.call<&Log::note>("of rank " + std::to_string(here()));
                    },
                    log);
            }
        });
        co_return co_await log.call<&Log::lines>();
    }());
    EXPECT_EQ(lines.size(), std::string("of rank 0\n").size() * size) << lines;
    children.expect_all_good();
}

TEST(RemoteProcesses, AKilledRankIsKnownToTasksThatSleepAgainAndAgain) {
    RemoteGroup group(2, shared());
    const Descriptor descriptor(group);
    Children children;
    const auto victim = start_sleeper(children, descriptor, 1);
    RemoteRank own = group.join(0);
    own.run([](Children& all, std::size_t to_kill) -> Task<> {
        co_await at(1, [] {});
        bool is_known = false;
        Spawned<void> waits = spawn([](bool& known) -> Task<> {
            try {
                co_await at<&sleep_on>(1);
            } catch (const Error&) {
                known = true;
            }
        }(is_known));
        co_await this_task::sleep_for(2ms);
        all.signal(to_kill, SIGKILL);
        int naps = 0;
        while (!is_known && naps < 5'000) {
            co_await this_task::sleep_for(1ms);
            ++naps;
        }
        EXPECT_TRUE(is_known) << "within " << naps << " naps";
        co_await waits;
    }(children, victim));
    children.wait(victim);
    children.expect_all_good();
}

TEST(RemoteProcesses, AKilledRankIsNamedAndTheOthersGoOn) {
    RemoteGroup group(3, shared());
    const Descriptor descriptor(group);
    Children children;
    const auto victim = start_sleeper(children, descriptor, 1);
    children.start([&] {
        RemoteRank own = RemoteGroup::open(descriptor.number()).join(2);
        own.run([]() -> Task<> {
            co_return;
        }());
    });
    RemoteRank own = group.join(0);
    own.run([](Children& all, std::size_t to_kill) -> Task<> {
        co_await at(1, [] {});
        Spawned<void> waits = spawn([]() -> Task<> {
            co_await at<&sleep_on>(1);
        }());
        co_await this_task::sleep_for(2ms);
        all.signal(to_kill, SIGKILL);
        try {
            co_await waits;
            ADD_FAILURE() << "the call has ended";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
            EXPECT_EQ(error.ranks(), std::vector<int>{1});
        }
        try {
            co_await at(1, [] {});
            ADD_FAILURE() << "the rank is gone";
        } catch (const Error& error) {
            EXPECT_EQ(error.ranks(), std::vector<int>{1}) << error.what();
        }
        EXPECT_EQ(co_await at(2, [] { return here(); }), 2);
    }(children, victim));
    children.wait(victim);
    children.expect_all_good();
}

TEST(RemoteProcesses, AnotherBuildIsRefusedExceptByName) {
    RemoteGroup group(2, shared());
    const Descriptor descriptor(group);
    Children children;
    children.start([&] {
        const std::string number = std::to_string(descriptor.number());
        ::execl(CORYMB_OTHER_BUILD, CORYMB_OTHER_BUILD, number.c_str(), nullptr);
        require(false, "the other program runs");
    });
    RemoteRank own = group.join(0);
    const auto three = std::as_bytes(std::span("abc", 3));
    offer_function(own, "size", [&](NamedRequest& request) { request.answer(three); });
    own.run([](std::span<const std::byte> sent) -> Task<> {
        EXPECT_EQ((co_await call_named(1, "echo", sent)).size(), sent.size());
        try {
            co_await at(1, [] {});
            ADD_FAILURE() << "another build has taken the call";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::mismatch) << error.what();
            EXPECT_EQ(error.ranks(), (std::vector<int>{0, 1}));
            EXPECT_NE(std::string(error.what()).find("other_build"), std::string::npos)
                << error.what();
        }
    }(three));
    children.expect_all_good();
}

TEST(RemoteProcesses, AKilledCallerStopsNobody) {
    RemoteGroup group(2, shared());
    const Descriptor descriptor(group);
    Children children;
    const auto victim = children.start([&] {
        RemoteRank own = RemoteGroup::open(descriptor.number()).join(1);
        own.run([]() -> Task<> {
            co_await at(0, []() -> Task<> {
                co_await this_task::sleep_for(1ms);
                co_await at(1, [] { ::raise(SIGKILL); });
            });
        }());
    });
    RemoteRank own = group.join(0);
    own.run([]() -> Task<> {
        co_return;
    }());
    EXPECT_EQ(children.wait(victim), SIGKILL);
}

} // namespace
} // namespace corymb
