// SPDX-License-Identifier: Apache-2.0
// src/channel/broadcast_ring.hpp: a reader that blocks gets every message from its join on, in
// order and whole, and none of its slots is filled while it is in use; one that drops or overruns
// never takes a torn message for a whole one; a reader is not dropped for what another did that had
// its line before.
#include "channel/broadcast_ring.hpp"
#include "channel/look_once.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/owned.hpp"
#include "worlds/payload.hpp"

#include <array>

namespace {

using namespace corymb::verify;
using corymb::channel::BroadcastKind;
using corymb::channel::BroadcastShape;
using corymb::channel::LookOnce;
using Ring = corymb::channel::BroadcastRing<ExplorerEnv>;
using Sender = corymb::channel::BroadcastSender<ExplorerEnv>;
using Receiver = corymb::channel::BroadcastReceiver<ExplorerEnv>;
using Got = Receiver::Got;

/// A ring of two slots for messages of two words, all of the same value.
template <std::size_t Readers>
struct Common {
    static constexpr BroadcastShape shape = BroadcastShape::of(2, 16, Readers);
    Owned<Ring, 256 + 128 * Readers + 128> ring{shape};
    Sender sender{ring.object, shape};

    Common() {
        Explorer::current().name(&ring.object, sizeof ring.object, "published, bound");
        Explorer::current().name(ring.memory, sizeof ring.memory, "lines, slots");
    }
    template <class Waiter>
    void publish(std::uint64_t number, Waiter waiter) {
        require(sender.reserve(waiter), "there is room in the end");
        const std::array<std::uint64_t, 2> words{100 + number, 100 + number};
        sender.publish(words.data(), length_of(number));
    }
    static constexpr std::size_t length_of(std::uint64_t number) {
        return number % 3 == 2 ? 9 : 16;
    }

    /// Takes the next message, which must be whole.
    template <class Waiter>
    static Got take(Receiver& receiver, Waiter waiter) {
        std::array<std::uint64_t, 2> words{};
        std::size_t length = 0;
        const Got got = receiver.receive(waiter, words.data(), length);
        if (got == Got::message) {
            const std::uint64_t value = 100 + receiver.position();
            const std::uint64_t tail = length == 9 ? value & 0xffU : value;
            require(words[0] == value && words[1] == tail, "the message is whole and in order");
            require(length == length_of(receiver.position()), "the length came along");
        }
        return got;
    }
};

/// Every reader has joined before; all get everything.
template <std::size_t Readers, std::uint64_t Messages>
struct Blocking : Common<Readers> {
    static constexpr int threads = 1 + static_cast<int>(Readers);
    std::array<Receiver, Readers> receivers;

    Blocking() {
        for (std::size_t reader = 0; reader < Readers; ++reader) {
            receivers.at(reader) = {this->ring.object, this->shape, reader, BroadcastKind::block};
        }
    }
    void run(int thread) {
        for (std::uint64_t number = 1; number <= Messages; ++number) {
            if (thread == 0) {
                this->publish(number, AwaitWaiter{});
                continue;
            }
            Receiver& own = receivers.at(static_cast<std::size_t>(thread - 1));
            require(this->take(own, AwaitWaiter{}) == Got::message, "nobody overtakes it");
        }
    }
};

/// A reader joins, takes what comes, and perhaps leaves again before the end.
template <std::uint64_t Messages, std::uint64_t Taken>
struct Joining : Common<1> {
    static constexpr int threads = 2;

    void run(int thread) {
        if (thread == 0) {
            for (std::uint64_t number = 1; number <= Messages; ++number) {
                publish(number, AwaitWaiter{});
            }
            return;
        }
        Receiver own(ring.object, shape, 0, BroadcastKind::block);
        for (std::uint64_t count = 0; own.position() < Messages && count < Taken; ++count) {
            require(take(own, AwaitWaiter{}) == Got::message, "nobody overtakes it");
        }
        own.leave();
    }
};

/// A reader joins and wants the message before, whatever overwrites that.
template <std::uint64_t Messages>
struct LateJoining : Common<1> {
    static constexpr int threads = 2;
    LateJoining() { publish(1, LookOnce{}); }

