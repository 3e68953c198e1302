// SPDX-License-Identifier: Apache-2.0
// A model of the machine that chooses how a group of the C interface calls.
#include <corymb.h>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

struct Group {
    explicit Group(const corymb_multicast_options& options) {
        status = corymb_multicast_group_create(ranks, &options, &group);
        if (group != nullptr) {
            char* text = nullptr;
            EXPECT_EQ(corymb_multicast_group_topology(group, &text), CORYMB_OK);
            topology = text;
            corymb_free(text);
        }
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() { EXPECT_EQ(corymb_multicast_group_free(&group), CORYMB_OK); }

    static constexpr int ranks = 20;
    corymb_status status = CORYMB_OK;
    corymb_multicast_group* group = nullptr;
    std::string topology;
};

TEST(MulticastModelTest, ChoosesTheWay) {
    const std::string model = corymb::to_json(corymb::gallery_machine("smelt-e5v2-2x10"));
    corymb_multicast_options options;
    corymb_multicast_options_init(&options);
    EXPECT_EQ(Group(options).topology.find("simulated"), std::string::npos);
    options.machine_json = model.c_str();
    options.acknowledgement = CORYMB_MULTICAST_BY_BEST;
    EXPECT_NE(Group(options).topology.find("simulated on smelt-e5v2-2x10"), std::string::npos)
        << Group(options).topology;

    std::vector<int> placement(Group::ranks, 3);
    options.placement = placement.data();
    options.placement_count = placement.size() - 1;
    EXPECT_EQ(Group(options).status, CORYMB_INVALID_ARGUMENT);
    options.placement_count = placement.size();
    placement.back() = 20;
    EXPECT_EQ(Group(options).status, CORYMB_INVALID_ARGUMENT);
    options.placement = nullptr;
    EXPECT_EQ(Group(options).status, CORYMB_INVALID_ARGUMENT);
    options.placement_count = 0;
    options.machine_json = "{";
    EXPECT_EQ(Group(options).status, CORYMB_INVALID_MODEL);
}

TEST(MulticastModelTest, TakesATreeOfAcknowledgements) {
    const std::string model = corymb::to_json(corymb::gallery_machine("smelt-e5v2-2x10"));
    corymb_multicast_options options;
    corymb_multicast_options_init(&options);
    options.acknowledgement = CORYMB_MULTICAST_BY_GATHER;
    EXPECT_EQ(Group(options).status, CORYMB_INVALID_ARGUMENT) << "neither a plan nor a model";
    options.machine_json = model.c_str();
    EXPECT_NE(Group(options).topology.find("up the tree of the plan"), std::string::npos);
    options.gather_json = "{";
    EXPECT_EQ(Group(options).status, CORYMB_INVALID_PLAN);
}

} // namespace
