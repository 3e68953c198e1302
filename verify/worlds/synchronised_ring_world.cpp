// SPDX-License-Identifier: Apache-2.0
// src/channel/synchronised_ring.hpp: the messages of each sender come in order and whole, and a
// slot is not filled again while its payload is in use, although its next sender may never have
// looked itself.
#include "channel/look_once.hpp"
#include "channel/synchronised_ring.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/owned.hpp"
#include "worlds/parking_waiter.hpp"
#include "worlds/payload.hpp"

#include <array>

namespace {

using namespace corymb::verify;
using corymb::channel::LookOnce;
using corymb::channel::SlotMessage;
using corymb::channel::SynchronisedShape;
using Ring = corymb::channel::SynchronisedRing<ExplorerEnv>;
using Sender = corymb::channel::SynchronisedSender<ExplorerEnv>;

enum class Bug : std::uint8_t { none, quota_too_large, releases_before_use, word_before_payload };

/// Sender s sends counts[s] messages; the last thread receives them all.
template <std::uint64_t Quota, std::uint64_t First, std::uint64_t Second, bool asleep = false,
          Bug bug = Bug::none>
struct FanIn {
    static constexpr std::size_t senders = Second == 0 ? 1 : 2;
    static constexpr int threads = static_cast<int>(senders) + 1;
    static constexpr SynchronisedShape shape = SynchronisedShape::of(senders, Quota, 8);
    Owned<Ring, 256 + 64 * (2 + 2 * Quota)> ring{shape};
    corymb::channel::SynchronisedReceiver<ExplorerEnv> receiver{ring.object, shape};
    Spot spot;

    FanIn() {
        Explorer::current().name(&ring.object, sizeof ring.object, "tickets");
        Explorer::current().name(ring.memory, sizeof ring.memory, "lines and slots");
    }
    void run(int thread) {
        if (thread == threads - 1) {
            receive();
            return;
        }
        SynchronisedShape own = shape;
        own.quota += bug == Bug::quota_too_large ? 1 : 0;
        Sender sender(ring.object, own, static_cast<std::size_t>(thread));
        for (std::uint64_t i = 0; i < (thread == 0 ? First : Second); ++i) {
            send(sender, 100 + i);
            if (asleep) {
                spot.wake_if_parked();
            }
        }
    }
    void send(Sender& sender, std::uint64_t value) {
        AwaitWaiter waiter;
        if (bug == Bug::word_before_payload) {
            std::byte* const place = sender.reserve(waiter, 0);
            sender.commit(sizeof value);
            ExplorerEnv::note_write(place, sizeof value);
            std::memcpy(place, &value, sizeof value);
        } else {
            require(sender.send(waiter, &value, sizeof value), "it waits for room");
        }
    }
    void receive() {
        std::array<std::uint64_t, 2> count{};
        for (std::uint64_t i = 0; i < First + Second; ++i) {
            if (asleep) {
                const auto ready = [&] {
                    LookOnce now;
                    SlotMessage message;
                    return receiver.receive(now, message);
                };
                require(spot.park(
                            ready, [] { return false; }, [] { return 1'000'000'000; }),
                        "it is woken");
            }
            AwaitWaiter waiter;
            SlotMessage message;
            require(receiver.receive(waiter, message), "it waits");
            if (bug == Bug::releases_before_use) {
                receiver.release();
            }
            require(use(message.bytes) == 100 + count[message.source]++, "in order of each sender");
            if (bug != Bug::releases_before_use) {
                receiver.release();
            }
        }
        receiver.settle();
    }
};

/// A message that is given up after its ticket is passed over.
struct GivesUp {
    static constexpr int threads = 2;
    static constexpr SynchronisedShape shape = SynchronisedShape::of(1, 1, 8);
    Owned<Ring, 256 + 64 * 2> ring{shape};
    corymb::channel::SynchronisedReceiver<ExplorerEnv> receiver{ring.object, shape};

    void run(int thread) {
        AwaitWaiter waiter;
        if (thread == 1) {
            SlotMessage message;
            require(receiver.receive(waiter, message), "it waits");
            require(use(message.bytes) == 7, "the void message is passed over");
            receiver.release();
            return;
        }
        Sender sender(ring.object, shape, 0);
        require(sender.reserve(waiter, 8) != nullptr, "there is room");
        sender.give_up();
        const std::uint64_t value = 7;
        require(sender.send(waiter, &value, sizeof value), "it waits for room");
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<FanIn<2, 5, 0>>("synchronised ring: 1 sender, 5 messages, quota 2"),
            holds<FanIn<1, 2, 1>>("synchronised ring: 2 senders, quota 1"),
            holds<FanIn<2, 4, 2>>("synchronised ring: 2 senders, one relies on the other's look"),
            holds<FanIn<1, 1, 1, true>>("synchronised ring: 2 senders, the receiver sleeps"),
            holds<GivesUp>("synchronised ring: a message is given up"),
            caught<FanIn<1, 2, 1>>("synchronised ring: release is relaxed",
                                   Fault::release_is_relaxed),
            caught<FanIn<1, 2, 1>>("synchronised ring: acquire is relaxed",
                                   Fault::acquire_is_relaxed),
            caught<FanIn<1, 3, 0, false, Bug::quota_too_large>>(
                "synchronised ring: more under way than slots"),
            caught<FanIn<1, 3, 0, false, Bug::releases_before_use>>(
                "synchronised ring: released before it is used"),
            caught<FanIn<1, 1, 1, false, Bug::word_before_payload>>(
                "synchronised ring: the word before the payload"),
            caught<FanIn<1, 1, 0, true>>("synchronised ring: no light fence",
                                         Fault::no_light_fence),
        });
}
