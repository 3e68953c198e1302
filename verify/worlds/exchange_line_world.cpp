// SPDX-License-Identifier: Apache-2.0
// src/channel/exchange_line.hpp: both sides get each other's messages whole and in order, and what
// was written before a put is there after the take; no message is written while its reader may
// still use it.
#include "channel/exchange_line.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/payload.hpp"

namespace {

using namespace corymb::verify;
using Line = corymb::channel::ExchangeLine<ExplorerEnv, 8>;
using End = corymb::channel::ExchangeEnd<ExplorerEnv, 8>;

std::uint64_t message_of(int thread, std::uint64_t round) {
    return 100 * static_cast<std::uint64_t>(thread + 1) + round;
}

enum class Bug : std::uint8_t { none, uses_after_next_put, puts_twice };

/// Two threads that meet `Rounds` times with eight bytes each.
template <std::uint64_t Rounds, Bug bug = Bug::none>
struct Meetings {
    static constexpr int threads = 2;
    Line line;
    End ends[2] = {End(line, 0), End(line, 1)};

    Meetings() { Explorer::current().name(&line, sizeof line, "line"); }

    void put(int thread, std::uint64_t round) {
        const std::uint64_t value = message_of(thread, round);
        ends[thread].put(&value, sizeof value);
    }
    void run(int thread) {
        AwaitWaiter waiter;
        const std::byte* before = nullptr;
        for (std::uint64_t round = 0; round < Rounds; ++round) {
            put(thread, round);
            if constexpr (bug == Bug::puts_twice) {
                put(thread, round);
            }
            if (bug == Bug::uses_after_next_put && before != nullptr) {
                static_cast<void>(use(before));
            }
            const std::byte* payload = ends[thread].take(waiter, sizeof(std::uint64_t));
            require(payload != nullptr, "the message comes");
            if constexpr (bug == Bug::none) {
                require(use(payload) == message_of(1 - thread, round), "messages come in order");
            }
            before = payload;
        }
    }
};

/// Meetings without bytes: what was written before one is there after it.
template <std::size_t Rounds>
struct Letters {
    static constexpr int threads = 2;
    Line line;
    End ends[2] = {End(line, 0), End(line, 1)};
    Letter letters[2][Rounds];

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::size_t round = 0; round < Rounds; ++round) {
            letters[thread][round].write(message_of(thread, round));
            ends[thread].put(nullptr, 0);
            require(ends[thread].take(waiter, 0) != nullptr, "the other comes");
            require(letters[1 - thread][round].read() == message_of(1 - thread, round),
                    "the letter is there");
        }
    }
};

/// A waiter that gives up once: the message is not lost, and not taken twice.
struct GivesUp {
    static constexpr int threads = 2;
    Line line;
    End ends[2] = {End(line, 0), End(line, 1)};

    struct LooksOnce {
        template <class A, class P, class T>
        bool await(const A& word, std::memory_order order, const P& holds, T& seen) {
            seen = word.load(order);
            return holds(seen);
        }
    };

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::uint64_t round = 0; round < 2; ++round) {
            const std::uint64_t value = message_of(thread, round);
            ends[thread].put(&value, sizeof value);
            LooksOnce once;
            const std::byte* payload = ends[thread].take(once, sizeof value);
            if (payload == nullptr) {
                payload = ends[thread].take(waiter, sizeof value);
            }
            require(use(payload) == message_of(1 - thread, round), "the same message");
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Meetings<4>>("exchange: 4 meetings with payload"),
            holds<Letters<3>>("exchange: 3 meetings without payload"),
            holds<GivesUp>("exchange: a look that finds nothing is repeated"),
            caught<Meetings<1>>("exchange: release is relaxed", Fault::release_is_relaxed),
            caught<Meetings<1>>("exchange: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Meetings<4, Bug::uses_after_next_put>>("exchange: used after the next put"),
            caught<Meetings<2, Bug::puts_twice>>("exchange: put twice without a take"),
        });
}
