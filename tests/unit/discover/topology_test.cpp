// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.hpp"
#include "base/fake_root.hpp"
#include "machine/discover/kernel_nodes.hpp"
#include "machine/discover/levels.hpp"
#include "machine/discover/topology_reader.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// A description and, by level from outside in, how many PUs an object holds.
struct Shape {
    std::string text;
    std::vector<int> pus_of;

    /// Of the smallest object around both PUs: 0 is the machine.
    [[nodiscard]] int depth(int a, int b) const {
        int deepest = 0;
        for (std::size_t level = 0; level < pus_of.size(); ++level) {
            deepest = a / pus_of[level] == b / pus_of[level] ? static_cast<int>(level) : deepest;
        }
        return deepest;
    }
};

/// Levels in any order and number, as they come on machines that exist and on others.
std::vector<Shape> shapes() {
    std::vector<Shape> found;
    const std::vector<std::pair<std::string, int>> kinds = {{"pack", 2}, {"numa", 2}, {"die", 2},
                                                            {"l3", 2},   {"numa", 1}, {"l3", 1}};
    std::vector<std::size_t> order(kinds.size());
    for (unsigned chosen = 0; chosen < 1u << kinds.size(); ++chosen) {
        order.clear();
        std::set<std::string> names;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            if ((chosen >> kind & 1) != 0) {
                order.push_back(kind);
                names.insert(kinds[kind].first);
            }
        }
        if (names.size() != order.size()) {
            continue; // A name twice.
        }
        do {
            for (const int threads : {1, 2}) {
                std::vector<int> counts;
                Shape shape;
                for (const std::size_t kind : order) {
                    shape.text +=
                        kinds[kind].first + ':' + std::to_string(kinds[kind].second) + ' ';
                    counts.push_back(kinds[kind].second);
                }
                shape.text += "core:2 pu:" + std::to_string(threads);
                counts.insert(counts.end(), {2, threads});
                shape.pus_of.assign(counts.size() + 1, 1);
                for (std::size_t level = counts.size(); level > 0; --level) {
                    shape.pus_of[level - 1] = shape.pus_of[level] * counts[level - 1];
                }
                found.push_back(shape);
            }
        } while (std::next_permutation(order.begin(), order.end()));
    }
    return found;
}

TEST(Topology, CostsGrowOutwardsWhateverTheOrderOfLevels) {
    for (const Shape& shape : shapes()) {
        const Machine machine = topology_from_synthetic(shape.text);
        ASSERT_EQ(machine.size(), shape.pus_of.front()) << shape.text;
        std::map<int, double> cost_of; // By depth.
        for (int a = 0; a < machine.size(); ++a) {
            for (int b = 0; b < machine.size(); ++b) {
                if (a != b) {
                    const double cost = machine.receive_cost(a, b);
                    const auto found = cost_of.try_emplace(shape.depth(a, b), cost).first;
                    ASSERT_EQ(found->second, cost) << shape.text << ", " << a << " and " << b;
                }
            }
        }
        double before = 0;
        for (auto level = cost_of.rbegin(); level != cost_of.rend(); ++level) {
            EXPECT_GT(level->second, before) << shape.text << ", level " << level->first;
            before = level->second;
        }
        for (std::size_t next = 1; next < machine.classes.size(); ++next) {
            EXPECT_GT(machine.classes[next].receive.median,
                      machine.classes[next - 1].receive.median)
                << shape.text;
        }
        machine.check();
    }
}

TEST(Topology, PackagesWithinOneNodeAreFarApart) {
    const Machine machine = topology_from_synthetic("pack:2 core:4 pu:1");
    const Machine known = topology_from_synthetic("pack:2 numa:1 l3:1 core:4 pu:1");
    EXPECT_EQ(class_name(machine, 0, 7), "cross-package");
    EXPECT_EQ(machine.receive_cost(0, 7), known.receive_cost(0, 7));
}

