// SPDX-License-Identifier: Apache-2.0
#include "policy/early_calls.hpp"

#include <gtest/gtest.h>

namespace corymb::mpi {
namespace {

TEST(RequestSampleTest, TheMeanStandsForAllCalls) {
    RequestSample sample;
    EXPECT_EQ(sample.time_ns(1'000'000), 0) << "nothing is known";
    sample.add(1'000, 10);
    sample.add(3'000, 10);
    EXPECT_EQ(sample.time_ns(100), 200'000);
}

TEST(RequestSampleTest, TheFirstCallsAreInItAndFewLaterOnes) {
    int first = 0;
    int later = 0;
    for (std::uint64_t call = 1; call <= 10'000; ++call) {
        (call <= tuning::sampled_requests ? first : later) += RequestSample::has(call) ? 1 : 0;
    }
    EXPECT_EQ(first, tuning::sampled_requests);
    EXPECT_GT(later, 0);
    EXPECT_LE(later, 10'000 / tuning::sampled_requests);
}

TEST(RequestSampleTest, AnMpiKeepsCpusIfEachCallTakesMuchOfOne) {
    const std::int64_t much = 2 * tuning::crowded_call_most_ns;
    RequestSample sample;
    for (int call = 0; call < tuning::early_calls; ++call) {
        EXPECT_FALSE(sample.keeps_cpus()) << "too few are known";
        sample.add(10 * much, much);
    }
    EXPECT_TRUE(sample.keeps_cpus());
    sample.add(10 * much, 5'000);
    EXPECT_FALSE(sample.keeps_cpus());
}

} // namespace
} // namespace corymb::mpi
