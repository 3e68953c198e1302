// SPDX-License-Identifier: Apache-2.0
// The levels that a user gives a machine, and the trees that follow them.
#include "machine/model/nearness.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

/// Two packages of two caches of two cores.
Machine eight_cores() {
    Machine machine;
    machine.topology.source = "synthetic";
    for (int cpu = 0; cpu < 8; ++cpu) {
        machine.topology.pus.push_back(
            {.cpu = cpu, .core = cpu, .l3 = cpu / 2, .package = cpu / 4});
    }
    machine.classes.resize(1);
    machine.classes[0].name = "any";
    machine.classes[0].send = {30, 30, 30, 1};
    machine.classes[0].receive = {100, 100, 100, 1};
    machine.group.assign(8, 0);
    machine.group_class = {0};
    machine.check();
    return machine;
}

std::string file_with(const std::string& levels) {
    const std::string path = testing::TempDir() + "corymb-levels.json";
    std::ofstream(path, std::ios::trunc)
        << R"({"schema": "corymb-levels/1", "levels": )" << levels << "}";
    return path;
}

std::string refusal(const std::string& levels, Errc code = Errc::invalid_argument) {
    Machine machine = eight_cores();
    machine.topology.pus[3].die = -1;
    try {
        set_levels(machine, levels);
        ADD_FAILURE() << levels << " was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_TRUE(machine.levels.empty()) << "the machine has changed";
        return error.what();
    }
    return "";
}

/// Messages of a broadcast by levels that leave the groups, each of which has one leader.
std::size_t messages_between(const Machine& machine, const std::vector<int>& group) {
    PlanRequest request;
    request.op = Collective::broadcast;
    request.size = machine.size();
    request.root = 0;
    request.bytes = 8;
    request.algorithm = "hierarchical-flat";
    const Plan plan = make_plan(machine, request).plan;
    std::size_t found = 0;
    for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
        for (const Step& step : plan.steps[rank]) {
            found += step.kind == StepKind::send &&
                     group[rank] != group[static_cast<std::size_t>(step.peer)];
        }
    }
    return found;
}

const std::vector<int> packages = {0, 0, 0, 0, 1, 1, 1, 1};
const std::vector<int> caches = {0, 0, 1, 1, 2, 2, 3, 3};

TEST(GivenLevels, TreesFollowThemInPlaceOfTheTopology) {
    Machine machine = eight_cores();
    EXPECT_EQ(messages_between(machine, packages), 1u);
    EXPECT_EQ(messages_between(machine, caches), 3u);
    set_levels(machine, "l3"); // Without packages the root tells all leaders of caches.
    EXPECT_EQ(messages_between(machine, packages), 2u);
    EXPECT_EQ(messages_between(machine, caches), 3u);
    set_levels(machine, "none"); // It tells everybody.
    EXPECT_EQ(messages_between(machine, packages), 4u);
    set_levels(machine, "package,l3");
    EXPECT_EQ(messages_between(machine, packages), 1u);
    EXPECT_EQ(messages_between(machine, caches), 3u);
}

TEST(GivenLevels, AFileHasGroupsOfItsOwn) {
    Machine machine = eight_cores();
    set_levels(machine, file_with(R"([{"name": "parity", "groups": ["0,2,4,6,99", "1,3,5,7"]}])"));
    const std::vector<int> parity = {0, 1, 0, 1, 0, 1, 0, 1};
    ASSERT_EQ(machine.levels.size(), 1u);
    EXPECT_EQ(machine.levels[0].name, "parity");
    EXPECT_EQ(machine.levels[0].group, parity);
    EXPECT_EQ(messages_between(machine, parity), 1u);
}

TEST(GivenLevels, APartOfAMachineHasTheirParts) {
    Machine machine = eight_cores();
    set_levels(machine, "package,l3");
    const Machine part = part_of(machine, std::vector<int>{5, 6, 7});
    EXPECT_EQ(part.levels[0].group, (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(part.levels[1].group, (std::vector<int>{0, 1, 1}));
    EXPECT_NO_THROW(part.check());
}

TEST(GivenLevels, ComeBackFromTheFile) {
    Machine machine = eight_cores();
    EXPECT_EQ(to_json(machine).find("levels"), std::string::npos);
    const std::string without = machine_sha256(machine);
    set_levels(machine, "package,l3");
    EXPECT_EQ(machine_from_json(to_json(machine)).levels, machine.levels);
    EXPECT_NE(machine_sha256(machine), without);
}

TEST(GivenLevels, WrongOnesAreRefusedWithThePlace) {
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(refusal(""), "no levels are given");
    has(refusal("l3,,core", Errc::unknown_name), "no level is called \"\"");
    has(refusal("packages", Errc::unknown_name), "there are package, numa, die");
    has(refusal("package,none", Errc::unknown_name), "\"none\" alone");
    has(refusal("die"), "the model does not know the die of CPU 0");
    has(refusal("l3,package"), "is not within one group of level \"l3\"");
    has(refusal("l3,l3"), "level \"l3\" is there twice");
    has(refusal("./no-such-file.json", Errc::io), "no-such-file.json");
    has(refusal(file_with("[]")), "levels: must have a level");
    has(refusal(file_with(R"([{"name": "a", "groups": ["0-3"]}])")), "no group has CPU 4");
    has(refusal(file_with(R"([{"name": "a", "groups": ["0-4", "4-7"]}])")),
        "levels[0].groups[1]: CPU 4 is in group 0, too");
    has(refusal(file_with(R"([{"name": "a", "groups": ["0-3;", "4-7"]}])")), "levels[0].groups[0]");
    has(refusal(file_with(R"([{"name": "", "groups": ["0-7"]}])")), "has no name");
    has(refusal(file_with(R"([{"name": "a", "groups": ["0-3", "4-7"]},
                              {"name": "b", "groups": ["0-4", "5-7"]}])")),
        "CPU 4 in level \"b\"");
}

TEST(GivenLevels, AModelWithWrongOnesIsRefused) {
    const auto refused = [](std::vector<GivenLevel> levels) {
        Machine machine = eight_cores();
        machine.levels = std::move(levels);
        EXPECT_THROW(machine.check(), Error);
        EXPECT_THROW(static_cast<void>(to_json(machine)), Error);
    };
    refused({{"short", {0, 1}}});
    refused({{"gap", {0, 0, 0, 0, 2, 2, 2, 2}}});
    refused({{"negative", {0, 0, 0, 0, -1, -1, -1, -1}}});
    refused({{"fine", caches}, {"coarse", packages}});
    refused({{"", packages}});
}

} // namespace
} // namespace corymb
