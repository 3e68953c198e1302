// SPDX-License-Identifier: Apache-2.0
#include "../sim/models.hpp"
#include "runtime/plan_cache.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;

PlanRequest request_of(Collective op, std::uint64_t bytes = 8) {
    PlanRequest request;
    request.op = op;
    request.bytes = bytes;
    request.moves = 300;
    return request;
}

TEST(PlanCache, GivesTheSamePlanForTheSameClass) {
    const Machine machine = uniform_machine(4, 7, 20);
    const std::string model = machine_sha256(machine);
    runtime::PlanCache cache(3);
    const auto first = cache.get(machine, model, request_of(Collective::allreduce, 3000));
    EXPECT_EQ(cache.get(machine, model, request_of(Collective::allreduce, 4096)), first);
    EXPECT_GE(first->plan.bytes_max, 4096u);
    EXPECT_NE(cache.get(machine, model, request_of(Collective::allreduce, 4097)), first);
    PlanRequest other = request_of(Collective::allreduce, 3000);
    other.ordered = true;
    EXPECT_NE(cache.get(machine, model, other), first);
    EXPECT_NE(cache.get(machine, "another model", request_of(Collective::allreduce, 3000)), first);
    EXPECT_EQ(cache.size(), 3u);
    EXPECT_NE(cache.get(machine, model, request_of(Collective::allreduce, 3000)), first);
}

TEST(PlanCache, ServesThreadsAtOnce) {
    const Machine machine = uniform_machine(5, 7, 20);
    runtime::PlanCache cache;
    std::vector<std::shared_ptr<const PlanChoice>> got(4);
    {
        std::vector<std::jthread> threads;
        for (auto& place : got) {
            threads.emplace_back([&machine, &cache, &place] {
                place = cache.get(machine, "model", request_of(Collective::barrier));
            });
        }
    }
    for (const auto& choice : got) {
        EXPECT_EQ(choice, got.front());
    }
}

} // namespace
