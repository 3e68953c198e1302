// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace corymb {

namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

/// A machine whose pairs cost `cost(from, to)`, shaken by up to +- `noise`.
Machine machine_of(int size, double noise, const std::function<double(int, int)>& cost,
                   std::uint64_t seed = 1) {
    Random random(seed);
    Machine machine;
    for (int from = 0; from < size; ++from) {
        machine.topology.pus.push_back({.cpu = from});
        for (int to = 0; to < size; ++to) {
            const double shaken = cost(from, to) * (1 + noise * (2 * random.unit() - 1));
            machine.send.push_back(from == to ? 0 : static_cast<float>(0.28 * shaken));
            machine.receive.push_back(from == to ? 0 : static_cast<float>(shaken));
        }
    }
    return machine;
}

std::size_t distinct(const Machine& machine, int Pu::* member) {
    std::set<int> numbers;
    for (const Pu& pu : machine.topology.pus) {
        if (pu.*member >= 0) {
            numbers.insert(pu.*member);
        }
    }
    return numbers.size();
}

std::vector<std::string> names(const Machine& machine) {
    std::vector<std::string> out;
    for (const PairClass& each : machine.classes) {
        out.push_back(each.name);
    }
    return out;
}

/// Two packages of two L3 groups of four cores of two threads; siblings are n / 2 apart.
double two_packages(int from, int to) {
    const int a = from % 16;
    const int b = to % 16;
    return a == b ? 8 : a / 4 == b / 4 ? 25 : a / 8 == b / 8 ? 100 : 200;
}

TEST(InferClasses, NestedLevelsBecomeTopology) {
    Machine machine = machine_of(32, 0.1, two_packages);
    infer_classes(machine);
    machine.check();
    EXPECT_EQ(names(machine),
              (std::vector<std::string>{"same-core", "same-l3", "same-package", "cross-package"}));
    EXPECT_EQ(machine.group_count(), 16);
    EXPECT_EQ(distinct(machine, &Pu::core), 16u);
    EXPECT_EQ(distinct(machine, &Pu::l3), 4u);
    EXPECT_EQ(distinct(machine, &Pu::package), 2u);
    EXPECT_EQ(machine.topology.source, "measured");
    EXPECT_TRUE(machine.fingerprint.smt);
    for (int a = 0; a < 32; ++a) {
        for (int b = 0; b < 32; ++b) {
            if (a != b) {
                const double latency = two_packages(a, b);
                const int wanted = latency == 8 ? 0 : latency == 25 ? 1 : latency == 100 ? 2 : 3;
                EXPECT_EQ(machine.class_of(a, b), wanted) << a << ", " << b;
            }
        }
    }
    EXPECT_NEAR(machine.classes[2].receive.median, 100, 5);
    EXPECT_NEAR(machine.classes[2].send.median, 28, 1.5);
    EXPECT_EQ(machine.classes[0].pairs_sampled, 32);
}

TEST(InferClasses, NumberingDoesNotMatter) {
    Random random(7);
    std::vector<int> shuffled(32);
    for (int i = 0; i < 32; ++i) {
        const auto at = random.below(static_cast<std::uint32_t>(i) + 1);
        shuffled[static_cast<std::size_t>(i)] = shuffled[at];
        shuffled[at] = i;
    }
    const auto place = [&](int pu) {
        return shuffled[static_cast<std::size_t>(pu)];
    };
    Machine machine =
        machine_of(32, 0.1, [&](int a, int b) { return two_packages(place(a), place(b)); });
    infer_classes(machine);
    for (int a = 0; a < 32; ++a) {
        for (int b = 0; b < 32; ++b) {
            const auto core = [&](int pu) {
                return machine.topology.pus[static_cast<std::size_t>(pu)].core;
            };
            EXPECT_EQ(core(a) == core(b), place(a) % 16 == place(b) % 16);
        }
    }
}

TEST(InferClasses, AFlatMeshIsOneClass) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto mesh = [](int a, int b) {
            return 30.0 + 2 * (std::abs(a % 6 - b % 6) + std::abs(a / 6 - b / 6));
        };
        Machine machine = machine_of(36, 0.1, mesh, seed);
        infer_classes(machine);
        EXPECT_EQ(names(machine), std::vector<std::string>{"all"}) << "seed " << seed;
        EXPECT_EQ(machine.group_count(), 1);
        EXPECT_EQ(machine.topology.pus[0].l3, -1);
    }
}

TEST(InferClasses, NoiseAloneMakesNoClasses) {
    for (int size = 2; size <= 12; ++size) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Machine machine = machine_of(size, 0.08, [](int, int) { return 50.0; }, seed);
            infer_classes(machine);
            EXPECT_EQ(machine.classes.size(), 1u) << size << " PUs, seed " << seed;
        }
    }
}

