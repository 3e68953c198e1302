// SPDX-License-Identifier: Apache-2.0
// Calls on a machine model that is small enough to work them out by hand.
#include "team/sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/multicast_model.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>

namespace corymb {
namespace {

/// Every send costs 10 and every receive 100.
Machine even_machine(int size) {
    Machine machine;
    machine.name = "even";
    PairClass all;
    all.name = "all";
    all.send = {10, 10, 10, 1};
    all.receive = {100, 100, 100, 1};
    machine.classes = {all};
    for (int pu = 0; pu < size; ++pu) {
        machine.topology.pus.push_back({.cpu = pu});
    }
    machine.group.assign(static_cast<std::size_t>(size), 0);
    machine.group_class = {0};
    return machine;
}

std::vector<int> places(int size) {
    std::vector<int> placement(static_cast<std::size_t>(size));
    std::iota(placement.begin(), placement.end(), 0);
    return placement;
}

MulticastCall call_to(std::vector<Rank> members) {
    MulticastCall call;
    call.members = std::move(members);
    return call;
}

MulticastOptions with(MulticastTopology topology, bool skipping = true) {
    MulticastOptions options;
    options.topology = topology;
    options.skipping = skipping;
    return options;
}

TEST(MulticastSimulationTest, OneMemberIsThereAndBack) {
    const auto times =
        simulate_multicast(even_machine(4), places(4), with(MulticastTopology::flat), call_to({2}));
    EXPECT_EQ(times.last_run, 110) << "a send and a receive";
    EXPECT_EQ(times.latency, 310) << "it takes the counter's line, the initiator takes it back";
    EXPECT_EQ(times.told, 1U);
    EXPECT_EQ(times.tested, 0U);
    EXPECT_EQ(times.simulated_on, "even");
}

TEST(MulticastSimulationTest, NobodyCostsNothing) {
    const auto times =
        simulate_multicast(even_machine(4), places(4), with(MulticastTopology::best), call_to({}));
    EXPECT_EQ(times.latency, 0);
}

TEST(MulticastSimulationTest, AnswersOfAFlatCallStandInLine) {
    const auto times = simulate_multicast(even_machine(4), places(4), with(MulticastTopology::flat),
                                          call_to({3, 1, 2}));
    EXPECT_EQ(times.last_run, 130) << "the third send ends at 30";
    EXPECT_EQ(times.latency, 110 + 3 * 100 + 100);
}

TEST(MulticastSimulationTest, HelpingTestsTheRanksOnTheWay) {
    auto call = call_to({7});
    call.test = 1;
    const auto helping =
        simulate_multicast(even_machine(8), places(8), with(MulticastTopology::flat, false), call);
    const auto skipping =
        simulate_multicast(even_machine(8), places(8), with(MulticastTopology::flat), call);
    EXPECT_EQ(helping.tested, 7U) << "the initiator is no member, too";
    EXPECT_EQ(helping.latency, skipping.latency + 7);
}

TEST(MulticastSimulationTest, MessagesGoThroughWhoHasTold) {
    const auto call = call_to({1, 2});
    auto options = with(MulticastTopology::split);
    options.acknowledgement = MulticastAcknowledgement::messages;
    options.fan_out = 1;
    const auto chain = simulate_multicast(even_machine(3), places(3), options, call);
    EXPECT_EQ(chain.last_run, 10 + 100 + 10 + 100);
    EXPECT_EQ(chain.latency, 2 * chain.last_run) << "the same way back";
    EXPECT_EQ(chain.told, 2U);
}

TEST(MulticastSimulationTest, AcknowledgementsGoUpATreeOfTheirOwn) {
    auto options = with(MulticastTopology::flat);
    options.acknowledgement = MulticastAcknowledgement::gather;
    options.gather = team_test::chain_reduce(3, 8, Mechanism::line);
    const auto times = simulate_multicast(even_machine(3), places(3), options, call_to({1, 2}));
    EXPECT_EQ(times.last_run, 20 + 100) << "the calls go out flat";
    EXPECT_EQ(times.latency, 110 + 100 + 100 + 100 + 100)
        << "each takes the counter of the inner one, the second the root's, the initiator that";
    const auto one = simulate_multicast(even_machine(3), places(3), options, call_to({2}));
    EXPECT_EQ(one.latency, 310) << "a counter of one answer is passed by";
    EXPECT_EQ(simulate_multicast(even_machine(3), places(3), options, call_to({})).latency, 0);
}

TEST(MulticastSimulationTest, AGatherTreeIsPlannedOrGiven) {
    using enum MulticastAcknowledgement;
    const Machine machine = even_machine(16);
    const Plan planned = plan_gather(machine, places(16));
    EXPECT_EQ(planned.op, Collective::reduce);
    const auto choice = choose_multicast(machine, places(16), gather);
    EXPECT_EQ(choice.acknowledgement, gather);
    EXPECT_EQ(choice.gather, planned);
    EXPECT_FALSE(choose_multicast(machine, places(16), counters).gather.has_value());
    auto options = with(MulticastTopology::flat);
    options.acknowledgement = gather;
    const auto call = call_to({1, 2, 5, 7, 15});
    const auto own = simulate_multicast(machine, places(16), options, call);
    options.gather = planned;
    EXPECT_EQ(simulate_multicast(machine, places(16), options, call).latency, own.latency);
    options.gather.reset();
    EXPECT_THROW(MulticastGroup(16, options), Error) << "neither a plan nor a model";
    options.machine = std::make_shared<const Machine>(machine);
    EXPECT_NE(MulticastGroup(16, options).topology().find("up the tree of the plan 'annealed'"),
              std::string::npos);
    options.gather = team_test::star_reduce(4, 8);
    EXPECT_THROW(MulticastGroup(16, options), Error) << "of another size";
    options.gather = team_test::star_broadcast(16, 0, 8, Mechanism::line);
    EXPECT_THROW(MulticastGroup(16, options), Error) << "no reduce";
}

TEST(MulticastSimulationTest, LargeGroupsAreSplit) {
    const Machine machine = even_machine(256);
    std::vector<Rank> all(255);
    std::iota(all.begin(), all.end(), 1);
    const auto flat =
        simulate_multicast(machine, places(256), with(MulticastTopology::flat), call_to(all));
    const auto split =
        simulate_multicast(machine, places(256), with(MulticastTopology::split), call_to(all));
    EXPECT_EQ(flat.told, split.told);
    EXPECT_LT(split.latency * 5, flat.latency);
    const auto choice = choose_multicast(machine, places(256));
    EXPECT_GE(choice.flat_up_to, 1);
    EXPECT_LT(choice.flat_up_to, 32);
    EXPECT_NE(choice.reason.find("simulated on even"), std::string::npos) << choice.reason;
}

TEST(MulticastSimulationTest, TheModelAlsoChoosesTheAcknowledgement) {
    using enum MulticastAcknowledgement;
    const Machine machine = even_machine(64);
    const auto free = choose_multicast(machine, places(64), best);
    EXPECT_NE(free.acknowledgement, best);
    const auto same = choose_multicast(machine, places(64), free.acknowledgement);
    EXPECT_EQ(free.flat_up_to, same.flat_up_to);
    EXPECT_EQ(free.fan_out, same.fan_out);
    EXPECT_EQ(choose_multicast(machine, places(64), messages).acknowledgement, messages);
    MulticastOptions options;
    options.acknowledgement = best;
    EXPECT_EQ(MulticastGroup(8, options).topology().find("messages"), std::string::npos)
        << "counters without a model";
    options.machine = std::make_shared<const Machine>(machine);
    const std::string topology = MulticastGroup(64, options).topology();
    EXPECT_EQ(topology.find("by messages") != std::string::npos, free.acknowledgement == messages);
    EXPECT_EQ(topology.find("up the tree") != std::string::npos, free.acknowledgement == gather);
}

TEST(MulticastSimulationTest, AGroupTakesTheChoiceOfItsModel) {
    MulticastOptions options;
    EXPECT_NE(MulticastGroup(8, options).topology().find("no machine model"), std::string::npos);
    options.machine = std::make_shared<const Machine>(even_machine(64));
    const auto choice = choose_multicast(*options.machine, places(64));
    EXPECT_EQ(MulticastGroup(64, options).topology(), choice.reason);
    options.placement = {0};
    EXPECT_THROW(MulticastGroup(64, options), Error);
    EXPECT_EQ(MulticastGroup(64, with(MulticastTopology::flat)).topology(), "flat");
}

TEST(MulticastSimulationTest, RefusesWhatIsNotThere) {
    const Machine machine = even_machine(4);
    const auto options = with(MulticastTopology::flat);
    EXPECT_THROW(static_cast<void>(simulate_multicast(machine, places(5), options, call_to({1}))),
                 Error);
    for (const std::vector<Rank>& members : {std::vector<Rank>{4}, std::vector<Rank>{-1},
                                             std::vector<Rank>{1, 1}, std::vector<Rank>{0}}) {
        EXPECT_THROW(
            static_cast<void>(simulate_multicast(machine, places(4), options, call_to(members))),
            Error);
    }
}

} // namespace
} // namespace corymb
