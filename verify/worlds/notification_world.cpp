// SPDX-License-Identifier: Apache-2.0
// src/channel/notification_vector.hpp: an owner that looks only at the vector gets every message of
// every peer's ring, awake or asleep.
#include "channel/look_once.hpp"
#include "channel/message_ring.hpp"
#include "channel/notification_vector.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/owned.hpp"
#include "worlds/parking_waiter.hpp"
#include "worlds/payload.hpp"

#include <array>
#include <bit>

namespace {

using namespace corymb::verify;
using corymb::channel::LookOnce;
using corymb::channel::SlotMessage;
using corymb::channel::SlotShape;
using Ring = corymb::channel::MessageRing<ExplorerEnv>;
using Vector = corymb::channel::NotificationVector<ExplorerEnv>;

enum class Bug : std::uint8_t { none, notifies_before_sending, skips_a_set_bit, takes_one_each };

struct Link {
    static constexpr SlotShape shape = SlotShape::of(2, 8);
    Owned<Ring, 256 + 128> ring{shape};
    corymb::channel::MessageSender<ExplorerEnv> sender{ring.object, shape};
    corymb::channel::MessageReceiver<ExplorerEnv> receiver{ring.object, shape};
    std::uint64_t received = 0;
};

/// Thread 0 owns the vector; the others send it `Messages` each, of bits Stride apart.
template <std::size_t Peers, std::uint64_t Messages, bool asleep = false, Bug bug = Bug::none,
          std::size_t Stride = 1>
struct Inbox {
    static constexpr int threads = 1 + static_cast<int>(Peers);
    Owned<Vector, 256> vector{(Peers - 1) * Stride + 1};
    std::array<Link, Peers> link;
    Spot spot;

    Inbox() {
        Explorer::current().name(vector.memory, sizeof vector.memory, "vector");
        Explorer::current().name(link.data(), sizeof link, "rings");
    }
    void run(int thread) {
        if (thread == 0) {
            own();
            return;
        }
        const auto peer = static_cast<std::size_t>(thread - 1);
        for (std::uint64_t i = 0; i < Messages; ++i) {
            send(peer, 100 + i);
            if (asleep) {
                spot.wake_if_parked();
            }
        }
    }
    void send(std::size_t peer, std::uint64_t value) {
        AwaitWaiter waiter;
        Vector& bits = vector.object;
        if (bug == Bug::notifies_before_sending) {
            bits.notify(peer * Stride);
        }
        require(link[peer].sender.send(waiter, &value, sizeof value), "it waits for room");
        const bool is_set = bug == Bug::skips_a_set_bit &&
                            (bits.word(0).load(std::memory_order_relaxed) >> peer & 1U) != 0;
        if (bug != Bug::notifies_before_sending && !is_set) {
            bits.notify(peer * Stride);
        }
    }
    void own() {
        for (std::uint64_t received = 0; received < Peers * Messages;) {
            wait();
            vector.object.collect([&](std::size_t index, std::uint64_t bits) {
                for (; bits != 0; bits &= bits - 1) {
                    const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
                    received += drain(link[(index * 64 + bit) / Stride]);
                }
            });
        }
    }
    void wait() {
        if (asleep) {
            const auto ready = [&] {
                return vector.object.any();
            };
            require(spot.park(
                        ready, [] { return false; }, [] { return 1'000'000'000; }),
                    "it is woken");
            return;
        }
        AwaitWaiter waiter;
        std::uint64_t seen = 0;
        require(waiter.await(
                    vector.object.word(0), std::memory_order_relaxed,
                    [](std::uint64_t bits) { return bits != 0; }, seen),
                "it waits");
    }
    std::uint64_t drain(Link& from) {
        LookOnce now;
        std::uint64_t count = 0;
        SlotMessage message;
        while ((bug != Bug::takes_one_each || count == 0) && from.receiver.receive(now, message)) {
            require(use(message.bytes) == 100 + from.received++, "messages come in order");
            from.receiver.release();
            ++count;
        }
        from.receiver.settle();
        return count;
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Inbox<1, 3>>("notification: 1 peer, 3 messages through 2 slots"),
            holds<Inbox<2, 1>>("notification: 2 peers, 1 message each"),
            holds<Inbox<1, 2, true>>("notification: 1 peer, 2 messages, the owner sleeps"),
            holds_large<Inbox<2, 1, true, Bug::none, 64>>(
                "notification: 2 peers in 2 words, the owner sleeps, random walks",
                {.executions_max = 10'000, .random = true}),
            caught<Inbox<1, 2>>("notification: release is relaxed", Fault::release_is_relaxed),
            caught<Inbox<1, 2>>("notification: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Inbox<1, 2, false, Bug::notifies_before_sending>>(
                "notification: the bit before the message"),
            caught<Inbox<1, 2, false, Bug::skips_a_set_bit>>("notification: skips a set bit"),
            caught<Inbox<1, 2, false, Bug::takes_one_each>>("notification: one message a bit"),
            caught<Inbox<1, 1, true>>("notification: no heavy fence", Fault::no_heavy_fence),
        });
}
