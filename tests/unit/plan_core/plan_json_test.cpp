// SPDX-License-Identifier: Apache-2.0
#include "plan/names.hpp"
#include "sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace corymb;
using namespace corymb::test;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t place = text.find(what);
    EXPECT_NE(place, std::string::npos) << what;
    return text.replace(place, what.size(), by);
}

/// The error text of reading a plan, or "".
std::string reading_error(const std::string& text, std::vector<int>* ranks = nullptr) {
    try {
        static_cast<void>(plan_from_json(text));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        if (ranks != nullptr) {
            *ranks = error.ranks();
        }
        return error.what();
    }
    return "";
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Names, RoundTripAndListWhatExists) {
    for (std::size_t number = 0; number < collective_count; ++number) {
        const auto op = static_cast<Collective>(number);
        EXPECT_EQ(collective_from_string(to_string(op)), op);
    }
    for (int number = 0; number < 12; ++number) {
        const auto kind = static_cast<StepKind>(number);
        EXPECT_EQ(plan::step_kind_from_string(to_string(kind)), kind);
    }
    for (int number = 0; number < 7; ++number) {
        const auto via = static_cast<Mechanism>(number);
        EXPECT_EQ(plan::mechanism_from_string(to_string(via)), via);
    }
    try {
        static_cast<void>(collective_from_string("gossip"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::unknown_name);
        EXPECT_STREQ(error.what(), "no operation is called \"gossip\"; there are barrier, "
                                   "broadcast, reduce, allreduce, gather, scatter, allgather, "
                                   "alltoall, reduce_scatter, scan, exscan");
    }
}

TEST(PlanJson, RoundTripsEveryField) {
    Random random(9);
    for (int round = 0; round < 300; ++round) {
        bool ordered = false;
        Plan plan = random_plan(random, ordered);
        plan.algorithm = "name with \"quotes\" and \n";
        EXPECT_EQ(plan_from_json(to_json(plan)), plan);
    }
}

TEST(PlanJson, LeavesDefaultsOut) {
    const std::string text = to_json(flat_barrier(2));
    expect_contains(text, R"({"step": "wait", "peer": 1})");
    expect_contains(text, R"({"step": "publish"})");
    EXPECT_EQ(text.find("ordinal"), std::string::npos);
}

TEST(PlanJson, IgnoresOtherKeysOfTheDocument) {
    const Plan plan = line_broadcast(3);
    const std::string text =
        replaced(to_json(plan), "\"op\"", "\"machine\": {\"any\": [1]}, \"op\"");
    EXPECT_EQ(plan_from_json(text), plan);
}

TEST(PlanJson, ErrorsNameFieldRankAndStep) {
    const std::string good = to_json(line_broadcast(3));
    std::vector<int> ranks;
    const std::string recv = R"({"step": "recv", "peer": 1, "via": "line")";
    const auto error_with = [&](const std::string& by) {
        return reading_error(replaced(good, recv, by), &ranks);
    };
    for (const auto& [by, part] : std::vector<std::pair<std::string, std::string>>{
             {R"({"step": "receive", "peer": 1, "via": "line")", "no step is called \"receive\""},
             {R"({"step": "recv", "peer": 1.5, "via": "line")", "steps[2][0].peer"},
             {R"({"step": "recv", "peer": "1", "via": "line")", "steps[2][0].peer"},
             {R"({"step": "recv", "peer": 1, "via": "fax")", "no mechanism is called \"fax\""},
             {R"({"step": "recv", "per": 1, "via": "line")", "steps[2][0]"},
             {R"({"peer": 1, "via": "line")", "step"}}) {
        const std::string text = error_with(by);
        expect_contains(text, "rank 2, step 0: ");
        expect_contains(text, part);
        EXPECT_EQ(ranks, std::vector<int>{2});
    }
    expect_contains(reading_error(replaced(good, "\"root\": 0", "\"root\": -1")), "root");
    expect_contains(reading_error(replaced(good, "corymb-plan/1", "corymb-plan/2")), "schema");
    expect_contains(reading_error(replaced(good, "\"ranks\": 3", "\"ranks\": 4")), "ranks");
    expect_contains(reading_error(replaced(good, "broadcast", "gossip")), "op: ");
    expect_contains(reading_error(replaced(good, "\"block_count\": 1", "\"block_count\": 1e99")),
                    "block_count");
    EXPECT_NE(reading_error(good.substr(0, good.size() / 2)), "");
    EXPECT_NE(reading_error(std::string(1000000, '[')), "");
    EXPECT_NE(reading_error(""), "");
}

TEST(PlanJson, HugeNumbersCostNothing) {
    const std::string text = R"({"schema": "corymb-plan/1", "op": "allreduce", "root": 0,
        "block_count": 16777216, "scratch_blocks": 16777216, "bytes_max": 281474976710656,
        "steps": [[{"step": "copy", "from": {"buffer": "input", "first": 0, "count": 16777216},
                                    "to": {"buffer": "output", "first": 0, "count": 16777216}}]]})";
    check_plan(plan_from_json(text));
}

