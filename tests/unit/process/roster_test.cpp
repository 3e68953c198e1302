// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"
#include "team/roster.hpp"

#include "base/usable_cpus.hpp"

#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace corymb::team {
namespace {

using Cpus = std::vector<int>;

/// What ranks know of each other that may use such CPUs. Threads of this process play them.
std::vector<Company> after_meeting(const std::vector<Cpus>& cpus) {
    const auto memory = make_team_memory(static_cast<int>(cpus.size()));
    std::vector<Company> companies(cpus.size());
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
        threads.emplace_back([&, rank] {
            EXPECT_TRUE(set_affinity_mask(cpus[rank]));
            companies[rank].memory = memory;
            companies[rank].roster = &roster_of(*memory);
            const Rank own = sign_in(companies[rank], static_cast<Rank>(rank), 1);
            Arrival arrival(companies[rank], own, 1, std::chrono::nanoseconds(test_limit()).count(),
                            Arrival::Probe::patient);
            while (!arrival.has_met()) {
                std::this_thread::yield();
            }
        });
    }
    threads.clear();
    return companies;
}

TEST(RosterTest, RanksKnowOnWhichCpuEachIs) {
    const Cpus all = affinity_mask();
    if (all.size() < 2) {
        GTEST_SKIP() << "needs two CPUs";
    }
    const Cpus two = {all[0], all[1]};
    for (const Company& company : after_meeting({{all[1]}, two})) {
        EXPECT_EQ(company.cpu_of_rank, (Cpus{all[1], all[0]})) << "who may leave one does";
        EXPECT_EQ(company.cpus, two);
        EXPECT_EQ(company.usable, std::min(2, usable_cpus().count()));
    }
    for (const Company& company : after_meeting({two, two})) {
        EXPECT_EQ(company.cpu_of_rank, Cpus{}) << "nobody is bound";
        EXPECT_EQ(company.cpus, two);
    }
    for (const Company& company : after_meeting({{all[0]}, {all[0]}})) {
        EXPECT_EQ(company.cpu_of_rank, (Cpus{all[0], all[0]}));
        EXPECT_EQ(company.usable, 1);
    }
}

} // namespace
} // namespace corymb::team
