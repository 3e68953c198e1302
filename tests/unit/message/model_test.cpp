// SPDX-License-Identifier: Apache-2.0
// What messages cost on a model: by hand where that can be done, and in comparison.
#include <corymb/error.hpp>
#include <corymb/mailbox_model.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace corymb {

namespace {

/// Tiles of two cores in a row, on a machine without coherent caches. Distances cost nothing.
Machine tiles(int cores) {
    Machine machine;
    machine.name = "tiles";
    machine.unit = TimeUnit::cycles;
    machine.unit_ns = Statistic::missing;
    for (int core = 0; core < cores; ++core) {
        machine.topology.pus.push_back(Pu{.cpu = core});
    }
    machine.group.assign(static_cast<std::size_t>(cores), 0);
    machine.group_class = {0};
    const Statistic cost{100, 100, 100, 1};
    machine.classes.push_back({.name = "any", .send = cost, .receive = cost, .round_trip = {}});
    machine.access.line_bytes = 32;
    machine.access.own = {.word = {5, 10, 20}, .line = {10, 20, 30}};
    machine.access.classes = {{.word = {5, 40, 50}, .line = {10, 80, 90}}};
    return machine;
}

/// Coherent caches: a send costs 10, a receive 100.
Machine coherent(int cores) {
    Machine machine = tiles(cores);
    machine.unit = TimeUnit::nanoseconds;
    machine.unit_ns = 1;
    machine.access = {};
    machine.classes[0].send = {10, 10, 10, 1};
    machine.classes[0].receive = {100, 100, 100, 1};
    return machine;
}

std::vector<int> first(int count) {
    std::vector<int> places(static_cast<std::size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    return places;
}

MailboxTimes times(const Machine& machine, int ranks, MailboxProtocol protocol,
                   MailboxScenario scenario = {}) {
    scenario.protocol = protocol;
    return simulate_mailbox(machine, first(ranks), scenario);
}

TEST(MailboxModel, AMessageOnTwoCoherentCoresIsASendAndAReceive) {
    for (const auto protocol : {MailboxProtocol::ring, MailboxProtocol::srbp}) {
        const MailboxTimes found = times(coherent(2), 2, protocol);
        EXPECT_NEAR(found.round_trip, 2 * (10 + 100), 3) << to_string(protocol);
        EXPECT_EQ(found.idle_probe, 0.5);
        EXPECT_NEAR(found.notification, 0, 0.02);
    }
    // The receiver finds the message in the ring while the sender still sets the bit. Then it looks
    // at the bits, which it has half a receive after the sender.
    const MailboxTimes nvp = times(coherent(2), 2, MailboxProtocol::nvp);
    EXPECT_NEAR(nvp.round_trip, 2 * (10 + 100 + 50), 3);
}

TEST(MailboxModel, LinesOfAMessageComeTogetherIfTheModelKnows) {
    Machine machine = coherent(2);
    MailboxScenario large;
    large.message_bytes = 256;
    const auto round_trip = [&](MailboxProtocol protocol) {
        return times(machine, 2, protocol, large).round_trip;
    };
    EXPECT_NEAR(round_trip(MailboxProtocol::ring), 2 * 5 * (10 + 100), 3);
    machine.message = {{.pair_class = 0, .count = {8, 512}, .value = {110, 236}}};
    EXPECT_NEAR(round_trip(MailboxProtocol::ring), 2 * 172, 3);
    EXPECT_NEAR(round_trip(MailboxProtocol::srbp), 2 * 172, 3);
    EXPECT_NEAR(round_trip(MailboxProtocol::nvp), 2 * 172, 3) << "the bits are there before";
    large.message_bytes = 1;
    EXPECT_NEAR(round_trip(MailboxProtocol::ring), 2 * 110, 3) << "no less than the shortest";
    machine.shared = {{SharedUse::word, Scope::machine, DataOrigin::measured, 0, {1, 2}, {9, 90}}};
    EXPECT_NEAR(round_trip(MailboxProtocol::srbp), 2 * (9 + 110), 3) << "a ticket each";
    EXPECT_NEAR(round_trip(MailboxProtocol::ring), 2 * 110, 3);
}

TEST(MailboxModel, AMessageWithoutCoherenceIsWritesAndLooks) {
    const Machine machine = tiles(2);
    // SRBP: ticket 50; line 10 + 80 / 2; a look of 20 at the word that began before or after; the
    // line 30.
    const MailboxTimes srbp = times(machine, 2, MailboxProtocol::srbp);
    EXPECT_GT(srbp.round_trip, 2 * (50 + 50 + 20 + 30) - 1);
    EXPECT_LT(srbp.round_trip, 2 * (50 + 50 + 40 + 30) + 1);
    EXPECT_EQ(srbp.idle_probe, 20);
    // NVP: free? 20; line 10; when the line has left, word 5 + 40 / 2 after 90; look 30; line 30.
    const MailboxTimes nvp = times(machine, 2, MailboxProtocol::nvp);
    EXPECT_GT(nvp.round_trip, 2 * (20 + 90 + 25 + 30 + 30) - 1);
    EXPECT_LT(nvp.round_trip, 2 * (20 + 90 + 25 + 60 + 30) + 50);
    // Tickets behind a lock take a read, two writes and a gap more.
    MailboxScenario locked;
    locked.tickets = TicketCounter::locked;
    const double slower = times(machine, 2, MailboxProtocol::srbp, locked).round_trip;
    EXPECT_NEAR(slower - srbp.round_trip, 2 * (50 + 5 + 40 + 5), 45) << "to within a look";
}

TEST(MailboxModel, SilentMembersCostTheReceiverOfRingsOnly) {
    const Machine machine = tiles(2);
    MailboxScenario many;
    many.silent_members = 46;
    for (const auto protocol : {MailboxProtocol::nvp, MailboxProtocol::srbp}) {
        EXPECT_LT(times(machine, 2, protocol, many).round_trip,
                  times(machine, 2, protocol).round_trip * 1.5)
            << to_string(protocol);
    }
    const MailboxTimes ring = times(machine, 2, MailboxProtocol::ring, many);
    EXPECT_EQ(ring.idle_probe, 47 * 30);
    EXPECT_GT(ring.round_trip, 4 * times(machine, 2, MailboxProtocol::ring).round_trip);
    EXPECT_EQ(times(machine, 2, MailboxProtocol::nvp, many).idle_probe, 2 * 30)
        << "32 members a line";
}

TEST(MailboxModel, LongMessagesAreMoreLines) {
    MailboxScenario large;
    large.message_bytes = 32 * 10 - 8;
    for (const Machine& machine : {tiles(4), coherent(4)}) {
        for (const auto protocol :
             {MailboxProtocol::ring, MailboxProtocol::nvp, MailboxProtocol::srbp}) {
            EXPECT_GT(times(machine, 4, protocol, large).round_trip,
                      times(machine, 4, protocol).round_trip + 400)
                << machine.name << ' ' << to_string(protocol);
        }
    }
}

TEST(MailboxModel, CollectivesWaitForTheLastAndForCommonCounters) {
    const Machine machine = tiles(16);
    const MailboxTimes own = times(machine, 16, MailboxProtocol::srbp);
    EXPECT_GT(own.gather, own.round_trip / 2);
    EXPECT_GT(own.collective, 3 * own.round_trip / 2) << "up three levels of a tree and down";
    MailboxScenario common;
    common.tickets = TicketCounter::common;
    EXPECT_GE(times(machine, 16, MailboxProtocol::srbp, common).collective, own.collective);
    EXPECT_NEAR(times(machine, 16, MailboxProtocol::srbp, common).round_trip, own.round_trip,
                own.round_trip * 0.1)
        << "nobody else takes tickets";
}

/// What the slides of 2012 say of the machine whose table it is, as far as the simulation agrees;
/// docs/reference/messages.md says where it does not.
TEST(MailboxModel, TheSccOfTheGalleryHasRoundTripsBelow2000Cycles) {
    ::setenv("CORYMB_DATA_DIR", CORYMB_SOURCE_DIR, 1);
    const Machine scc = gallery_machine("scc-48c");
    ::unsetenv("CORYMB_DATA_DIR");
    MailboxScenario some;
    some.rounds = 47 * 16;
    const MailboxTimes line = times(scc, 48, MailboxProtocol::ring, some);
    const MailboxTimes nvp = times(scc, 48, MailboxProtocol::nvp, some);
    const MailboxTimes srbp = times(scc, 48, MailboxProtocol::srbp, some);
    EXPECT_LT(nvp.round_trip, 2000);
    EXPECT_LT(srbp.round_trip, nvp.round_trip - 200);
    EXPECT_GT(line.round_trip, 6 * nvp.round_trip) << "47 looks of 200 cycles";
    EXPECT_EQ(line.idle_probe, 47 * 200);
    EXPECT_EQ(nvp.idle_probe, 2 * 200);
    EXPECT_GT(srbp.gather, nvp.gather);
    const MailboxTimes again = times(scc, 48, MailboxProtocol::nvp, some);
    EXPECT_EQ(again.round_trip, nvp.round_trip) << "deterministic";
}

TEST(MailboxModel, TheChoiceFollowsTheModel) {
    const MailboxChoice few = choose_mailbox(coherent(4), 4);
    EXPECT_EQ(few.protocol, MailboxProtocol::ring);
    EXPECT_NE(few.reason.find("ns, simulated on tiles"), std::string::npos) << few.reason;
    // 100,000 rings to look at; a synchronised ring may not be taken by more members than PUs.
    EXPECT_EQ(choose_mailbox(coherent(4), 100'000).protocol, MailboxProtocol::nvp);
    EXPECT_EQ(choose_mailbox(tiles(16), 16).protocol, MailboxProtocol::srbp);
    EXPECT_EQ(choose_mailbox(tiles(16), 16, false).protocol, MailboxProtocol::nvp);
    EXPECT_EQ(choose_mailbox(coherent(4), 1).protocol, MailboxProtocol::ring);
    EXPECT_THROW((void)choose_mailbox(coherent(4), 0), Error);
}

TEST(MailboxModel, GroupsAskTheModelAndSayWhy) {
    const Machine few = coherent(4), many = tiles(16);
    EXPECT_EQ(MailboxGroup(4, {.machine = &few}).protocol(), MailboxProtocol::ring);
    const MailboxGroup group(16, {.machine = &many});
    EXPECT_EQ(group.protocol(), MailboxProtocol::srbp);
    EXPECT_NE(group.reason().find("srbp: round trips of"), std::string::npos) << group.reason();
    EXPECT_EQ(MailboxGroup(16, {.between_processes = true, .machine = &many}).protocol(),
              MailboxProtocol::nvp)
        << "a process may die between its ticket and its message";
    EXPECT_EQ(MailboxGroup(16, {.capacity = 1U << 16U, .machine = &many}).protocol(),
              MailboxProtocol::nvp)
        << "so many do not fit a synchronised ring";
    EXPECT_EQ(MailboxGroup(2).reason(), "ring: up to 16 members, and no model was given");
    EXPECT_EQ(MailboxGroup(2, {.protocol = MailboxProtocol::nvp}).reason(), "nvp: as asked for");
}

TEST(MailboxModel, WrongScenariosAreRefused) {
    const Machine machine = tiles(4);
    const auto refused = [&](const std::vector<int>& places, const MailboxScenario& scenario) {
        try {
            (void)simulate_mailbox(machine, places, scenario);
        } catch (const Error& error) {
            return error.code() == Errc::invalid_argument;
        }
        return false;
    };
    EXPECT_TRUE(refused({0}, {}));
    EXPECT_TRUE(refused({0, 0}, {}));
    EXPECT_TRUE(refused({0, 4}, {}));
    EXPECT_TRUE(refused({0, 1}, {.protocol = MailboxProtocol::automatic}));
    EXPECT_TRUE(refused({0, 1}, {.rounds = 0}));
    EXPECT_TRUE(refused({0, 1}, {.look = -1}));
    EXPECT_TRUE(refused({0, 1}, {.silent_members = -1}));
    EXPECT_FALSE(refused({0, 1}, {.rounds = 1}));
}

} // namespace

} // namespace corymb
