// SPDX-License-Identifier: Apache-2.0
// An operator of the user's that throws, in every form of an operation.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace corymb {
namespace {

/// Adds, but not on rank 1.
struct Thrower {
    Rank rank;
    int operator()(int left, int right) const {
        if (rank == 1) {
            throw std::domain_error("cannot add");
        }
        return left + right;
    }
};

TEST(OperatorTest, WhatItThrowsReachesItsRankAndBreaksTheTeam) {
    enum class Form : std::uint8_t { blocking, waited, tested, progressed };
    for (const Form form : {Form::blocking, Form::waited, Form::tested, Form::progressed}) {
        std::atomic<int> thrown{0};
        std::atomic<int> told{0};
        threads(3, [&](Team& team) {
            const std::vector<int> in(20, team.rank());
            std::vector<int> out(20);
            const Thrower with{team.rank()};
            try {
                if (form == Form::blocking) {
                    team.scan(std::span<const int>(in), std::span(out), with);
                } else {
                    Request request = team.iscan(std::span<const int>(in), std::span(out), with);
                    while (form == Form::progressed && team.progress() > 0) {
                    }
                    while (form == Form::tested && !request.test()) {
                    }
                    if (form != Form::tested) {
                        request.wait();
                    }
                }
                team.barrier();
            } catch (const std::domain_error&) {
                ++thrown;
            } catch (const Error& error) {
                told += error.code() == Errc::team_broken && error.ranks() == std::vector<int>{1};
            }
            EXPECT_NO_THROW(team.complete_all()) << "nothing is under way";
        });
        EXPECT_EQ(thrown, 1) << static_cast<int>(form);
        EXPECT_EQ(told, 2) << static_cast<int>(form);
    }
}

/// A nonblocking operation goes on while its rank is in a blocking one, which cannot end either.
TEST(OperatorTest, WhatItThrowsBesideABlockingCallEndsThat) {
    std::atomic<int> thrown{0};
    std::atomic<int> told{0};
    TeamOptions options;
    options.deadline = std::chrono::minutes(5);
    threads(
        2,
        [&](Team& team) {
            const std::vector<int> in(4000, team.rank());
            std::vector<int> out(4000);
            const auto count_told = [&](const std::function<void()>& call) {
                try {
                    call();
                } catch (const std::domain_error&) {
                    ++thrown;
                } catch (const Error& error) {
                    told += error.code() == Errc::team_broken && error.ranks() == std::vector{1};
                }
            };
            if (team.rank() == 0) { // The other is in its barrier by then.
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
            Request request =
                team.iallreduce(std::span<const int>(in), std::span(out), Thrower{team.rank()});
            if (team.rank() == 1) {
                count_told([&] { team.barrier(); });
            }
            count_told([&] { request.wait(); });
        },
        options);
    EXPECT_EQ(thrown, 1);
    EXPECT_EQ(told, 2);
}

/// Rank 1 folds out of the memory of rank 0.
Plan reduce_by_pull() {
    Plan plan;
    plan.op = Collective::reduce;
    plan.root = 1;
    plan.block_count = 1;
    plan.bytes_max = 1024;
    plan.steps.resize(2);
    plan.steps[0] = {
        {.kind = StepKind::send, .via = Mechanism::pull, .peer = 1, .from = {Buffer::input, 0, 1}},
        {.kind = StepKind::wait, .peer = 1}};
    plan.steps[1] = {{.kind = StepKind::fold,
                      .via = Mechanism::pull,
                      .peer = 0,
                      .to = {Buffer::output, 0, 1},
                      .from = {Buffer::input, 0, 1},
                      .incoming_first = true},
                     {.kind = StepKind::signal, .peer = 0}};
    return plan;
}

TEST(OperatorTest, WhatItThrowsOverAPeersMemoryLetsThatGo) {
    for (const bool is_blocking : {true, false}) {
        std::atomic<int> thrown{0};
        std::atomic<int> told{0};
        TeamOptions options;
        options.plans = [](const PlanNeed&) {
            return reduce_by_pull();
        };
        threads(
            2,
            [&](Team& team) {
                const std::vector<int> in(20, team.rank());
                std::vector<int> out(20);
                const Thrower with{team.rank()};
                try {
                    if (is_blocking) {
                        team.reduce(std::span<const int>(in), std::span(out), with, 1);
                    } else {
                        team.ireduce(std::span<const int>(in), std::span(out), with, 1).wait();
                    }
                } catch (const std::domain_error&) {
                    ++thrown;
                } catch (const Error& error) {
                    told += error.code() == Errc::team_broken;
                }
            },
            options);
        EXPECT_EQ(thrown, 1) << is_blocking;
        EXPECT_EQ(told, 1) << is_blocking;
    }
}

} // namespace
} // namespace corymb
