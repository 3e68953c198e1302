// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_bytes.hpp"

#include "base/random.hpp"
#include "sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;

std::vector<Plan> right_plans() {
    std::vector<Plan> plans{line_broadcast(4),        star_broadcast(5),
                            dissemination_barrier(6), published_broadcast(3, Mechanism::pull, 4),
                            published_allreduce(3),   doubling_allreduce(8, 4, 65536)};
    Random random(3);
    bool ordered = false;
    for (int i = 0; i < 100; ++i) {
        plans.push_back(random_plan(random, ordered));
    }
    return plans;
}

/// The code that reading fails with, if it does.
std::optional<Errc> reading(const std::string& bytes) {
    try {
        const Plan plan = plan::plan_from_bytes(bytes);
        EXPECT_EQ(plan::plan_from_bytes(plan::to_bytes(plan)), plan);
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

TEST(PlanBytes, GiveThePlanBack) {
    for (const Plan& plan : right_plans()) {
        const std::string bytes = plan::to_bytes(plan);
        EXPECT_EQ(plan::plan_from_bytes(bytes), plan) << plan.algorithm;
        EXPECT_LT(4 * bytes.size(), to_json(plan).size()) << plan.algorithm;
    }
}

TEST(PlanBytes, RefuseWhatIsNotAllOfThem) {
    const std::string bytes = plan::to_bytes(right_plans().front());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_EQ(reading(bytes.substr(0, length)), Errc::invalid_plan) << length;
    }
    EXPECT_EQ(reading(bytes + '\0'), Errc::invalid_plan);
    std::string other_version = bytes;
    ++other_version.front();
    EXPECT_EQ(reading(other_version), Errc::invalid_plan);
    // Counts of what cannot be there take no memory.
    EXPECT_EQ(reading(std::string("\1\0\0\0\0\0\0", 7) + "\xFF\xFF\3"), Errc::invalid_plan);
}

TEST(PlanBytes, ReadOtherBytesAsAPlanOrRefuseThem) {
    Random random(7);
    for (const Plan& plan : right_plans()) {
        std::string bytes = plan::to_bytes(plan);
        for (int times = 0; times < 40; ++times) {
            const auto place = random.below(static_cast<std::uint32_t>(bytes.size()));
            const char before = bytes[place];
            bytes[place] = static_cast<char>(random.below(256));
            EXPECT_EQ(reading(bytes).value_or(Errc::invalid_plan), Errc::invalid_plan);
            bytes[place] = before;
        }
    }
}

} // namespace