TEST(Topology, DistancesOfTheKernelOrderFarPairs) {
    // A ring of four packages, a node each: 0 and 2 are opposite of each other.
    FakeRoot root;
    const char* const rows[] = {"10 16 32 16", "16 10 16 32", "32 16 10 16", "16 32 16 10"};
    Machine machine;
    for (int node = 0; node < 4; ++node) {
        const std::string folder = "node" + std::to_string(node);
        root.file(folder + "/cpulist",
                  std::to_string(2 * node) + '-' + std::to_string(2 * node + 1));
        root.file(folder + "/distance", rows[node]);
        for (const int cpu : {2 * node, 2 * node + 1}) {
            machine.topology.pus.push_back(Pu{.cpu = cpu, .core = cpu, .package = node});
        }
    }
    root.file("has_cpu", "0-3");
    const discover::KernelNodes nodes = discover::read_kernel_nodes(root.path());
    ASSERT_TRUE(nodes.number(machine.topology.pus));
    discover::classes_from_topology(machine, nodes.distances(machine.topology.pus));
    machine.check();
    ASSERT_EQ(machine.classes.size(), 3u);
    for (int cpu = 0; cpu < 8; ++cpu) {
        EXPECT_EQ(machine.topology.pus[static_cast<std::size_t>(cpu)].numa, cpu / 2);
    }
    EXPECT_LT(machine.receive_cost(0, 1), machine.receive_cost(0, 2));
    EXPECT_EQ(machine.receive_cost(0, 2), machine.receive_cost(7, 0));
    EXPECT_EQ(machine.receive_cost(0, 4), 2 * machine.receive_cost(0, 2));
    EXPECT_TRUE(machine.topology.disagreements.empty());
}

TEST(Topology, DistancesDoNotTurnLevelsInsideOut) {
    // Two nodes in each package, which the kernel calls farther apart than the packages.
    Machine machine;
    for (int cpu = 0; cpu < 8; ++cpu) {
        machine.topology.pus.push_back(
            Pu{.cpu = cpu, .core = cpu, .package = cpu / 4, .numa = cpu / 2});
    }
    const discover::NodeDistances distances{
        4, {10, 40, 20, 20, 40, 10, 20, 20, 20, 20, 10, 40, 20, 20, 40, 10}};
    discover::classes_from_topology(machine, distances);
    EXPECT_LT(machine.receive_cost(0, 2), machine.receive_cost(0, 4));
    EXPECT_FALSE(machine.topology.disagreements.empty());
}

TEST(Topology, DistancesInXmlOrderFarPairs) {
    // Eight packages, a node each, all 20 apart: the first and the last are moved to 30.
    std::ifstream file(std::string(CORYMB_SOURCE_DIR) + "/tests/data/hwloc/16amd64-4distances.xml");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::pair<std::string, std::string> changes[] = {
        {">10 20 20 20 20 20 20 20 20 10 <", ">10 20 20 20 20 20 20 30 20 10 <"},
        {">20 20 20 20 10 20 20 20 20 20 <", ">20 20 20 20 10 20 30 20 20 20 <"}};
    for (const auto& [before, after] : changes) {
        const std::size_t place = text.find(before);
        ASSERT_NE(place, std::string::npos);
        text.replace(place, before.size(), after);
    }
    FakeRoot root;
    root.file("changed.xml", text);
    const Machine machine = topology_from_xml(root.path() / "changed.xml");
    EXPECT_EQ(machine.receive_cost(0, 14), 1.5 * machine.receive_cost(0, 12));
    EXPECT_EQ(machine.receive_cost(2, 14), machine.receive_cost(0, 12));
}

TEST(Topology, NodesOfTheKernelReplaceThoseOfHwloc) {
    FakeRoot root;
    root.file("node0/cpulist", "0-1\n").file("node2/cpulist", "2-3\n").file("node3/cpulist", "\n");
    const discover::KernelNodes nodes = discover::read_kernel_nodes(root.path());
    std::vector<Pu> pus = {{.cpu = 3}, {.cpu = 1, .numa = 5}, {.cpu = 2}};
    ASSERT_TRUE(nodes.number(pus));
    EXPECT_EQ(pus[0].numa, 0);
    EXPECT_EQ(pus[1].numa, 1);
    EXPECT_EQ(pus[2].numa, 0);
    EXPECT_EQ(nodes.distances(pus).nodes, 0) << "no distances were given";

    std::vector<Pu> others = {{.cpu = 0, .numa = 7}, {.cpu = 9, .numa = 8}};
    EXPECT_FALSE(nodes.number(others)) << "CPU 9 has no node";
    EXPECT_EQ(others[0].numa, 7);
    EXPECT_FALSE(discover::read_kernel_nodes(root.path() / "none").number(others));
}

TEST(Topology, LevelsThatSomeCpusLackAreNamed) {
    const std::vector<Pu> pus = {{.cpu = 0, .core = 0, .package = 0}, {.cpu = 4, .core = 1}};
    const std::vector<std::string> texts = discover::unknown_levels(pus);
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_NE(texts[0].find("package of CPUs 4 "), std::string::npos) << texts[0];
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
