// SPDX-License-Identifier: Apache-2.0
#include "channel/patience.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::channel {
namespace {

/// Time that passes as the test says: nothing but a yield takes long, whatever the machine does.
struct ScriptedClock final : Clock {
    std::int64_t now_ns() noexcept override { return time += read_ns; }
    void yield() noexcept override { time += yield_ns; }
    static constexpr std::int64_t read_ns = 20;
    std::int64_t time = 1'000'000'000'000'000;
    std::int64_t yield_ns = 200;
};

struct Counter {
    int looks = 0;
    int enough = 0; ///< The look that succeeds; 0 is never.
    bool operator()() noexcept { return ++looks == enough; }
};

/// Want the CPU or not; between two turns of the thread's own they have so many.
struct KnownTeammates final : Teammates {
    explicit KnownTeammates(bool is_wanted, std::int64_t turns_between = 0)
        : wanted(is_wanted), between(turns_between) {}
    bool want_the_cpu() noexcept override { return wanted; }
    bool are_here(std::int64_t /*now_ns*/) noexcept override { return here; }
    std::int64_t take_turn() noexcept override { return turns += between + 1; }
    Stranger* stranger() noexcept override { return &other; }
    /// Whether somebody has told of a stranger at any time.
    [[nodiscard]] bool have_told() const { return other.is_here(0); }
    Stranger other;
    bool here = false;
    bool wanted;
    std::int64_t between;
    std::int64_t turns = 0;
};

Patience::Outcome wait(Patience& patience, ScriptedClock& clock, Counter& counter,
                       bool stop_at_once = false, bool is_wanted = true) {
    auto stop = [&]() noexcept {
        return stop_at_once;
    };
    KnownTeammates teammates(is_wanted);
    return patience.wait_awake(Look(counter), Look(stop), &teammates, clock.now_ns());
}

/// In vain; with each yield somebody else keeps the CPU for so long.
Patience::Outcome wait_in_turns(Patience& patience, ScriptedClock& clock, std::int64_t turn_ns,
                                Teammates* teammates = nullptr) {
    const std::int64_t usual = std::exchange(clock.yield_ns, turn_ns);
    auto never = []() noexcept {
        return false;
    };
    const auto outcome = patience.wait_awake(Look(never), Look(never), teammates, clock.now_ns());
    clock.yield_ns = usual;
    return outcome;
}

TEST(PatienceTest, EndsWhenTheConditionHolds) {
    ScriptedClock clock;
    for (const auto policy : {WaitPolicy::ladder, WaitPolicy::spin, WaitPolicy::yield}) {
        Patience patience(policy, false, clock);
        Counter third{0, 3};
        EXPECT_EQ(wait(patience, clock, third), Patience::Outcome::satisfied);
        EXPECT_EQ(third.looks, 3);
    }
}

TEST(PatienceTest, AsksWhetherToStop) {
    ScriptedClock clock;
    for (const auto policy : {WaitPolicy::spin, WaitPolicy::yield}) {
        Patience patience(policy, false, clock);
        Counter never;
        EXPECT_EQ(wait(patience, clock, never, true), Patience::Outcome::stopped);
    }
}

TEST(PatienceTest, ParkSendsTheCallerToSleepWithoutALook) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::park, false, clock);
    Counter never;
    EXPECT_EQ(wait(patience, clock, never), Patience::Outcome::exhausted);
    EXPECT_EQ(never.looks, 0);
}

TEST(PatienceTest, LongWaitsWearItOutAndShortOnesRestoreIt) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, false, clock);
    const auto looks_until_exhausted = [&] {
        Counter never;
        EXPECT_EQ(wait(patience, clock, never), Patience::Outcome::exhausted);
        return never.looks;
    };
    const int fresh = looks_until_exhausted();
    for (int i = 0; i < 20; ++i) {
        patience.learn_from_sleep(10'000'000);
    }
    const int worn = looks_until_exhausted();
    EXPECT_LT(worn, fresh) << "twenty waits of 10 ms must shorten the awake part";
    for (int i = 0; i < 20; ++i) {
        patience.learn_from_sleep(100'000); // Long enough to fall asleep, but not long.
    }
    EXPECT_GT(looks_until_exhausted(), worn);
}

TEST(PatienceTest, StaysAwakeWhilePeersMoveManyBytes) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, false, clock);
    patience.expect_bytes(std::uint64_t{2} << 20U);
    const std::int64_t begin = clock.time;
    Counter never;
    EXPECT_EQ(wait(patience, clock, never), Patience::Outcome::exhausted);
    EXPECT_GE(clock.time - begin, 1'000'000) << "2 MiB are not copied in less";
}