    void run(int thread) {
        if (thread == 0) {
            for (std::uint64_t number = 2; number <= Messages; ++number) {
                publish(number, AwaitWaiter{});
            }
            return;
        }
        Receiver own(ring.object, shape, 0, BroadcastKind::block);
        std::array<std::uint64_t, 2> words{};
        std::size_t length = 0;
        const std::uint64_t before = own.position();
        if (own.take_last(words.data(), length)) {
            require(words[0] == 100 + before, "the last message is whole");
        }
        require(own.position() == before, "the next message is the one behind it");
        while (own.position() < Messages) {
            require(take(own, AwaitWaiter{}) == Got::message, "nobody overtakes it");
        }
    }
};

/// The publisher never waits; what a reader takes is whole all the same.
template <std::uint64_t Messages, BroadcastKind Kind>
struct Overtaking : Common<1> {
    static constexpr int threads = 2;
    Receiver own{ring.object, shape, 0, Kind};
    std::uint64_t taken = 0, missed = 0;

    void run(int thread) {
        if (thread == 0) {
            for (std::uint64_t number = 1; number <= Messages; ++number) {
                publish(number, LookOnce{});
            }
            return;
        }
        while (own.position() < Messages) {
            if (take(own, AwaitWaiter{}) == Got::message) {
                ++taken;
            } else if (Kind == BroadcastKind::drop) {
                return; // It was dropped, also where it cannot see that yet.
            } else {
                missed += own.skip();
            }
        }
    }
    void finish() {
        require(Kind == BroadcastKind::drop || taken + missed == Messages, "the gaps are told");
    }
};

/// One reader leaves, another gets its line: only the first was a ring behind.
struct LineAgain : Common<1> {
    static constexpr int threads = 2;
    Receiver first{ring.object, shape, 0, BroadcastKind::drop};

    void run(int thread) {
        if (thread == 0) {
            for (std::uint64_t number = 1; number <= 3; ++number) {
                publish(number, LookOnce{});
            }
            return;
        }
        AwaitWaiter waiter;
        std::uint64_t seen = 0;
        require(waiter.await(
                    ring.object.published, std::memory_order_relaxed,
                    [](std::uint64_t value) { return value >= 2; }, seen),
                "it waits");
        first.leave();
        Receiver second(ring.object, shape, 0, BroadcastKind::drop);
        if (second.position() < 3) {
            require(take(second, waiter) == Got::message, "it is not overtaken");
        }
        require(!second.is_dropped(), "it was never behind");
    }
};

} // namespace

int main(int argc, char** argv) {
    constexpr auto drop = BroadcastKind::drop, overrun = BroadcastKind::overrun;
    return run_worlds(
        argc, argv,
        {
            holds<Blocking<1, 5>>("broadcast ring: 1 reader blocks, 5 messages through 2 slots"),
            holds<Joining<4, 4>>("broadcast ring: a reader joins during 4 messages"),
            holds<Joining<4, 1>>("broadcast ring: a reader joins and leaves after one"),
            holds<LateJoining<4>>("broadcast ring: a late reader takes the last message"),
            caught<LateJoining<4>>("broadcast ring: last message, release is relaxed",
                                   Fault::release_is_relaxed),
            holds<Overtaking<4, overrun>>("broadcast ring: 4 messages overrun a reader"),
            holds<Overtaking<3, drop>>("broadcast ring: a reader is dropped"),
            holds<LineAgain>("broadcast ring: a line is used again"),
            holds<Blocking<2, 3>>("broadcast ring: 2 readers block, 3 messages"),
            caught<Blocking<1, 3>>("broadcast ring: release is relaxed", Fault::release_is_relaxed),
            caught<Blocking<1, 3>>("broadcast ring: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Overtaking<3, overrun>>("broadcast ring: overrun, release is relaxed",
                                           Fault::release_is_relaxed),
            caught<Joining<4, 4>>("broadcast ring: join, acquire is relaxed",
                                  Fault::acquire_is_relaxed),
        });
}
