// SPDX-License-Identifier: Apache-2.0
// The search for plans, which is one for machines and clusters.
#include "test_cluster.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace {

using namespace corymb;

using test::cluster_of;

/// Calls `test` with a machine and with a cluster.
template <class Test>
void on_both(const Test& test) {
    test(gallery_machine("ryzen-5950x-1s-32t"));
    test(cluster_of(4, 4));
}

template <class Model>
std::optional<tune::Found> search(const Model& model, Collective op, std::uint64_t bytes,
                                  const tune::Effort& effort = {}) {
    PlanRequest request;
    request.op = op;
    request.bytes = bytes;
    request.root = is_rooted(op) ? 0 : -1;
    request.moves = 1;
    return tune::find_plan(model, tune::completed(model, request), effort);
}

TEST(Search, TriesEachCandidateOnceAndTakesOneOfTheFastest) {
    on_both([](const auto& model) {
        for (const Collective op : {Collective::broadcast, Collective::allreduce}) {
            const auto found = search(model, op, 65536);
            std::set<std::string> names;
            double least = found->predicted;
            for (const tune::Tried& tried : found->tried) {
                EXPECT_TRUE(names.insert(tune::name_of(tried.candidate)).second);
                least = std::min(least, tried.time);
            }
            EXPECT_TRUE(names.contains(found->plan.algorithm));
            EXPECT_EQ(tune::name_of(found->candidate), found->plan.algorithm);
            EXPECT_LE(found->predicted, 1.03 * least);
            EXPECT_NO_THROW(check_plan(found->plan));
        }
    });
}

TEST(Search, LeavesOutPlansThatDoNotServe) {
    on_both([](const auto& model) {
        const std::string usual = search(model, Collective::broadcast, 4096)->plan.algorithm;
        const auto serves = [&](const Plan& plan) {
            return plan.algorithm != usual;
        };
        const auto found = search(model, Collective::broadcast, 4096, {.serves = serves});
        EXPECT_NE(found->plan.algorithm, usual);
        for (const tune::Tried& tried : found->tried) {
            EXPECT_NE(tune::name_of(tried.candidate), usual);
        }
    });
}

TEST(Search, SaysThatNoPlanServes) {
    on_both([](const auto& model) {
        const auto nothing = [](const Plan&) {
            return false;
        };
        try {
            static_cast<void>(search(model, Collective::gather, 8, {.serves = nothing}));
            ADD_FAILURE() << "found a plan";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("gather"), std::string::npos) << error.what();
        }
    });
}

TEST(Search, FindsNothingWhenAskedToStop) {
    on_both([](const auto& model) {
        std::stop_source stop;
        stop.request_stop();
        EXPECT_FALSE(search(model, Collective::allgather, 8, {.stop = stop.get_token()}));
    });
}

TEST(Search, TakesAPlanThroughCellsThatIsNotMuchSlower) {
    const Machine machine = gallery_machine("epyc-9654-2s-192c");
    const auto is_by_cells = [](const tune::Found& found) {
        return found.candidate.variant.via == Mechanism::cells;
    };
    const auto best = search(machine, Collective::gather, 1 << 20);
    ASSERT_FALSE(is_by_cells(*best));
    double cells = tune::never;
    for (const tune::Tried& tried : best->tried) {
        if (tried.candidate.variant.via == Mechanism::cells) {
            cells = std::min(cells, tried.time);
        }
    }
    const double slowdown = cells / best->predicted;
    const auto wanted =
        search(machine, Collective::gather, 1 << 20, {.slowdown_through_cells = 1.001 * slowdown});
    EXPECT_TRUE(is_by_cells(*wanted));
    EXPECT_EQ(wanted->predicted, cells);
    EXPECT_FALSE(is_by_cells(*search(machine, Collective::gather, 1 << 20,
                                     {.slowdown_through_cells = 0.999 * slowdown})));
}

} // namespace