TEST(PatienceTest, LetsTeammatesOnItsCpuMoveTheirBytes) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, true, clock);
    patience.expect_bytes(std::uint64_t{32} << 20U); // At 2 GB/s that takes 16 ms.
    const std::int64_t begin = clock.time;
    EXPECT_EQ(wait_in_turns(patience, clock, 2'000'000), Patience::Outcome::exhausted);
    EXPECT_GE(clock.time - begin, 16'000'000) << "asleep it is woken late";
    patience.learn_from_sleep(16'000'000);
    Counter first{0, 1};
    EXPECT_EQ(wait(patience, clock, first), Patience::Outcome::satisfied)
        << "such turns are no reason to yield no more";
}

TEST(PatienceTest, YieldsOnWhereManyTeammatesWakeEachOther) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, true, clock);
    KnownTeammates many(true, 100); // Of 0.03 ms each.
    EXPECT_EQ(wait_in_turns(patience, clock, 3'000'000, &many), Patience::Outcome::exhausted);
    EXPECT_FALSE(many.have_told()) << "else all sleep for good, each because of the others";
    Patience other(WaitPolicy::ladder, true, clock);
    KnownTeammates few(true, 10);
    EXPECT_EQ(wait_in_turns(other, clock, 3'000'000, &few), Patience::Outcome::exhausted);
    EXPECT_TRUE(few.have_told()) << "most of it was a stranger's";
}

TEST(PatienceTest, ATurnLongerThanTheirBytesIsAStrangers) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, true, clock);
    patience.expect_bytes(std::uint64_t{4} << 20U); // 2 ms, of two operations.
    KnownTeammates teammates(true);
    EXPECT_EQ(wait_in_turns(patience, clock, 1'800'000, &teammates), Patience::Outcome::exhausted);
    EXPECT_TRUE(teammates.have_told());
}

/// Say when they are asked.
template <class Asked>
struct AskedTeammates final : Teammates {
    AskedTeammates(bool is_wanted, Asked when) : wanted(is_wanted), asked(std::move(when)) {}
    bool want_the_cpu() noexcept override {
        asked();
        return wanted;
    }
    bool are_here(std::int64_t /*now_ns*/) noexcept override { return false; }
    std::int64_t take_turn() noexcept override { return 0; }
    bool wanted;
    Asked asked;
};

TEST(PatienceTest, KeepsACpuThatNobodyWantsForAWhile) {
    ScriptedClock clock;
    // Looks between the first two questions whether the CPU is wanted: one turn of the loop.
    const auto looks_of_a_turn = [&](bool is_wanted) {
        Patience patience(WaitPolicy::ladder, true, clock);
        Counter never;
        std::vector<int> looks_when_asked;
        AskedTeammates teammates(is_wanted, [&] { looks_when_asked.push_back(never.looks); });
        auto stop = []() noexcept {
            return false;
        };
        EXPECT_EQ(patience.wait_awake(Look(never), Look(stop), &teammates, clock.now_ns()),
                  Patience::Outcome::exhausted);
        return looks_when_asked.at(1) - looks_when_asked.at(0);
    };
    EXPECT_EQ(looks_of_a_turn(true), 1) << "it yields between looks";
    EXPECT_GT(looks_of_a_turn(false), 1) << "it looks on without yielding";
    Patience patience(WaitPolicy::ladder, true, clock);
    Counter never;
    EXPECT_EQ(wait(patience, clock, never, true, false), Patience::Outcome::stopped);
}

/// The outcome of a wait whose first look succeeds, if it looks at all.
Patience::Outcome wait_among(Patience& patience, ScriptedClock& clock, Teammates* teammates) {
    auto yes = []() noexcept {
        return true;
    };
    auto no = []() noexcept {
        return false;
    };
    return patience.wait_awake(Look(yes), Look(no), teammates, clock.now_ns());
}

constexpr std::int64_t hour = 3'600'000'000'000;

TEST(PatienceTest, AllOfACpuSleepWhenOneHasLostATimeSlice) {
    ScriptedClock clock;
    KnownTeammates teammates(true);
    Patience loser(WaitPolicy::ladder, true, clock);
    EXPECT_EQ(wait_among(loser, clock, &teammates), Patience::Outcome::satisfied);
    EXPECT_FALSE(teammates.have_told());
    EXPECT_EQ(wait_in_turns(loser, clock, 5'000'000, &teammates), Patience::Outcome::exhausted);
    EXPECT_TRUE(teammates.have_told());
    KnownTeammates others(true);
    Patience other(WaitPolicy::ladder, true, clock);
    others.other.note(hour, clock.now_ns());
    EXPECT_EQ(wait_among(other, clock, &others), Patience::Outcome::exhausted) << "it sleeps";
    KnownTeammates alone(true);
    EXPECT_EQ(wait_among(other, clock, &alone), Patience::Outcome::satisfied);
    Patience always(WaitPolicy::yield, true, clock);
    EXPECT_EQ(wait_among(always, clock, &others), Patience::Outcome::satisfied) << "by its policy";
}

