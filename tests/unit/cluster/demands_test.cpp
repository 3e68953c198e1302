// SPDX-License-Identifier: Apache-2.0
// The planner for callers that cannot use every plan.
#include "test_cluster.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace corymb;

using test::cluster_of;

PlanRequest request_of(Collective op, std::uint64_t bytes) {
    PlanRequest request;
    request.op = op;
    request.bytes = bytes;
    return request;
}

using Serves = std::function<bool(const Plan& plan)>;

tune::Found found(const Cluster& cluster, const PlanRequest& request, const Serves& serves) {
    return *tune::find_plan(cluster, tune::completed(cluster, request), {.serves = serves});
}

bool pulls(const Plan& plan) {
    return std::ranges::any_of(plan.steps, [](const std::vector<Step>& steps) {
        return std::ranges::find(steps, Mechanism::pull, &Step::via) != steps.end();
    });
}

TEST(Demands, WithoutCopiesTheSearchFindsWhatAllSchemesHave) {
    for (const Cluster& cluster : {cluster_of(4, 4), cluster_of(16, 3)}) {
        for (const Collective op :
             {Collective::allgather, Collective::allreduce, Collective::broadcast,
              Collective::reduce, Collective::alltoall, Collective::reduce_scatter,
              Collective::gather, Collective::scan}) {
            for (const std::uint64_t bytes : {8U, 4096U, 262'144U}) {
                PlanRequest request = request_of(op, bytes);
                request.pull = false;
                const PlanChoice choice = make_plan(cluster, request);
                request.exhaustive = true;
                const PlanChoice best = make_plan(cluster, request);
                EXPECT_FALSE(pulls(choice.plan)) << choice.plan.algorithm;
                EXPECT_LE(choice.predicted, 1.03 * 1.03 * best.predicted)
                    << to_string(op) << ' ' << bytes << ": " << choice.plan.algorithm << ", not "
                    << best.plan.algorithm;
            }
        }
    }
}

TEST(Demands, PlansThatDoNotServeAreNotTaken) {
    const Cluster cluster = cluster_of(4, 4);
    const PlanRequest request = request_of(Collective::allgather, 1024);
    const std::string usual = make_plan(cluster, request).plan.algorithm;
    const Serves serves = [&](const Plan& plan) {
        return plan.algorithm != usual;
    };
    const tune::Found choice = found(cluster, request, serves);
    EXPECT_NE(choice.plan.algorithm, usual);
    for (const tune::Tried& tried : choice.tried) {
        EXPECT_NE(tune::name_of(tried.candidate), usual);
    }
}

/// Where nothing that the search begins with serves, all schemes are tried.
TEST(Demands, TheOnlyPlanThatServesIsFound) {
    const Cluster cluster = cluster_of(4, 4);
    const PlanRequest request = request_of(Collective::allgather, 8);
    for (const std::string& name : scheme_names(cluster, request)) {
        const Serves serves = [&](const Plan& plan) {
            return plan.algorithm == name;
        };
        EXPECT_EQ(found(cluster, request, serves).plan.algorithm, name);
    }
    const Serves nothing = [](const Plan&) {
        return false;
    };
    EXPECT_THROW(static_cast<void>(found(cluster, request, nothing)), Error);
}

TEST(Demands, OfManyRanksOnlyWhatPassesNothingOnIsTried) {
    PlanRequest request = request_of(Collective::alltoall, 8); // Bruck would be faster.
    request.keeps_parts = true;
    const tune::Found choice = found(cluster_of(65, 4), request, [](const Plan&) { return true; });
    EXPECT_NE(choice.plan.algorithm.find("/direct/"), std::string::npos) << choice.plan.algorithm;
}

} // namespace
