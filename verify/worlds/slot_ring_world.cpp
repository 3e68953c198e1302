// SPDX-License-Identifier: Apache-2.0
// src/channel/slot_ring.hpp: messages come in order and whole, a slot is not filled again while its
// payload is in use, with both kinds of credit and across the wraps of numbers and
// credits.
#include "channel/slot_ring.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace {

using namespace corymb::verify;

template <std::size_t Slots, std::size_t CreditEvery>
using Ring = corymb::channel::SlotRing<ExplorerEnv, 8, Slots, CreditEvery>;

/// For a sender that must find room without looking at `consumed`.
struct NeverWaits {
    template <class A, class P, class T>
    bool await(const A& /*word*/, std::memory_order /*order*/, const P& /*holds*/, T& /*seen*/) {
        require(false, "the credit came with the answer");
        return false;
    }
};

/// A ring through which `start` messages have gone already, and its two ends.
template <std::size_t Slots, std::size_t CreditEvery>
struct Link {
    Ring<Slots, CreditEvery> ring;
    corymb::channel::SlotSender<ExplorerEnv, Ring<Slots, CreditEvery>> sender;
    corymb::channel::SlotReceiver<ExplorerEnv, Ring<Slots, CreditEvery>> receiver;

    explicit Link(std::uint64_t start = 0) : sender(ring, start), receiver(ring, start) {
        Explorer::current().name(ring.slot, sizeof ring.slot, "slots");
        Explorer::current().name(&ring.consumed, sizeof ring.consumed, "consumed");
        ring.consumed.store(start, std::memory_order_relaxed);
        for (std::uint64_t number = start; start != 0 && number + Slots > start; --number) {
            ring.slot[(number - 1) % Slots].word.store(number & 0xffffU, std::memory_order_relaxed);
        }
    }
    template <class Waiter>
    void send(Waiter& waiter, std::uint64_t value, std::uint64_t credit) {
        require(sender.send(waiter, &value, sizeof value, credit), "there is room");
    }
    /// Receives, uses and releases; returns the value. `back` gets the credit.
    template <class Other>
    std::uint64_t receive(Other& back) {
        AwaitWaiter waiter;
        std::uint64_t word = 0;
        const std::byte* payload = receiver.receive(waiter, sizeof(std::uint64_t), word);
        back.accept_credit(word);
        const std::uint64_t value = use(payload);
        receiver.release();
        return value;
    }
};

enum class Bug : std::uint8_t { none, releases_before_use, gives_credit_before_use };

/// A stream in one direction: credit through `consumed`.
template <std::size_t Slots, std::size_t CreditEvery, std::uint64_t Messages,
          std::uint64_t Start = 0, Bug bug = Bug::none>
struct Stream {
    static constexpr int threads = 2;
    Link<Slots, CreditEvery> link{Start};

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::uint64_t i = 0; i < Messages; ++i) {
            if (thread == 0) {
                link.send(waiter, 100 + i, 0);
                continue;
            }
            std::uint64_t word = 0;
            const std::byte* payload = link.receiver.receive(waiter, 8, word);
            if constexpr (bug == Bug::releases_before_use) {
                link.receiver.release();
                static_cast<void>(use(payload));
            } else {
                require(use(payload) == 100 + i, "messages come in order");
                link.receiver.release();
            }
        }
    }
};

/// Request and answer: all credit rides on the opposite traffic.
template <std::size_t Slots, std::uint64_t Rounds, std::uint64_t Start = 0, Bug bug = Bug::none>
struct RequestAndAnswer {
    static constexpr int threads = 2;
    Link<Slots, Slots> request{Start};
    Link<Slots, Slots> answer{Start};

    void run(int thread) {
        NeverWaits waiter;
        for (std::uint64_t i = 0; i < Rounds; ++i) {
            if (thread == 0) {
                request.send(waiter, 100 + i, answer.receiver.consumed());
                require(answer.receive(request.sender) == 200 + i, "the answer to this request");
            } else if constexpr (bug == Bug::gives_credit_before_use) {
                AwaitWaiter patient;
                std::uint64_t word = 0;
                const std::byte* payload = request.receiver.receive(patient, 8, word);
                answer.sender.accept_credit(word);
                answer.send(waiter, 200 + i, request.receiver.consumed() + 1);
                static_cast<void>(use(payload));
                request.receiver.release();
            } else {
                require(request.receive(answer.sender) == 100 + i, "requests come in order");
                answer.send(waiter, 200 + i, request.receiver.consumed());
            }
        }
    }
};

/// Both send first and then receive, as in an exchange between neighbours.
template <std::size_t Slots, std::size_t CreditEvery, std::uint64_t Rounds>
struct Exchange {
    static constexpr int threads = 2;
    Link<Slots, CreditEvery> link[2];