TEST(PatienceTest, OneWithoutTeammatesRemembersItsOwnLosses) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, true, clock);
    EXPECT_EQ(wait_in_turns(patience, clock, 50'000'000), Patience::Outcome::exhausted);
    EXPECT_EQ(wait_among(patience, clock, nullptr), Patience::Outcome::exhausted);
}

TEST(PatienceTest, ATimeSliceIsNoReasonToSleepWhereYieldsAreShorterOnTheWhole) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, true, clock);
    KnownTeammates asleep(true);
    asleep.other.note(hour, clock.now_ns());
    for (int waits = 0; waits < 16; ++waits) {
        EXPECT_EQ(wait_among(patience, clock, &asleep), Patience::Outcome::exhausted);
        patience.learn_from_sleep(100'000);
    }
    KnownTeammates awake(true);
    for (int waits = 0; waits < 64; ++waits) {
        EXPECT_EQ(wait_among(patience, clock, &awake), Patience::Outcome::satisfied);
    }
    const auto lose_a_time_slice = [&] {
        // It takes longer than a yield among teammates may take.
        EXPECT_EQ(wait_in_turns(patience, clock, 600'000, &awake), Patience::Outcome::exhausted);
        patience.learn_from_sleep(600'000);
    };
    lose_a_time_slice();
    EXPECT_FALSE(awake.have_told());
    for (int slices = 1; !awake.have_told() && slices < 100; ++slices) {
        lose_a_time_slice();
    }
    EXPECT_TRUE(awake.have_told()) << "the stranger has stayed";
}

TEST(WaitAveragesTest, SayYieldWhereSleepsAreNoShorter) {
    WaitAverages averages;
    const auto count = [&](bool yields, std::int64_t waited_ns) {
        for (int waits = 0; waits < 64; ++waits) {
            averages.count(yields, waited_ns);
        }
    };
    count(true, 200'000);
    EXPECT_FALSE(averages.say_yield()) << "nobody has slept";
    EXPECT_FALSE(averages.know_sleeps());
    count(false, 300'000);
    EXPECT_TRUE(averages.know_sleeps());
    EXPECT_TRUE(averages.say_yield());
    count(true, 3'000'000);
    EXPECT_FALSE(averages.say_yield()) << "a neighbour has come";
    for (int waits = 0; waits < 3; ++waits) {
        count(true, 200'000);
    }
    EXPECT_TRUE(averages.say_yield()) << "and gone";
}

TEST(WaitAveragesTest, WhatIsKnownOfSleepsGetsOld) {
    WaitAverages averages;
    for (int waits = 0; waits < 64; ++waits) {
        averages.count(true, 200'000);
        averages.count(false, 300'000);
    }
    for (int answers = 0; answers < 128; ++answers) {
        EXPECT_TRUE(averages.know_sleeps());
        EXPECT_TRUE(averages.say_yield());
    }
    EXPECT_FALSE(averages.know_sleeps());
    EXPECT_FALSE(averages.say_yield());
    averages.count(false, 300'000);
    EXPECT_TRUE(averages.know_sleeps());
    EXPECT_TRUE(averages.say_yield());
}

TEST(WaitAveragesTest, OneRankThatIsVeryLateCountsLittle) {
    WaitAverages averages;
    for (int waits = 0; waits < 64; ++waits) {
        averages.count(true, 100'000);
        averages.count(false, 300'000);
    }
    averages.count(true, 1'000'000'000);
    EXPECT_TRUE(averages.say_yield());
}

TEST(YieldCreditTest, ATimeSliceThatEndsNowAndThenIsPaidByShortYields) {
    constexpr std::int64_t slice = 3'000'000;
    YieldCredit credit;
    EXPECT_FALSE(credit.is_worth(slice)) << "nothing has been saved yet";
    for (int turn = 0; turn < 10; ++turn) {
        for (int yields = 0; yields < 200; ++yields) {
            credit.begin_wait();
            EXPECT_TRUE(credit.is_worth(2'000));
        }
        EXPECT_TRUE(credit.is_worth(slice)) << turn;
    }
}

TEST(YieldCreditTest, ANeighbourThatIsAlwaysThereIsNot) {
    constexpr std::int64_t slice = 3'000'000;
    YieldCredit credit;
    for (int yields = 0; yields < 100'000; ++yields) {
        credit.begin_wait();
        EXPECT_TRUE(credit.is_worth(1'000));
    }
    int long_ones = 0;
    while (credit.is_worth(slice)) {
        ++long_ones;
    }
    EXPECT_LT(long_ones, 10) << "what was saved once does not last";
    for (int yields = 0; yields < 10; ++yields) {
        credit.begin_wait();
        EXPECT_TRUE(credit.is_worth(1'000));
    }
    EXPECT_FALSE(credit.is_worth(slice));
    EXPECT_TRUE(credit.is_worth(400'000)) << "many teammates take that long";
}

TEST(PatienceTest, LetsSomebodyGoFirstForSomeTurnsOnly) {
    ScriptedClock clock;
    const auto looks_for = [&](WaitPolicy policy, bool oversubscribed, bool is_wanted, int enough) {
        Patience patience(policy, oversubscribed, clock);
        KnownTeammates teammates(is_wanted);
        Counter gone{0, enough};
        patience.let_go_first(Look(gone), &teammates);
        return gone.looks;
    };
    EXPECT_EQ(looks_for(WaitPolicy::ladder, true, true, 1), 1);
    EXPECT_EQ(looks_for(WaitPolicy::ladder, true, true, 5), 5);
    EXPECT_EQ(looks_for(WaitPolicy::ladder, true, false, 5), 5);
    EXPECT_GT(looks_for(WaitPolicy::ladder, true, true, 0), 5) << "and comes back";
    EXPECT_GT(looks_for(WaitPolicy::ladder, true, false, 0), 5);
    EXPECT_EQ(looks_for(WaitPolicy::ladder, false, true, 0), 0) << "everybody has a CPU";
    EXPECT_EQ(looks_for(WaitPolicy::park, true, true, 0), 0);
}

TEST(PatienceTest, TakesTurnsForAsLongAsATeammateIsOnItsCpu) {
    ScriptedClock clock;
    Patience patience(WaitPolicy::ladder, false, clock);
    KnownTeammates teammates(true);
    const auto turns_of_a_wait = [&](bool are_here) {
        teammates.here = are_here;
        teammates.turns = 0;
        auto never = []() noexcept {
            return false;
        };
        EXPECT_EQ(patience.wait_awake(Look(never), Look(never), &teammates, clock.now_ns()),
                  Patience::Outcome::exhausted);
        return teammates.turns;
    };
    const int looks_alone = patience.quick_looks();
    EXPECT_EQ(turns_of_a_wait(false), 0);
    EXPECT_GT(turns_of_a_wait(true), 0);
    EXPECT_LT(patience.quick_looks(), looks_alone) << "the awaited needs the CPU at once";
    EXPECT_EQ(turns_of_a_wait(false), 0) << "it has gone";
    EXPECT_EQ(patience.quick_looks(), looks_alone);
}

TEST(PatienceTest, NoticesATeammateThatComesWhileItSpins) {
    ScriptedClock clock;
    struct LateTeammates final : Teammates {
        bool want_the_cpu() noexcept override { return true; }
        bool are_here(std::int64_t /*now_ns*/) noexcept override { return ++questions > 1; }
        std::int64_t take_turn() noexcept override { return ++turns; }
        int questions = 0;
        std::int64_t turns = 0;
    } teammates;
    Patience patience(WaitPolicy::ladder, false, clock);
    auto never = []() noexcept {
        return false;
    };
    EXPECT_EQ(patience.wait_awake(Look(never), Look(never), &teammates, clock.now_ns()),
              Patience::Outcome::exhausted);
    EXPECT_GT(teammates.turns, 0);
}

TEST(PatienceTest, PeopleWhoKnowBetterAreNotCorrected) {
    ScriptedClock clock;
    for (const auto policy : {WaitPolicy::spin, WaitPolicy::park}) {
        Patience patience(policy, false, clock);
        KnownTeammates teammates(true);
        teammates.here = true;
        Counter third{0, 3};
        static_cast<void>(
            patience.wait_awake(Look(third), Look(third), &teammates, clock.now_ns()));
        EXPECT_EQ(teammates.turns, 0);
    }
}

TEST(PatienceTest, OversubscribedDoesNotSpin) {
    ScriptedClock clock;
    EXPECT_LT(Patience(WaitPolicy::ladder, true, clock).quick_looks(),
              Patience(WaitPolicy::ladder, false, clock).quick_looks());
}

} // namespace
} // namespace corymb::channel
