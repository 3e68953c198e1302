// SPDX-License-Identifier: Apache-2.0
// src/channel/message_ring.hpp: messages come in order, whole and as long as they were, a slot is
// not filled again while its payload is in use, across the wrap of numbers, with a receiver that
// sleeps until there is a message, and with a sender that sleeps until there is room.
#include "channel/look_once.hpp"
#include "channel/message_ring.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/owned.hpp"
#include "worlds/parking_waiter.hpp"
#include "worlds/payload.hpp"

namespace {

using namespace corymb::verify;
using corymb::channel::LookOnce;
using corymb::channel::SlotMessage;
using corymb::channel::SlotShape;
using Ring = corymb::channel::MessageRing<ExplorerEnv>;

enum class Bug : std::uint8_t {
    none,
    commits_before_filling,
    releases_before_use,
    sleeps_at_once,
    wakes_before_release
};

/// A ring through which `start` messages have gone already, and its two ends.
template <std::size_t Slots, std::uint64_t Start>
struct Link {
    static constexpr SlotShape shape = SlotShape::of(Slots, 8);
    Owned<Ring, 256 + 64 * Slots> ring{shape};
    corymb::channel::MessageSender<ExplorerEnv> sender{ring.object, shape, Start};
    corymb::channel::MessageReceiver<ExplorerEnv> receiver{ring.object, shape, Start};

    Link() {
        Explorer::current().name(&ring.object, sizeof ring.object, "consumed");
        Explorer::current().name(ring.memory, sizeof ring.memory, "slots");
        ring.object.consumed.store(Start, std::memory_order_relaxed);
        for (std::uint64_t number = Start; Start != 0 && number + Slots > Start; --number) {
            ring.object.slots(shape)
                .word(number - 1)
                .store(number & 0xffffffffU, std::memory_order_relaxed);
        }
    }
};

/// Every third message is empty.
constexpr std::size_t length_of(std::uint64_t message) {
    return message % 3 == 2 ? 0 : sizeof(std::uint64_t);
}

template <std::size_t Slots, std::uint64_t Messages, std::uint64_t Start = 0, Bug bug = Bug::none>
struct Stream {
    static constexpr int threads = 2;
    Link<Slots, Start> link;

    void run(int thread) {
        for (std::uint64_t i = 0; i < Messages; ++i) {
            thread == 0 ? send(i) : receive(i);
        }
    }
    void send(std::uint64_t i) {
        AwaitWaiter waiter;
        const std::uint64_t value = 100 + i;
        if constexpr (bug == Bug::commits_before_filling) {
            std::byte* const place = link.sender.reserve(waiter, 0);
            link.sender.commit(sizeof value);
            ExplorerEnv::note_write(place, sizeof value);
            std::memcpy(place, &value, sizeof value);
        } else {
            require(link.sender.send(waiter, &value, length_of(i)), "there is room");
        }
    }
    void receive(std::uint64_t i) {
        AwaitWaiter waiter;
        SlotMessage message;
        require(link.receiver.receive(waiter, message), "the receiver waits");
        if constexpr (bug == Bug::releases_before_use) {
            link.receiver.release();
        }
        require(message.length == length_of(i) || bug != Bug::none, "the length came along");
        if (message.length != 0) {
            require(use(message.bytes) == 100 + i, "messages come in order");
        }
        if constexpr (bug != Bug::releases_before_use) {
            link.receiver.release();
        }
    }
};

/// The receiver sleeps between batches; the sender wakes it after each of its own.
template <std::uint64_t Batches, std::uint64_t Batch, Bug bug = Bug::none>
struct Asleep {
    static constexpr int threads = 2;
    Link<8, 0> link;
    Spot spot;

