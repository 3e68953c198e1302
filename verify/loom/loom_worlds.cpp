// SPDX-License-Identifier: Apache-2.0
// Worlds of two threads from the shipped headers, explored by loom. Each runs in a process of its
// own, because a violation is a panic that no noexcept function lets through.
#include "base/assert.hpp"
#include "channel/event_count.hpp"
#include "channel/publication_ring.hpp"
#include "channel/signal_line.hpp"
#include "channel/slot_ring.hpp"
#include "loom_env.hpp"
#include "team/central_barrier.hpp"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

void corymb::invariant_broken(const char* invariant, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, invariant);
    std::abort();
}

namespace {

using namespace corymb::verify;
namespace channel = corymb::channel;

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", what);
        std::abort();
    }
}

std::uint64_t value_of(const std::byte* payload) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload, sizeof value);
    return value;
}

struct Letter {
    LoomEnv::Bytes<8> bytes;
    void write(std::uint64_t value) { bytes.put(&value, sizeof value); }
    [[nodiscard]] std::uint64_t read() const { return value_of(bytes.view(8)); }
};

struct Signals {
    channel::SignalLine<LoomEnv> line;
    Letter letter[2];

    void run(int thread) {
        LoomWaiter waiter;
        std::uint64_t count = 0;
        for (std::uint64_t i = 0; i < 2; ++i) {
            if (thread == 0) {
                letter[i].write(i);
                line.signal(count);
            } else {
                require(line.wait(waiter, count) && letter[i].read() == i, "the letter is there");
            }
        }
    }
};

struct Stream {
    using Ring = channel::SlotRing<LoomEnv, 8, 2, 1>;
    Ring ring;

    void run(int thread) {
        LoomWaiter waiter;
        channel::SlotSender<LoomEnv, Ring> sender(ring);
        channel::SlotReceiver<LoomEnv, Ring> receiver(ring);
        for (std::uint64_t i = 0; i < 3; ++i) {
            if (thread == 0) {
                require(sender.send(waiter, &i, sizeof i, 0), "there is room");
                continue;
            }
            std::uint64_t word = 0;
            require(value_of(receiver.receive(waiter, 8, word)) == i, "in order");
            receiver.release();
        }
    }
};

struct RequestAndAnswer {
    using Ring = channel::SlotRing<LoomEnv, 8, 1, 1>;
    Ring ring[2];

    void run(int thread) {
        LoomWaiter waiter;
        channel::SlotSender<LoomEnv, Ring> sender(ring[thread]);
        channel::SlotReceiver<LoomEnv, Ring> receiver(ring[1 - thread]);
        for (std::uint64_t i = 0; i < 2; ++i) {
            if (thread == 0) {
                require(sender.send(waiter, &i, sizeof i, receiver.consumed()), "there is room");
            }
            std::uint64_t word = 0;
            require(value_of(receiver.receive(waiter, 8, word)) == i, "in order");
            sender.accept_credit(word);
            receiver.release();
            if (thread == 1) {
                require(sender.send(waiter, &i, sizeof i, receiver.consumed()), "there is room");
            }
        }
    }
};

struct Publications {
    channel::OwnedPublicationRing<LoomEnv, 8, 2> ring{1};

    void run(int thread) {
        LoomWaiter waiter;
        std::uint64_t count = 0;
        for (std::uint64_t i = 0; i < 3; ++i) {
            if (thread == 0) {
                require(ring.publish(waiter, &i, sizeof i, count), "there is room");
            } else {
                require(value_of(ring.read(waiter, 8, count)) == i, "in order");
                ring.release(0, count);
            }
        }
    }
};

struct Parking {
    channel::EventCount<LoomEnv> spot;
    channel::SignalLine<LoomEnv> line;
    Letter letter;

    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen) {
        const auto look = [&] {
            seen = word.load(order);
            return holds(seen);
        };
        return spot.park(look, [] { return false; }, [] { return std::int64_t{1}; });
    }
    void run(int thread) {
        std::uint64_t count = 0;
        if (thread == 0) {
            require(line.wait(*this, count) && letter.read() == 7, "the letter is there");
        } else {
            letter.write(7);
            line.signal(count);
            spot.wake_if_parked();
        }
    }
};

struct Central {
    corymb::team::CentralBarrier<LoomEnv> barrier{2};
    Letter letter[2];

    void run(int thread) {
        letter[thread].write(7);
        const auto arrival = barrier.arrive(1);
        if (arrival.last) {
            barrier.complete(arrival.phase);
        }
        const auto done = [&] {
            return barrier.is_complete(arrival.phase);
        };
        require(barrier.sleepers().park(
                    done, [] { return false; }, [] { return std::int64_t{1}; }),
                "it is woken");
        require(letter[1 - thread].read() == 7, "the other came");
    }
};

/// Whether the world, in a process of its own, does what it must.
template <class World>
bool explore(const char* name, LoomFault fault = LoomFault::none, int preemptions = -1) {
    const bool must_hold = fault == LoomFault::none;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        loom_fault = fault;
        if (!must_hold) {
            static_cast<void>(std::freopen("/dev/null", "w", stderr));
        }
        const std::uint64_t executions =
            loom_explore([]() -> void* { return new World; },
                         [](void* world, int thread) { static_cast<World*>(world)->run(thread); },
                         [](void* world) { delete static_cast<World*>(world); }, preemptions);
        if (must_hold) {
            std::printf("holds   %-44s executions %llu\n", name,
                        static_cast<unsigned long long>(executions));
            std::fflush(stdout);
        }
        _exit(0);
    }
    int status = 0;
    const bool ended = child > 0 && waitpid(child, &status, 0) == child;
    const bool held = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (held != must_hold) {
        std::printf("%s %s\n", must_hold ? "VIOLATED" : "NOT CAUGHT", name);
    } else if (!must_hold) {
        std::printf("caught  %s\n", name);
    }
    return held == must_hold;
}

} // namespace

int main() {
    bool good = explore<Signals>("signal line, 2 signals");
    good &= explore<Stream>("slot ring, 3 messages through 2 slots");
    good &= explore<RequestAndAnswer>("slot ring, 2 requests through 1 slot");
    good &= explore<Publications>("publication ring, 3 through 2 slots");
    good &= explore<Parking>("parking, 1 signal, 3 preemptions", LoomFault::none, 3);
    good &= explore<Central>("central barrier, 1 phase, 3 preemptions", LoomFault::none, 3);
    for (const auto& [fault, text] : {std::pair{LoomFault::release_is_relaxed, "no release"},
                                      std::pair{LoomFault::acquire_is_relaxed, "no acquire"}}) {
        std::printf("%s:\n", text);
        good &= explore<Signals>("signal line", fault);
        good &= explore<Stream>("slot ring", fault);
        good &= explore<RequestAndAnswer>("slot ring with answers", fault);
        good &= explore<Publications>("publication ring", fault);
        good &= explore<Parking>("parking", fault, 3);
        good &= explore<Central>("central barrier", fault, 3);
    }
    good &= explore<Parking>("parking without light fence", LoomFault::no_light_fence, 3);
    good &= explore<Parking>("parking without heavy fence", LoomFault::no_heavy_fence, 3);
    good &= explore<Central>("central barrier without light fence", LoomFault::no_light_fence, 3);
    good &= explore<Central>("central barrier without heavy fence", LoomFault::no_heavy_fence, 3);
    return good ? 0 : 1;
}
