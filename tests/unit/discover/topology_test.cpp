// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.hpp"
#include "machine/discover/levels.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

namespace corymb {
namespace {

std::string class_name(const Machine& machine, int a, int b) {
    return machine.classes[static_cast<std::size_t>(machine.class_of(a, b))].name;
}

Errc code_of(const std::function<void()>& call, std::string* text = nullptr) {
    try {
        call();
    } catch (const Error& error) {
        if (text != nullptr) {
            *text = error.what();
        }
        return error.code();
    }
    ADD_FAILURE() << "no error";
    return Errc::team_broken;
}

TEST(Topology, SyntheticHasEveryLevel) {
    const Machine machine = topology_from_synthetic("pack:2 numa:3 l2:4 core:5 pu:6");
    EXPECT_EQ(machine.size(), 2 * 3 * 4 * 5 * 6);
    EXPECT_EQ(machine.topology.source, "synthetic");
    EXPECT_NE(machine.source.find("not measured"), std::string::npos);
    EXPECT_EQ(class_name(machine, 0, 5), "same-core");
    EXPECT_EQ(class_name(machine, 0, 6), "same-l2");
    EXPECT_EQ(class_name(machine, 0, 30), "same-numa");
    EXPECT_EQ(class_name(machine, 0, 120), "same-package");
    EXPECT_EQ(class_name(machine, 0, 360), "cross-package");
    EXPECT_TRUE(machine.fingerprint.smt);
}

TEST(Topology, SyntheticLevelsOfManyObjects) {
    // 96 and 130 can be split, 97 cannot.
    for (const int cores : {96, 97, 130}) {
        const Machine machine =
            topology_from_synthetic("pack:2 core:" + std::to_string(cores) + " pu:2");
        ASSERT_EQ(machine.size(), 4 * cores);
        for (const Pu& pu : machine.topology.pus) {
            EXPECT_EQ(pu.core, pu.cpu / 2);
            EXPECT_EQ(pu.package, pu.cpu / (2 * cores));
            EXPECT_EQ(pu.l2, -1);
            EXPECT_EQ(pu.die, -1);
        }
    }
}

TEST(Topology, CostsGrowWithTheDistance) {
    const Machine machine = topology_from_synthetic("pack:2 numa:2 l3:2 core:4 pu:2");
    double before = 0;
    for (const int other : {1, 2, 8, 16, 32}) {
        EXPECT_GT(machine.send_cost(0, other), 0);
        EXPECT_GT(machine.receive_cost(0, other), before) << other;
        EXPECT_EQ(machine.receive_cost(0, other), machine.receive_cost(other, 0));
        before = machine.receive_cost(0, other);
    }
    EXPECT_NO_THROW(machine.check());
}

TEST(Topology, OnePuIsAMachine) {
    const Machine machine = topology_from_synthetic("pu:1");
    EXPECT_EQ(machine.size(), 1);
    EXPECT_NO_THROW(machine.check());
}

TEST(Topology, LevelsNeedNotNest) {
    // Two NUMA nodes inside one L3, as with sub-NUMA clustering.
    std::vector<Pu> pus;
    for (int cpu = 0; cpu < 8; ++cpu) {
        pus.push_back(Pu{.cpu = cpu, .core = cpu, .l3 = cpu / 8, .package = 0, .numa = cpu / 4});
    }
    const auto levels = discover::distinct_levels(pus);
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_EQ(levels[0].name, "numa");
    EXPECT_EQ(levels[1].name, "l3");
}

TEST(Topology, ThisMachineShowsTheAllowedCpusOnly) {
    const Machine machine = discover_topology();
    std::vector<int> cpus;
    for (const Pu& pu : machine.topology.pus) {
        cpus.push_back(pu.cpu);
    }
    EXPECT_EQ(format_cpu_list(cpus), format_cpu_list(usable_cpus().allowed));
    EXPECT_EQ(machine.fingerprint.cpuset, format_cpu_list(cpus));
    EXPECT_EQ(machine.fingerprint.topology_sha256.size(), 64u);
    EXPECT_FALSE(machine.fingerprint.kernel.empty());
    EXPECT_FALSE(machine.fingerprint.virtualization.empty());
    EXPECT_NO_THROW(machine.check());
}

TEST(Topology, EveryStoredXmlLoads) {
    const std::filesystem::path folder = std::string(CORYMB_SOURCE_DIR) + "/tests/data/hwloc";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "no stored XML files";
    }
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".xml") {
            continue;
        }
        const Machine machine = topology_from_xml(entry.path());
        EXPECT_GT(machine.size(), 1) << entry.path();
        EXPECT_NO_THROW(machine.check()) << entry.path();
        EXPECT_EQ(machine.name, entry.path().stem().string());
        ++files;
    }
    EXPECT_GT(files, 0);
}

TEST(Topology, HybridCoresHaveKinds) {
    const std::filesystem::path file =
        std::string(CORYMB_SOURCE_DIR) + "/tests/data/hwloc/Intel-RaptorLake-Corei7-1370P.xml";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "no stored XML files";
    }
    std::set<int> kinds;
    for (const Pu& pu : topology_from_xml(file).topology.pus) {
        kinds.insert(pu.kind);
    }
    EXPECT_EQ(kinds, (std::set<int>{0, 1}));
}

TEST(Topology, SiblingsOfOfflineCpusAreAlone) {
    const Machine machine = topology_from_xml(std::string(CORYMB_SOURCE_DIR) +
                                              "/tests/data/hwloc/two-siblings-offline.xml");
    // What the machine was started with: CPUs 2 k and 2 k + 1 share a core and an L2, eight CPUs a
    // package. CPUs 3 and 5 are offline.
    ASSERT_EQ(machine.size(), 14);
    for (const Pu& a : machine.topology.pus) {
        for (const Pu& b : machine.topology.pus) {
            EXPECT_EQ(a.core == b.core, a.cpu / 2 == b.cpu / 2) << a.cpu << ' ' << b.cpu;
            EXPECT_EQ(a.l2 == b.l2, a.cpu / 2 == b.cpu / 2) << a.cpu << ' ' << b.cpu;
            EXPECT_EQ(a.l3 == b.l3, a.cpu / 8 == b.cpu / 8) << a.cpu << ' ' << b.cpu;
            EXPECT_EQ(a.package == b.package, a.cpu / 8 == b.cpu / 8) << a.cpu << ' ' << b.cpu;
        }
    }
    EXPECT_EQ(machine.fingerprint.cpu, "QEMU TCG CPU version 2.5+");
}

TEST(Topology, BrokenInputGivesAnErrorThatNamesIt) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("corymb-broken-" + std::to_string(getpid()) + ".xml");
    std::string text;
    for (const char* const content : {"", "not xml", "<topology", "<?xml version=\"1.0\"?><a/>"}) {
        std::ofstream(file) << content;
        EXPECT_EQ(code_of([&] { topology_from_xml(file); }, &text), Errc::invalid_model) << content;
        EXPECT_NE(text.find(file.string()), std::string::npos);
    }
    std::filesystem::remove(file);
    EXPECT_EQ(code_of([&] { topology_from_xml(file); }), Errc::io);
    EXPECT_EQ(code_of([&] { topology_from_xml("/"); }), Errc::io);
    for (const char* const description :
         {"", "hello", "pack:0", "pack:-3", "pack:2 pu", "pack:99999 core:99999 pu:9"}) {
        EXPECT_EQ(code_of([&] { topology_from_synthetic(description); }, &text),
                  Errc::invalid_argument)
            << description;
    }
}

} // namespace
} // namespace corymb