TEST(InferClasses, HopsNeedNotNest) {
    // Four dies in a ring: the two neighbours are nearer than the one across.
    Machine machine = machine_of(16, 0.05, [](int a, int b) {
        const int hops = std::abs(a / 4 - b / 4);
        return hops == 0 ? 50.0 : hops == 2 ? 300.0 : 120.0;
    });
    infer_classes(machine);
    machine.check();
    EXPECT_EQ(machine.classes.size(), 3u);
    EXPECT_EQ(machine.group_count(), 4);
    EXPECT_EQ(machine.class_of(0, 4), machine.class_of(0, 12));
    EXPECT_LT(machine.class_of(0, 4), machine.class_of(0, 8));
    EXPECT_EQ(distinct(machine, &Pu::package), 0u);
}

TEST(InferClasses, DirectionsMayDiffer) {
    Machine machine = machine_of(8, 0.03, [](int a, int b) {
        return a / 4 == b / 4 ? 20.0 : a < b ? 60.0 : 180.0;
    });
    infer_classes(machine);
    machine.check();
    EXPECT_EQ(machine.classes.size(), 3u);
    EXPECT_EQ(machine.class_of(0, 4), 1);
    EXPECT_EQ(machine.class_of(4, 0), 2);
}

TEST(InferClasses, MissingEntriesTakeTheClassOfTheirGroups) {
    Machine machine = machine_of(32, 0.1, two_packages);
    const auto lose = [&](std::size_t from, std::size_t to) {
        machine.send[from * 32 + to] = missing;
        machine.receive[from * 32 + to] = missing;
    };
    lose(0, 8); // One entry of its block.
    lose(0, 5); // All of a block, but not the way back.
    lose(16, 5);
    lose(0, 21);
    lose(16, 21);
    infer_classes(machine);
    machine.check();
    EXPECT_EQ(machine.class_of(0, 8), 3);
    EXPECT_EQ(machine.class_of(0, 5), 2);
    EXPECT_EQ(machine.send_cost(0, 8), machine.classes[3].send.median);
}

TEST(InferClasses, OneStrayCoreDoesNotHideTheClasses) {
    Machine machine = machine_of(
        32, 0.1, [](int a, int b) { return two_packages(a, b) * (a == 3 || b == 3 ? 1.5 : 1); });
    infer_classes(machine);
    machine.check();
    EXPECT_EQ(machine.class_of(0, 1), 1);
    EXPECT_EQ(machine.class_of(0, 4), 2);
    EXPECT_EQ(machine.class_of(0, 8), 3);
}

TEST(InferClasses, KindsOfCoresStayApart) {
    // Four fast cores and four slow ones whose pairs are only a little slower.
    Machine machine = machine_of(8, 0.02, [](int a, int b) {
        return a < 4 && b < 4 ? 40.0 : a < 4 || b < 4 ? 55.0 : 75.0;
    });
    for (std::size_t i = 0; i < 8; ++i) {
        machine.topology.pus[i].kind = i < 4 ? 1 : 0;
    }
    infer_classes(machine);
    machine.check();
    EXPECT_EQ(machine.classes.size(), 3u);
    EXPECT_NE(machine.group[0], machine.group[4]);
}

TEST(InferClasses, AReportedTopologyIsKeptAndContradicted) {
    Machine machine = machine_of(8, 0.05, [](int a, int b) { return a / 4 == b / 4 ? 30. : 90.; });
    machine.topology.source = "hwloc";
    for (std::size_t i = 0; i < 8; ++i) {
        machine.topology.pus[i].core = static_cast<int>(i);
        machine.topology.pus[i].package = 0;
        machine.topology.pus[i].l3 = static_cast<int>(i) / 4;
    }
    infer_classes(machine);
    EXPECT_TRUE(machine.topology.disagreements.empty());
    EXPECT_EQ(names(machine), (std::vector<std::string>{"same-l3", "same-package"}));

    for (Pu& pu : machine.topology.pus) {
        pu.l3 = 0;
    }
    infer_classes(machine);
    EXPECT_EQ(machine.topology.disagreements.size(), 1u);
    EXPECT_EQ(machine.topology.pus[7].l3, 0);
}

TEST(InferClasses, SmallAndUnusableMachines) {
    Machine one = machine_of(1, 0, [](int, int) { return 1.0; });
    infer_classes(one);
    one.check();
    EXPECT_TRUE(one.classes.empty());

    Machine two = machine_of(2, 0, [](int a, int) { return a == 0 ? 40.0 : 44.0; });
    infer_classes(two);
    two.check();
    EXPECT_EQ(two.classes.size(), 1u);

    Machine none = machine_of(3, 0, [](int, int) { return 0.0; });
    none.send.assign(9, missing);
    EXPECT_THROW(infer_classes(none), Error);
    none.send.clear();
    EXPECT_THROW(infer_classes(none), Error);

    Machine zero = machine_of(4, 0, [](int, int) { return 0.0; });
    infer_classes(zero);
    zero.check();
    EXPECT_EQ(zero.classes.size(), 1u);
}

} // namespace

} // namespace corymb
