// SPDX-License-Identifier: Apache-2.0
// src/channel/signal_line.hpp: what the sender wrote before the k-th signal is there after the k-th
// wait, for every receiver.
#include "channel/signal_line.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/payload.hpp"

namespace {

using namespace corymb::verify;
using corymb::channel::SignalLine;

/// One sender, `Receivers` receivers, `Signals` signals with a fresh letter each.
template <int Receivers, std::size_t Signals>
struct Broadcast {
    static constexpr int threads = 1 + Receivers;
    SignalLine<ExplorerEnv> line;
    Letter letters[Signals];

    Broadcast() {
        Explorer::current().name(&line, sizeof line, "line");
        Explorer::current().name(letters, sizeof letters, "letters");
    }
    void run(int thread) {
        AwaitWaiter waiter;
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < Signals; ++i) {
            if (thread == 0) {
                letters[i].write(100 + i);
                line.signal(count);
            } else {
                require(line.wait(waiter, count), "the signal comes");
                require(count == i + 1, "signals are counted one by one");
                require(letters[i].read() == 100 + i, "the letter is new");
            }
        }
    }
};

/// Two threads take turns on one letter, a signal line each way.
template <int Rounds>
struct Turns {
    static constexpr int threads = 2;
    SignalLine<ExplorerEnv> line[2];
    Letter letter;

    void run(int thread) {
        AwaitWaiter waiter;
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        for (std::uint64_t round = 0; round < Rounds; ++round) {
            const std::uint64_t turn = 2 * round + static_cast<std::uint64_t>(thread);
            if (turn > 0) {
                require(line[1 - thread].wait(waiter, received), "the signal comes");
                require(letter.read() == turn - 1, "the other's letter");
            }
            letter.write(turn);
            line[thread].signal(sent);
        }
    }
};

/// A dissemination barrier of three ranks: every letter is there after two rounds.
struct Dissemination {
    static constexpr int threads = 3;
    SignalLine<ExplorerEnv> line[2][3];
    Letter letters[2][3];

    void run(int thread) {
        AwaitWaiter waiter;
        std::uint64_t sent[2] = {};
        std::uint64_t received[2] = {};
        for (int barrier = 0; barrier < 2; ++barrier) {
            letters[barrier][thread].write(static_cast<std::uint64_t>(barrier + 1));
            for (int round = 0; round < 2; ++round) {
                line[round][thread].signal(sent[round]);
                const int from = (thread + 3 - (1 << round)) % 3;
                require(line[round][from].wait(waiter, received[round]), "the signal comes");
            }
            for (const Letter& letter : letters[barrier]) {
                require(letter.read() == static_cast<std::uint64_t>(barrier + 1), "everybody came");
            }
        }
    }
};

/// Seeded bug: signals before it writes.
struct SignalsTooEarly {
    static constexpr int threads = 2;
    SignalLine<ExplorerEnv> line;
    Letter letter;

    void run(int thread) {
        AwaitWaiter waiter;
        std::uint64_t count = 0;
        if (thread == 0) {
            line.signal(count);
            letter.write(1);
        } else if (line.wait(waiter, count)) {
            static_cast<void>(letter.read());
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Broadcast<1, 3>>("signal: 1 receiver, 3 signals"),
            holds<Broadcast<2, 3>>("signal: 2 receivers, 3 signals"),
            holds<Turns<3>>("signal: two threads take turns, 3 rounds"),
            holds<Dissemination>("signal: dissemination barrier, 3 ranks, twice"),
            caught<Broadcast<1, 1>>("signal: release is relaxed", Fault::release_is_relaxed),
            caught<Broadcast<1, 1>>("signal: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<SignalsTooEarly>("signal: sent before the letter is written"),
        });
}
