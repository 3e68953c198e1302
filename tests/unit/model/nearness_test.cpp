// SPDX-License-Identifier: Apache-2.0
#include "machine/model/nearness.hpp"

#include "sample_machine.hpp"

#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using Places = std::vector<int>;

TEST(Nearness, ThreadsOfACoreStandTogether) {
    const Machine machine = model_test::sample_machine();
    EXPECT_EQ(nearness_of(machine, Places{0, 1, 2, 3}).order, (Places{0, 2, 1, 3}));
    EXPECT_EQ(nearness_of(machine, Places{3, 0, 1, 2}).order, (Places{0, 2, 1, 3}));
    EXPECT_EQ(nearness_of(machine, Places{0, 2, 1, 3}).order, (Places{0, 1, 2, 3}));
    EXPECT_EQ(nearness_of(machine, Places{2}).order, (Places{0}));
}

TEST(Nearness, DistanceIsBothWaysToAllOthers) {
    const Machine machine = model_test::sample_machine();
    // Medians of classes: 3 + 9 within a core, 8 + 30 between.
    EXPECT_EQ(nearness_of(machine, Places{0, 2, 1}).distance,
              (std::vector<double>{24 + 76, 24 + 76, 152}));
}

TEST(Nearness, RanksThatAreNotBoundGetACoreEachFirst) {
    Machine machine = model_test::sample_machine();
    EXPECT_EQ(pus_of_each_core_first(machine), (Places{0, 1, 2, 3})) << "0 and 2 are of one core";
    std::swap(machine.topology.pus[1], machine.topology.pus[2]);
    EXPECT_EQ(pus_of_each_core_first(machine), (Places{0, 2, 1, 3}));
    for (Pu& pu : machine.topology.pus) {
        pu.core = -1;
    }
    EXPECT_EQ(pus_of_each_core_first(machine), (Places{0, 1, 2, 3})) << "no core is known";
}

TEST(Nearness, ACentralOneIsFirst) {
    const Machine machine = model_test::sample_machine();
    EXPECT_EQ(nearness_of(machine, Places{1, 0, 2}).order, (Places{1, 2, 0}));
    EXPECT_EQ(most_central(std::vector<double>{10, 5.05, 5, 7}), 1U);
}

TEST(Nearness, KeepsTheListWhereAllCostTheSame) {
    Machine machine = model_test::sample_machine();
    machine.group_class = {0, 0, 0, 0};
    EXPECT_EQ(nearness_of(machine, Places{3, 1, 0, 2}).order, (Places{0, 1, 2, 3}));
}

TEST(Nearness, OfAllMachinesOfTheGalleryIsAPermutation) {
    for (const std::string& name : gallery_names()) {
        const Machine machine = gallery_machine(name);
        Places all(static_cast<std::size_t>(machine.size()));
        std::iota(all.begin(), all.end(), 0);
        Places order = nearness_of(machine, all).order;
        std::ranges::sort(order);
        EXPECT_EQ(order, all) << name;
    }
}

TEST(PartOfAMachine, HasTheSameCosts) {
    for (const std::string& name : gallery_names()) {
        const Machine machine = gallery_machine(name);
        Places pus;
        for (int pu = machine.size() - 1; pu >= 0; pu -= 3) {
            pus.push_back(pu);
        }
        const Machine part = part_of(machine, pus);
        ASSERT_NO_THROW(part.check()) << name;
        ASSERT_EQ(part.size(), static_cast<int>(pus.size()));
        for (int from = 0; from < part.size(); ++from) {
            for (int to = 0; to < part.size(); ++to) {
                const int old_from = pus[static_cast<std::size_t>(from)];
                const int old_to = pus[static_cast<std::size_t>(to)];
                if (from != to) {
                    ASSERT_EQ(part.send_cost(from, to), machine.send_cost(old_from, old_to));
                    ASSERT_EQ(part.receive_cost(from, to), machine.receive_cost(old_from, old_to));
                }
            }
        }
    }
}

TEST(PartOfAMachine, IsAModelThatReadsBack) {
    const Machine part = part_of(model_test::sample_machine(), Places{3, 1});
    EXPECT_EQ(part.topology.pus[0].cpu, 5);
    EXPECT_EQ(part.topology.pus[0].core, 0) << "numbers are dense";
    EXPECT_EQ(part.group, (std::vector<int>{0, 0}));
    EXPECT_EQ(to_json(machine_from_json(to_json(part))), to_json(part));
}

} // namespace

} // namespace corymb
