// SPDX-License-Identifier: Apache-2.0
// The lines that scripts read.
#include <threads/driver/rows.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace corymb::bench {
namespace {

Outcome measured(const std::string& name, const std::string& family, double median) {
    Outcome outcome;
    outcome.contestant.name = name;
    outcome.contestant.family = family;
    outcome.contestant.waiting = "spin";
    outcome.operation_ns = {median * 0.9, median, median * 1.1};
    outcome.cpu_ns = 2 * median;
    outcome.slots = 5;
    return outcome;
}

std::vector<nlohmann::json> parsed(const Case& what, const std::vector<Outcome>& outcomes) {
    std::vector<nlohmann::json> rows;
    for (const auto& line : row_lines(what, outcomes)) {
        EXPECT_EQ(line.find('\n'), std::string::npos);
        rows.push_back(nlohmann::json::parse(line));
    }
    return rows;
}

const Case sample_case{Operation::allreduce, 4, 64, Regime::oversubscribed, false};

TEST(RowsTest, EveryRowHasEveryField) {
    Outcome skipped = measured("libomp", "openmp", 1);
    skipped.skipped = "no clang++";
    const auto rows = parsed(sample_case, {measured("corymb", "corymb", 100), skipped});
    ASSERT_EQ(rows.size(), 2U);
    for (const auto& row : rows) {
        std::set<std::string> names;
        for (const auto& [name, value] : row.items()) {
            names.insert(name);
        }
        EXPECT_EQ(names, (std::set<std::string>{"type", "op", "contestant", "family", "ranks",
                                                "bytes", "pinned", "regime", "waiting", "median_ns",
                                                "q25", "q75", "ratio", "cpu_ns", "first_ns",
                                                "further_root_ns", "slots", "skipped"}));
        EXPECT_EQ(row["type"], "row");
        EXPECT_EQ(row["op"], "allreduce");
        EXPECT_EQ(row["ranks"], 4);
        EXPECT_EQ(row["bytes"], 64);
        EXPECT_EQ(row["regime"], "oversubscribed");
        EXPECT_EQ(row["pinned"], false);
    }
    EXPECT_TRUE(rows[0]["skipped"].is_null());
    EXPECT_DOUBLE_EQ(rows[0]["median_ns"], 100);
    EXPECT_DOUBLE_EQ(rows[0]["cpu_ns"], 200);
    EXPECT_EQ(rows[1]["skipped"], "no clang++");
    EXPECT_TRUE(rows[1]["median_ns"].is_null());
    EXPECT_TRUE(rows[1]["ratio"].is_null());
}

TEST(RowsTest, RatiosAreToCorymb) {
    const auto rows = parsed(
        sample_case, {measured("std-barrier", "library", 250), measured("corymb", "corymb", 100)});
    EXPECT_DOUBLE_EQ(rows[0]["ratio"], 2.5);
    EXPECT_DOUBLE_EQ(rows[1]["ratio"], 1);
}

TEST(RowsTest, FirstCallsAreApart) {
    Outcome outcome = measured("corymb", "corymb", 100);
    outcome.first_ns = {900, 300, 500, 400};
    Outcome skipped = outcome;
    skipped.skipped = "failed";
    const auto rows = parsed(sample_case, {outcome, measured("floor", "floor", 1), skipped});
    EXPECT_DOUBLE_EQ(rows[0]["median_ns"], 100);
    EXPECT_DOUBLE_EQ(rows[0]["first_ns"], 900);
    EXPECT_DOUBLE_EQ(rows[0]["further_root_ns"], 400);
    EXPECT_TRUE(rows[1]["first_ns"].is_null());
    EXPECT_TRUE(rows[2]["first_ns"].is_null());
}

TEST(RowsTest, KnowsWhenNoPeerWasMeasured) {
    const Outcome own = measured("corymb", "corymb", 100);
    Outcome absent = measured("libomp", "openmp", 1);
    absent.skipped = "no clang++";
    EXPECT_TRUE(lacks_peers({own, absent}));
    EXPECT_FALSE(lacks_peers({own, absent, measured("std-barrier", "library", 250)}));
    EXPECT_FALSE(lacks_peers({own})) << "nobody else was asked for";
}

TEST(RowsTest, WithoutCorymbThereIsNoRatio) {
    Outcome failed = measured("corymb", "corymb", 100);
    failed.skipped = "failed";
    for (const auto& row : parsed(sample_case, {failed, measured("floor", "floor", 1)})) {
        EXPECT_TRUE(row["ratio"].is_null());
    }
}

TEST(RowsTest, TheFloorIsTheBestFlagExchange) {
    Outcome broken = measured("flags-exchange", "floor", 1);
    broken.skipped = "wrong results";
    std::vector<Outcome> outcomes{measured("flags-store", "floor", 60), broken,
                                  measured("flags-store-pause", "floor", 40),
                                  measured("corymb", "corymb", 20)};
    add_floor_of(outcomes);
    ASSERT_EQ(outcomes.size(), 5U);
    EXPECT_EQ(outcomes.back().contestant.name, "floor");
    EXPECT_DOUBLE_EQ(outcomes.back().operation_ns.median, 40);
    EXPECT_NE(outcomes.back().contestant.waiting.find("flags-store-pause"), std::string::npos);
}

TEST(RowsTest, NoFlagExchangeNoFloor) {
    std::vector<Outcome> outcomes{measured("corymb", "corymb", 20)};
    add_floor_of(outcomes);
    EXPECT_EQ(outcomes.size(), 1U);
}

TEST(RowsTest, StrangeBytesInAReasonStayJson) {
    Outcome odd = measured("corymb", "corymb", 1);
    odd.skipped = "bad \xff byte \"quoted\"\n";
    EXPECT_EQ(parsed(sample_case, {odd}).size(), 1U);
}

TEST(ContestantsTest, NamesAreDistinctAndCorymbComesFirst) {
    for (const Operation op : {Operation::barrier, Operation::broadcast, Operation::allreduce}) {
        const Case what{op, 2, op == Operation::barrier ? 0U : 8U, Regime::alone, true};
        std::set<std::string> names;
        const auto list = contestants_for(what);
        for (const auto& contestant : list) {
            EXPECT_TRUE(names.insert(contestant.name).second) << contestant.name;
        }
        EXPECT_EQ(list.front().name, "corymb");
        for (const std::string name : {"std-barrier", "pthread-barrier", "libgomp", "libomp",
                                       "mcs-dissemination", "mcs-static-tree", "central-sense"}) {
            EXPECT_TRUE(names.contains(name)) << name;
        }
    }
}

TEST(ContestantsTest, TheFloorIsForTwoRanks) {
    const auto floors = [](int ranks) {
        const auto list =
            contestants_for({Operation::barrier, ranks, 0, Regime::oversubscribed, false});
        return std::count_if(list.begin(), list.end(),
                             [](const auto& contestant) { return contestant.family == "floor"; });
    };
    EXPECT_EQ(floors(2), 4);
    EXPECT_EQ(floors(3), 0);
}

} // namespace
} // namespace corymb::bench