    void run(int thread) {
        AwaitWaiter waiter;
        Link<Slots, CreditEvery>& out = link[thread];
        Link<Slots, CreditEvery>& in = link[1 - thread];
        for (std::uint64_t i = 0; i < Rounds; ++i) {
            out.send(waiter, 100 + i, in.receiver.consumed());
            require(in.receive(out.sender) == 100 + i, "messages come in order");
        }
    }
};

/// A pipeline of three: the middle forwards what it gets.
template <std::uint64_t Messages>
struct Pipeline {
    static constexpr int threads = 3;
    Link<2, 1> first;
    Link<2, 2> second;
    corymb::channel::SlotSender<ExplorerEnv, Ring<2, 1>> no_way_back;

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::uint64_t i = 0; i < Messages; ++i) {
            if (thread == 0) {
                first.send(waiter, 100 + i, 0);
            } else if (thread == 1) {
                second.send(waiter, first.receive(no_way_back), 0);
            } else {
                require(second.receive(no_way_back) == 100 + i, "messages come in order");
            }
        }
    }
};

/// Long slots: every second message is too long for the line of its word.
template <std::size_t Slots, std::uint64_t Messages, Bug bug = Bug::none>
struct LongStream {
    using LongRing = corymb::channel::LongSlotRing<ExplorerEnv, 128, 1>;
    static constexpr int threads = 2;
    static constexpr std::size_t long_bytes = LongRing::brief_bytes + 8;

    alignas(LongRing) std::byte memory[LongRing::bytes(Slots)];
    LongRing& ring = *new (memory) LongRing(Slots);
    corymb::channel::SlotSender<ExplorerEnv, LongRing> sender{ring};
    corymb::channel::SlotReceiver<ExplorerEnv, LongRing> receiver{ring};

    static constexpr std::size_t length(std::uint64_t message) {
        return message % 2 == 0 ? sizeof(std::uint64_t) : long_bytes;
    }

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::uint64_t i = 0; i < Messages; ++i) {
            if (thread == 0) {
                const std::vector<std::uint64_t> value(long_bytes / 8, 100 + i);
                require(sender.send(waiter, value.data(), length(i), 0), "there is room");
                continue;
            }
            std::uint64_t word = 0;
            const std::byte* payload = receiver.receive(waiter, length(i), word);
            if constexpr (bug == Bug::releases_before_use) {
                receiver.release();
            }
            require(use(payload) == 100 + i, "messages come in order");
            require(use(payload + length(i) - 8) == 100 + i, "messages come whole");
            if constexpr (bug == Bug::none) {
                receiver.release();
            }
        }
    }
};

constexpr std::uint64_t near_wrap = 0xffffffffU - 2; // A multiple of neither 2 nor 4.

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Stream<2, 1, 6>>("ring: stream of 6 through 2 slots, credit every message"),
            holds<Stream<2, 2, 6>>("ring: stream of 6 through 2 slots, credit every second"),
            holds<Stream<1, 1, 4>>("ring: stream of 4 through 1 slot"),
            holds_large<Stream<4, 2, 10>>("ring: stream of 10 through 4 slots"),
            holds<Stream<2, 1, 6, near_wrap>>("ring: stream of 6 across the wraps"),
            holds<RequestAndAnswer<2, 5>>("ring: 5 requests and answers, credit with the answer"),
            holds<RequestAndAnswer<1, 5>>("ring: 5 requests and answers through 1 slot"),
            holds<RequestAndAnswer<2, 5, near_wrap>>("ring: 5 requests across the wraps"),
            holds<Exchange<2, 1, 4>>("ring: exchange, 4 rounds, 2 slots, credit every message"),
            holds<Exchange<2, 2, 4>>("ring: exchange, 4 rounds, 2 slots, credit every second"),
            holds<Pipeline<4>>("ring: pipeline of 3 threads, 4 messages"),
            holds<LongStream<2, 6>>("long ring: stream of 6 through 2 slots"),
            holds<LongStream<1, 4>>("long ring: stream of 4 through 1 slot"),
            caught<LongStream<2, 4>>("long ring: release is relaxed", Fault::release_is_relaxed),
            caught<LongStream<2, 4>>("long ring: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<LongStream<2, 4, Bug::releases_before_use>>(
                "long ring: the receiver releases before it uses the payload"),
            caught<Stream<2, 1, 3>>("ring: release is relaxed", Fault::release_is_relaxed),
            caught<Stream<2, 1, 3>>("ring: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<RequestAndAnswer<2, 3>>("ring: release is relaxed, credit with the answer",
                                           Fault::release_is_relaxed),
            caught<Stream<2, 1, 4, 0, Bug::releases_before_use>>(
                "ring: the receiver releases before it uses the payload"),
            caught<RequestAndAnswer<1, 4, 0, Bug::gives_credit_before_use>>(
                "ring: the answer gives credit for a payload still in use"),
        });
}
