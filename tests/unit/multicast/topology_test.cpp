// SPDX-License-Identifier: Apache-2.0
// Every topology reaches exactly the members, whichever those are, also beyond one word of them.
#include "multicast/one_thread.hpp"
#include "team/sample_plans.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace corymb {
namespace {

using multicast_test::Ranks;

struct Case {
    std::string name;
    int size;
    MulticastOptions options;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const int size : {2, 5, 64, 65, 150}) {
        using enum MulticastTopology;
        const auto add = [&](const std::string& name, const MulticastOptions& options) {
            all.push_back({name + "_" + std::to_string(size), size, options});
        };
        for (const bool skipping : {false, true}) {
            const std::string how = skipping ? "_skipping" : "_helping";
            add("flat" + how, multicast_test::settings(flat, skipping));
            add("binary" + how, multicast_test::settings(binary, skipping));
            auto tree = multicast_test::settings(MulticastTopology::tree, skipping);
            tree.plan = team_test::star_broadcast(size, size / 2, 8, Mechanism::line);
            add("tree" + how, tree);
        }
        for (const int fan_out : {1, 2, 4}) {
            auto options = multicast_test::settings(split);
            options.fan_out = fan_out;
            add("split_" + std::to_string(fan_out), options);
        }
    }
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
        Case by_messages = all[i];
        by_messages.name += "_by_messages";
        by_messages.options.acknowledgement = MulticastAcknowledgement::messages;
        all.push_back(std::move(by_messages));
        Case gathers = all[i];
        gathers.name += "_gather";
        gathers.options.acknowledgement = MulticastAcknowledgement::gather;
        gathers.options.gather = i % 2 == 0 || gathers.size < 3
                                     ? team_test::star_reduce(gathers.size, 8)
                                     : team_test::chain_reduce(gathers.size, 8, Mechanism::line);
        all.push_back(std::move(gathers));
    }
    return all;
}

class TopologyTest : public testing::TestWithParam<Case> {};

TEST_P(TopologyTest, ReachesExactlyTheMembers) {
    const auto& [name, size, options] = GetParam();
    Ranks ranks(size, options);
    std::mt19937 random(7);
    std::vector<int> expected(static_cast<std::size_t>(size));
    for (const unsigned one_in : {1U, 2U, 20U}) {
        int members = 0;
        for (Rank rank = 0; rank < size; ++rank) {
            if (random() % one_in == 0) {
                ranks[rank].join();
                ++members;
                ++expected[static_cast<std::size_t>(rank)];
            } else {
                ranks[rank].leave();
            }
        }
        EXPECT_EQ(ranks.group().members(), members);
        auto token = ranks.call(static_cast<Rank>(random() % static_cast<unsigned>(size)));
        EXPECT_EQ(token.members(), members);
        ranks.poll_until(token);
        EXPECT_EQ(ranks.runs(), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(All, TopologyTest, testing::ValuesIn(cases()),
                         [](const auto& of) { return of.param.name; });

TEST(TopologyTest, ThousandsOfMembersAndWaitersThatTakeOver) {
    using enum MulticastAcknowledgement;
    for (const auto& [topology, acknowledgement] : {std::pair{MulticastTopology::binary, counters},
                                                    {MulticastTopology::split, counters},
                                                    {MulticastTopology::binary, messages},
                                                    {MulticastTopology::split, messages}}) {
        constexpr Rank size = 3000;
        auto options = multicast_test::settings(topology);
        options.acknowledgement = acknowledgement;
        Ranks ranks(size, options);
        for (Rank rank = 1; rank < size; ++rank) {
            ranks[rank].join();
        }
        auto token = ranks.call(0);
        EXPECT_THROW(token.wait(std::chrono::milliseconds(1)), Error);
        for (Rank rank = size - 1; rank > 0; --rank) {
            EXPECT_EQ(ranks[rank].poll(), 1) << "the initiator has forwarded for all";
        }
        EXPECT_TRUE(token.test());
    }
}

} // namespace
} // namespace corymb
