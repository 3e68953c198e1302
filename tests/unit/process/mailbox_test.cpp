// SPDX-License-Identifier: Apache-2.0
// Mailboxes among processes: the same promises as among threads, and what is told of members that
// are killed.
#include "children.hpp"
#include "limits.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>

#include <cstdint>
#include <cstring>

namespace corymb {
namespace {

using namespace process_test;

const auto long_enough = test_limit();

Mailbox join(const Descriptor& group, Rank rank) {
    return MailboxGroup::open(group.number()).join(rank);
}

MailboxOptions options_of(MailboxProtocol protocol, std::size_t capacity = 8) {
    return {.protocol = protocol, .capacity = capacity, .between_processes = true};
}

/// Sends, waiting for room as long as it takes, up to a limit.
template <class T>
void send_soon(Mailbox& box, Rank to, const T& value) {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (!box.send_value(to, value)) {
        require(std::chrono::steady_clock::now() < end, "there is room in the end");
        std::this_thread::yield();
    }
}

template <class Call>
void expect_ended(Rank rank, pid_t pid, const Call& call) {
    try {
        call();
        ADD_FAILURE() << "no error for rank " << rank;
    } catch (const Error& error) {
        const std::string name =
            "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ")";
        EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{rank});
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
}

class MailboxProcessTest : public testing::TestWithParam<MailboxProtocol> {};

INSTANTIATE_TEST_SUITE_P(Protocols, MailboxProcessTest,
                         testing::Values(MailboxProtocol::ring, MailboxProtocol::nvp,
                                         MailboxProtocol::srbp),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(MailboxProcessTest, ProcessesAskAndAnswer) {
    constexpr Rank workers = 3;
    constexpr std::uint64_t questions = 300;
    MailboxGroup group(workers + 1, options_of(GetParam()));
    const Descriptor descriptor(group);
    Children children;
    for (Rank rank = 1; rank <= workers; ++rank) {
        children.start([&, rank] {
            Mailbox box = join(descriptor, rank);
            for (std::uint64_t number = 1; number <= questions; ++number) {
                send_soon(box, 0, number);
                bool is_answered = false;
                while (!is_answered) {
                    require(box.wait(long_enough), "the answer comes");
                    box.probe_values<std::uint64_t>([&](Rank from, std::uint64_t square) {
                        require(from == 0 && square == number * number, "the right answer");
                        is_answered = true;
                    });
                }
            }
        });
    }
    Mailbox box = group.join(0);
    std::uint64_t sum = 0;
    for (std::uint64_t left = workers * questions; left > 0;) {
        ASSERT_TRUE(box.wait(long_enough));
        left -= box.probe_values<std::uint64_t>([&](Rank from, std::uint64_t number) {
            sum += number;
            send_soon(box, from, number * number);
        });
    }
    EXPECT_EQ(sum, workers * questions * (questions + 1) / 2);
    children.expect_all_good();
}

TEST_P(MailboxProcessTest, WhoSendsToAKilledMemberIsTold) {
    MailboxGroup group(3, options_of(GetParam()));
    const Descriptor descriptor(group);
    Mailbox box = group.join(0);
    Children children;
    const std::size_t victim = children.start([&] {
        Mailbox own = join(descriptor, 1);
        send_soon(own, 0, 'h');
        std::this_thread::sleep_for(long_enough);
    });
    ASSERT_TRUE(box.wait(long_enough));
    EXPECT_EQ(box.probe([](Rank, auto) {}), 1U);
    const pid_t pid = children.pid(victim);
    children.signal(victim, SIGKILL);
    expect_ended(1, pid, [&] {
        for (;;) {
            send_soon(box, 1, 'x');
        }
    });
    Mailbox other = group.join(2);
    expect_ended(1, pid, [&] { static_cast<void>(other.send_value(1, 'y')); });
    EXPECT_TRUE(box.send_value(2, 'z')) << "the others go on";
    EXPECT_TRUE(other.wait(long_enough));
}

TEST_P(MailboxProcessTest, WhoWaitsIsToldOnceThatAMemberWasKilled) {
    MailboxGroup group(2, options_of(GetParam()));
    const Descriptor descriptor(group);
    Mailbox box = group.join(0);
    Children children;
    const std::size_t victim = children.start([&] {
        Mailbox own = join(descriptor, 1);
        send_soon(own, 0, 'a');
        send_soon(own, 0, 'b');
        std::this_thread::sleep_for(long_enough);
    });
    std::size_t got = 0;
    while (got < 2) {
        ASSERT_TRUE(box.wait(long_enough)) << "what it has sent comes first";
        got += box.probe([](Rank, auto) {}, 1);
    }
    children.signal(victim, SIGKILL);
    expect_ended(1, children.pid(victim), [&] { static_cast<void>(box.wait(long_enough)); });
    EXPECT_FALSE(box.wait(30ms)) << "told once";
}

TEST_P(MailboxProcessTest, SendersKilledAtAnyMomentDoNotHurtTheOthers) {
    constexpr int rounds = 8;
    MailboxGroup group(rounds + 2, options_of(GetParam()));
    const Descriptor descriptor(group);
    Mailbox box = group.join(0);
    Mailbox friendly = group.join(1);
    std::uint64_t sent = 0, got = 0;
    const auto exchange = [&] {
        sent += friendly.send_value(0, sent) ? 1U : 0U;
        box.probe_values<std::uint64_t>([&](Rank from, std::uint64_t value) {
            EXPECT_TRUE(from != 1 || value == got++) << "in order, whole, once";
        });
    };
    for (Rank rank = 2; rank < rounds + 2 && GetParam() != MailboxProtocol::srbp; ++rank) {
        Children children;
        const std::size_t victim = children.start([&, rank] {
            Mailbox own = join(descriptor, rank);
            for (std::uint64_t value = 0;; ++value) {
                static_cast<void>(own.send_value(0, value));
            }
        });
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 + rank);
        while (std::chrono::steady_clock::now() < end) {
            exchange();
        }
        children.signal(victim, SIGKILL);
        static_cast<void>(children.wait(victim));
        exchange();
    }
    for (int more = 0; more < 20; ++more) {
        exchange();
    }
    EXPECT_EQ(got, sent);
}

class MailboxSuccessorTest : public MailboxProcessTest {};

INSTANTIATE_TEST_SUITE_P(Protocols, MailboxSuccessorTest, // With srbp each rank joins once.
                         testing::Values(MailboxProtocol::ring, MailboxProtocol::nvp),
                         [](const auto& test) { return to_string(test.param); });

/// A service that is killed and started again, while others send to it and hear of it.
TEST_P(MailboxSuccessorTest, ARankOfAKilledProcessIsTakenAgain) {
    constexpr int lives = 12;
    MailboxGroup group(3, options_of(GetParam()));
    const Descriptor descriptor(group);
    Mailbox box = group.join(0);
    std::size_t memory = 0;
    for (std::uint64_t life = 1; life <= lives; ++life) {
        Children children;
        const std::size_t victim = children.start([&] {
            Mailbox own = join(descriptor, 1);
            std::uint64_t sent = 0;
            for (;;) { // Tells its life and a count, and answers with what it is asked.
                sent += own.send_value(0, life << 32U | sent) ? 1U : 0U;
                own.probe_values<std::uint64_t>([&](Rank from, std::uint64_t asked) {
                    require(from == 0 && asked == life, "nothing of an earlier life is here");
                });
            }
        });
        std::uint64_t heard = 0;
        while (heard < 20) {
            require(box.wait(long_enough), "the service lives");
            box.probe_values<std::uint64_t>([&](Rank from, std::uint64_t value) {
                EXPECT_EQ(from, 1);
                if (value >> 32U == life) {
                    EXPECT_EQ(value & 0xffffffffU, heard++) << "in order, whole, once";
                } else {
                    EXPECT_EQ(value >> 32U, life - 1) << "what the one before had sent";
                    EXPECT_EQ(heard, 0U);
                }
            });
            static_cast<void>(heard > 0 && box.send_value(1, life));
        }
        if (life == 2) {
            memory = group.memory();
        }
        const pid_t pid = children.pid(victim);
        children.signal(victim, SIGKILL);
        static_cast<void>(children.wait(victim));
        if (life % 2 == 0) { // Else the successor finds out by itself.
            bool is_told = false;
            while (!is_told) {
                try {
                    require(box.wait(long_enough), "the end is told");
                    box.probe([&](Rank, auto message) {
                        std::uint64_t value = 0;
                        std::memcpy(&value, message.data(), sizeof value);
                        EXPECT_EQ(value >> 32U, life);
                    });
                } catch (const Error& error) {
                    is_told =
                        std::string(error.what()).find(std::to_string(pid)) != std::string::npos;
                }
            }
        }
    }
    EXPECT_EQ(group.memory(), memory) << "lives cost no memory";
}

TEST(MailboxProcessErrorTest, ASynchronisedRingHeldUpByADeadSenderIsToldEachTime) {
    MailboxGroup group(3, options_of(MailboxProtocol::srbp));
    const Descriptor descriptor(group);
    Mailbox box = group.join(0);
    Children children;
    const std::size_t victim = children.start([&] {
        Mailbox own = join(descriptor, 1);
        static_cast<void>(own.send_in_place(0, 8, [](auto) -> std::size_t {
            ::kill(::getpid(), SIGKILL); // Between its ticket and its message.
            return 0;
        }));
    });
    const pid_t pid = children.pid(victim);
    static_cast<void>(children.wait(victim));
    Mailbox other = group.join(2);
    EXPECT_TRUE(other.send_value(0, 'x')) << "behind the dead one's place";
    expect_ended(1, pid, [&] { static_cast<void>(box.wait(long_enough)); });
    for (int again = 0; again < 2; ++again) {
        expect_ended(1, pid, [&] { static_cast<void>(box.wait(30ms)); });
    }
    EXPECT_EQ(box.probe([](Rank, auto) {}), 0U);
}

TEST(MailboxProcessErrorTest, WhatIsNoGroupAndWhatIsTheParentsIsRefused) {
    const auto refused = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.code() == Errc::invalid_argument;
        }
        return false;
    };
    const BroadcastRing ring({.between_processes = true});
    const int other = ring.make_descriptor();
    EXPECT_TRUE(refused([&] { static_cast<void>(MailboxGroup::open(other)); }));
    ::close(other);
    const MailboxGroup threads(2);
    EXPECT_TRUE(refused([&] { static_cast<void>(threads.make_descriptor()); }));
    MailboxGroup group(2, options_of(MailboxProtocol::ring));
    const Descriptor descriptor(group);
    EXPECT_TRUE(refused([&] { static_cast<void>(BroadcastRing::open(descriptor.number())); }));
    Mailbox box = group.join(0);
    Children children;
    children.start([&] {
        require(refused([&] { static_cast<void>(box.send_value(0, 'x')); }), "the parent's box");
        require(refused([&] { auto own = group.join(1); }), "the parent's group");
        require(refused([&] { auto own = join(descriptor, 0); }), "rank 0 is taken");
        box = {}; // Does not close it for the parent.
    });
    children.expect_all_good();
    EXPECT_TRUE(box.send_value(0, 'x'));
    EXPECT_TRUE(box.wait(long_enough));
}

} // namespace
} // namespace corymb
