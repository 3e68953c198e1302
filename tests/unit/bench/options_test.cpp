// SPDX-License-Identifier: Apache-2.0
#include <threads/options.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace corymb::bench {
namespace {

TEST(OptionsTest, ReadsTheWholeCommandLine) {
    const Options options =
        parse_options({"barrier,allreduce", "--threads", "2,4", "--bytes", "8,65536", "--regimes",
                       "alone,late", "--contestants", "corymb,floor", "--pin", "no", "--seconds",
                       "2.5", "--slot-ms", "10", "--seed", "7"});
    EXPECT_EQ(options.mode, Mode::measure);
    EXPECT_EQ(options.ops, (std::vector{Operation::barrier, Operation::allreduce}));
    EXPECT_EQ(options.threads, (std::vector{2, 4}));
    EXPECT_EQ(options.bytes, (std::vector<std::size_t>{8, 65536}));
    EXPECT_EQ(options.regimes, (std::vector{Regime::alone, Regime::late}));
    EXPECT_EQ(options.only, (std::vector<std::string>{"corymb", "floor"}));
    EXPECT_EQ(options.pin, Pin::no);
    EXPECT_DOUBLE_EQ(options.seconds, 2.5);
    EXPECT_DOUBLE_EQ(options.slot_ms, 10);
    EXPECT_EQ(options.seed, 7U);
}

TEST(OptionsTest, RefusesWhatItCannotUnderstandAndNamesIt) {
    const std::vector<std::vector<std::string>> wrong{
        {},
        {"scatter"},
        {"barrier", "--threads", "1"},
        {"barrier", "--threads", "two"},
        {"barrier", "--threads", "4x"},
        {"allreduce", "--bytes", "12"},
        {"allreduce", "--bytes", "0"},
        {"barrier", "--regimes", "quiet"},
        {"barrier", "--pin", "maybe"},
        {"barrier", "--seconds", "nan"},
        {"barrier", "--seconds", "-1"},
        {"barrier", "--seconds"},
        {"barrier", "--frobnicate"},
    };
    for (const auto& words : wrong) {
        EXPECT_THROW(static_cast<void>(parse_options(words)), UsageError)
            << (words.empty() ? "nothing" : words.back());
    }
    try {
        static_cast<void>(parse_options({"scatter"}));
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("scatter"), std::string::npos);
    }
}

TEST(OptionsTest, RegimesGetOnlyTheRankCountsTheyAreFor) {
    const auto cases = cases_of(parse_options({"barrier", "--threads", "2,4,8"}), 4);
    for (const auto& what : cases) {
        EXPECT_EQ(what.regime == Regime::oversubscribed, what.ranks > 4);
        EXPECT_EQ(what.bytes, 0U);
    }
    // 2 and 4 ranks alone, beside a neighbour and late; 8 ranks oversubscribed.
    EXPECT_EQ(cases.size(), 7U);
}

TEST(OptionsTest, LongPayloadsAreForTheQuietMachine) {
    const auto cases =
        cases_of(parse_options({"allreduce", "--threads", "2,4", "--bytes", "64,4096"}), 2);
    std::size_t crowded = 0;
    for (const auto& what : cases) {
        if (what.regime == Regime::oversubscribed) {
            ++crowded;
            EXPECT_EQ(what.bytes, 64U);
        }
    }
    EXPECT_EQ(crowded, 1U);
    EXPECT_EQ(cases.size(), 3U);
}

TEST(CaseTest, WordsRoundTrip) {
    for (const Operation op :
         {Operation::barrier, Operation::broadcast, Operation::broadcast_stream, Operation::reduce,
          Operation::allreduce}) {
        for (const Regime regime :
             {Regime::alone, Regime::oversubscribed, Regime::neighbour, Regime::late}) {
            const std::size_t bytes = op == Operation::barrier ? 0 : 64;
            const Case what{op, 3, bytes, regime, regime == Regime::alone};
            EXPECT_EQ(case_from_words(to_words(what)), what);
        }
    }
}

TEST(CaseTest, WrongWordsAreNoCase) {
    const auto refused = [](std::vector<std::string> words) {
        return !case_from_words(words).has_value();
    };
    EXPECT_TRUE(refused({"barrier", "2", "0", "alone"}));
    EXPECT_TRUE(refused({"barrier", "0", "0", "alone", "pinned"}));
    EXPECT_TRUE(refused({"barrier", "2", "8", "alone", "pinned"}));
    EXPECT_TRUE(refused({"reduce", "2", "0", "alone", "pinned"}));
    EXPECT_TRUE(refused({"reduce", "2", "12", "alone", "pinned"}));
    EXPECT_TRUE(refused({"reduce", "2", "8", "nowhere", "pinned"}));
    EXPECT_TRUE(refused({"reduce", "2", "8", "alone", "stuck"}));
}

} // namespace
} // namespace corymb::bench