    void run(int thread) {
        if (thread == 0) {
            send();
        } else {
            receive();
        }
    }
    void send() {
        LookOnce now;
        for (std::uint64_t i = 0; i < Batches * Batch; ++i) {
            const std::uint64_t value = 100 + i;
            require(link.sender.send(now, &value, sizeof value), "the ring is large enough");
            if (i % Batch == Batch - 1) {
                spot.wake_if_parked();
            }
        }
    }
    void receive() {
        LookOnce now;
        const auto ready = [&] {
            SlotMessage message;
            return link.receiver.receive(now, message);
        };
        const auto never = [] {
            return false;
        };
        for (std::uint64_t i = 0; i < Batches * Batch;) {
            if constexpr (bug == Bug::sleeps_at_once) {
                if (!ready()) {
                    spot.sleep(spot.announce(), 1);
                }
            } else {
                require(spot.park(ready, never, [] { return 1'000'000'000; }), "it is woken");
            }
            for (SlotMessage message; link.receiver.receive(now, message); ++i) {
                require(use(message.bytes) == 100 + i, "messages come in order");
                link.receiver.release();
            }
            link.receiver.settle();
        }
    }
};

/// The sender sleeps for room; the receiver wakes it when there is some.
template <std::size_t Slots, std::uint64_t Messages, Bug bug = Bug::none>
struct NoRoom {
    static constexpr int threads = 2;
    Link<Slots, 0> link;
    corymb::channel::EventCount<ExplorerEnv, corymb::channel::Sleepers::many> room;

    void run(int thread) {
        for (std::uint64_t i = 0; i < Messages; ++i) {
            thread == 0 ? send(i) : receive(i);
        }
    }
    void send(std::uint64_t i) {
        LookOnce now;
        const std::uint64_t value = 100 + i;
        const auto has_room = [&] {
            return link.sender.has_room(now);
        };
        if (!has_room()) {
            require(room.park(
                        has_room, [] { return false; }, [] { return 1'000'000'000; }),
                    "it is woken");
        }
        require(link.sender.send(now, &value, sizeof value), "there is room");
    }
    void receive(std::uint64_t i) {
        AwaitWaiter waiter;
        SlotMessage message;
        require(link.receiver.receive(waiter, message), "the receiver waits");
        require(use(message.bytes) == 100 + i, "messages come in order");
        if (bug == Bug::wakes_before_release) {
            room.wake_if_parked();
        }
        link.receiver.release();
        if (bug != Bug::wakes_before_release) {
            room.wake_if_parked();
        }
    }
};

/// The sender ends after `Before` messages, and a successor goes on with the ring.
template <std::size_t Slots, std::uint64_t Before, std::uint64_t Messages, bool forgets = false>
struct NextSender {
    static constexpr int threads = 2;
    Link<Slots, 0> link;

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::uint64_t i = 0; i < Messages; ++i) {
            if (thread == 0) {
                if (i == Before) {
                    link.sender = corymb::channel::MessageSender<ExplorerEnv>::successor(
                        link.ring.object, link.shape);
                    if (forgets) {
                        link.sender = {link.ring.object, link.shape};
                    }
                }
                const std::uint64_t value = 100 + i;
                require(link.sender.send(waiter, &value, sizeof value), "there is room");
                continue;
            }
            SlotMessage message;
            require(link.receiver.receive(waiter, message), "the receiver waits");
            require(use(message.bytes) == 100 + i, "messages come in order");
            link.receiver.release();
        }
    }
};

/// The receiver ends after one message, which it has not told of, and a successor goes on.
template <std::size_t Slots, std::uint64_t Messages, bool forgets = false>
struct NextReceiver {
    static constexpr int threads = 2;
    Link<Slots, 0> link;

    void run(int thread) {
        AwaitWaiter waiter;
        if (thread == 0) {
            for (std::uint64_t i = 0; i < Messages; ++i) {
                const std::uint64_t value = 100 + i;
                require(link.sender.send(waiter, &value, sizeof value), "there is room");
            }
            return;
        }
        SlotMessage message;
        require(link.receiver.receive(waiter, message), "the receiver waits");
        require(use(message.bytes) == 100, "the first message");
        using Receiver = corymb::channel::MessageReceiver<ExplorerEnv>;
        link.receiver = forgets ? Receiver(link.ring.object, link.shape)
                                : Receiver::successor(link.ring.object, link.shape);
        std::uint64_t last = 100;
        while (last + 1 < 100 + Messages &&
               link.ring.object.consumed.load(std::memory_order_relaxed) < Messages) {
            require(link.receiver.receive(waiter, message), "the receiver waits");
            const std::uint64_t value = use(message.bytes);
            require(value > last && (last == 100 || value == last + 1),
                    "no message comes again, and none is left out any more");
            last = value;
            link.receiver.release();
        }
    }
};

constexpr std::uint64_t near_wrap = 0xffffffffU - 2;

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Stream<1, 4>>("message ring: 4 messages through 1 slot"),
            holds<Stream<2, 6>>("message ring: 6 messages through 2 slots"),
            holds<Stream<8, 11>>("message ring: 11 messages through 8 slots, lazy credit"),
            holds<Stream<2, 6, near_wrap>>("message ring: 6 messages across the wrap"),
            holds<Asleep<2, 2>>("message ring: 2 batches of 2, the receiver sleeps"),
            holds<NoRoom<1, 3>>("message ring: 3 messages through 1 slot, the sender sleeps"),
            holds<NoRoom<2, 4>>("message ring: 4 messages through 2 slots, the sender sleeps"),
            holds<NextSender<2, 1, 4>>("message ring: a successor sends on through 2 slots"),
            holds<NextSender<4, 3, 6>>("message ring: a successor sends on through 4 slots"),
            holds<NextReceiver<2, 4>>("message ring: a successor reads on in 2 slots"),
            holds<NextReceiver<4, 6>>("message ring: a successor reads on in 4 slots"),
            caught<NextSender<2, 1, 4, true>>("message ring: the successor begins anew"),
            caught<NextReceiver<2, 4, true>>("message ring: the next receiver begins anew"),
            caught<Stream<2, 3>>("message ring: release is relaxed", Fault::release_is_relaxed),
            caught<Stream<2, 4>>("message ring: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Stream<2, 4, 0, Bug::commits_before_filling>>(
                "message ring: the word before the payload"),
            caught<Stream<1, 4, 0, Bug::releases_before_use>>(
                "message ring: released before it is used"),
            caught<Asleep<2, 1, Bug::sleeps_at_once>>("message ring: sleeps without a last look"),
            caught<Asleep<2, 1>>("message ring: no light fence", Fault::no_light_fence),
            caught<NoRoom<1, 3, Bug::wakes_before_release>>("message ring: wakes before the room"),
            caught<NoRoom<1, 3>>("message ring: no light fence behind the room",
                                 Fault::no_light_fence),
        });
}