TEST(PlanHash, CoversAllThatDecidesWhatThePlanDoes) {
    const Plan plan = published_allreduce(3);
    const std::string hash = plan_hash(plan);
    EXPECT_EQ(hash.size(), 64u);
    EXPECT_EQ(plan_hash(plan), hash);
    Plan other = plan;
    other.algorithm = "another name";
    EXPECT_EQ(plan_hash(other), hash);
    const std::vector<void (*)(Plan&)> changes{
        [](Plan& p) { p.op = Collective::reduce; },
        [](Plan& p) { p.root = 1; },
        [](Plan& p) { p.block_count = 2; },
        [](Plan& p) { p.scratch_blocks = 1; },
        [](Plan& p) { p.bytes_max = 9; },
        [](Plan& p) { p.steps[1][1].kind = StepKind::read; },
        [](Plan& p) { p.steps[1][1].via = Mechanism::pull; },
        [](Plan& p) { p.steps[1][1].peer = 2; },
        [](Plan& p) { p.steps[1][1].from.first = 1; },
        [](Plan& p) { p.steps[1][1].from.count = 2; },
        [](Plan& p) { p.steps[1][1].to.buffer = Buffer::scratch; },
        [](Plan& p) { p.steps[1][1].ordinal = 1; },
        [](Plan& p) { p.steps[1][1].incoming_first = false; },
        [](Plan& p) { std::swap(p.steps[0], p.steps[2]); },
        [](Plan& p) { p.steps.emplace_back(); },
        [](Plan& p) {
            p.steps[1].push_back(p.steps[2].front());
            p.steps[2].erase(p.steps[2].begin());
        }};
    for (const auto change : changes) {
        other = plan;
        change(other);
        EXPECT_NE(plan_hash(other), hash);
    }
}

TEST(PlanJson, TheExampleInTheDocumentationIsRight) {
    std::ifstream file(CORYMB_SOURCE_DIR "/docs/reference/plan.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    const std::string fence = "```json\n";
    const std::size_t first = page.find(fence);
    ASSERT_NE(first, std::string::npos);
    const std::size_t begin = first + fence.size();
    check_plan(plan_from_json(page.substr(begin, page.find("```", begin) - begin)), true);
}

TEST(PlanSchema, NamesTheStepsMechanismsAndBuffersThatExist) {
    std::ifstream file(CORYMB_SOURCE_DIR "/docs/schema/plan-1.schema.json");
    const auto schema = nlohmann::json::parse(file);
    const auto& definitions = schema.at("$defs");
    const auto names = [&](const char* definition, const char* property) {
        return definitions.at(definition).at("properties").at(property).at("enum");
    };
    EXPECT_EQ(names("step", "step").size(), 12u);
    for (const auto& name : names("step", "step")) {
        EXPECT_NO_THROW(static_cast<void>(plan::step_kind_from_string(name.get<std::string>())));
    }
    EXPECT_EQ(names("step", "via").size(), 7u);
    for (const auto& name : names("step", "via")) {
        EXPECT_NO_THROW(static_cast<void>(plan::mechanism_from_string(name.get<std::string>())));
    }
    for (const auto& name : names("blocks", "buffer")) {
        EXPECT_NO_THROW(static_cast<void>(plan::buffer_from_string(name.get<std::string>())));
    }
}

} // namespace
