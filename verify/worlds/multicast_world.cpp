// SPDX-License-Identifier: Apache-2.0
// src/multicast/core.hpp: whoever is a member for the whole call runs it once, before it answers;
// joining and leaving race with calls; slots are used again by other initiators; others take over.
// The initiator is position 0 and no member, unless said otherwise.
#include "explorer/run_worlds.hpp"
#include "worlds/multicast_group.hpp"
#include "worlds/multicast_telling.hpp"

#include <array>

namespace {

using namespace corymb::verify;
enum class Bug : std::uint8_t { none, does_not_wait, does_not_settle };

/// Everybody but the initiator is a member.
template <std::uint32_t Size, std::uint64_t Calls, Tree tree, bool skipping = true,
          Bug bug = Bug::none>
using Telling =
    TellingMembers<Size, Size - 1, Calls, tree, skipping, Back::counters, bug == Bug::none>;

/// The last position reads what the initiator will take away, and leaves during the call.
template <std::uint32_t Size, Tree tree, std::uint64_t Calls = 1, Bug bug = Bug::none>
struct Leaving : Group<Size, 1, tree> {
    static constexpr int threads = static_cast<int>(Size);
    static constexpr std::uint32_t leaver = Size - 1;
    Letter used;

    Leaving() {
        for (std::uint32_t p = 1; p < Size; ++p) {
            this->core.join(p);
        }
    }
    void run(int thread) {
        const auto own = static_cast<std::uint32_t>(thread);
        if (own == leaver) {
            require(used.read() == 0, "it stands while a member uses it");
            if (bug == Bug::does_not_settle) {
                this->core.leave(leaver);
            } else {
                this->leave(leaver);
            }
        } else if (own != 0) {
            this->serve(own, Calls);
        } else {
            for (std::uint64_t call = 1; call <= Calls; ++call) {
                const std::uint32_t slot = this->begin(0, call);
                this->wait(0, slot);
                this->core.finish(slot);
            }
            used.write(7);
        }
    }
    void finish() { require(this->runs[leaver] <= Calls, "nobody runs a call twice"); }
};

/// Joins during the call, and stays until it is told or sees what came before the call.
struct Joining : Group<2, 1, Tree::flat> {
    static constexpr int threads = 2;
    ExplorerEnv::Atomic<std::uint64_t> state;

    void run(int thread) {
        if (thread == 0) {
            state.store(1, std::memory_order_relaxed);
            const std::uint32_t slot = begin(0, 5);
            wait(0, slot);
            core.finish(slot);
            return;
        }
        core.join(1);
        const bool is_new = state.load(std::memory_order_relaxed) == 1;
        if (!is_new) {
            serve(1, 1); // A deadlock if it is not told.
        }
        leave(1);
        require(runs[1] <= 1, "once");
    }
};

/// Positions 0 and 1 are members and call at the same time; each serves the other while it waits.
template <std::uint32_t Slots>
struct Both : Group<2, Slots, Tree::flat> {
    static constexpr int threads = 2;

    Both() {
        this->core.join(0);
        this->core.join(1);
    }
    void run(int thread) {
        const auto own = static_cast<std::uint32_t>(thread);
        const std::uint32_t slot = this->begin(own, own + 1);
        this->wait(own, slot);
        require(this->result[1 - own].read() == own + 1, "the other has run it");
        this->core.finish(slot);
        // The other's call may still be on its way.
        this->leave(own);
        require(this->runs[own] <= 1, "the other's, once");
    }
};

/// Two initiators, of which the second may find the slot in use; position 2 is the member.
struct Handing : Group<3, 1, Tree::flat> {
    static constexpr int threads = 3;
    std::array<bool, 2> called = {};

    Handing() { core.join(2); }
    void run(int thread) {
        if (thread == 2) {
            serve(2, 1);
            leave(2);
            return;
        }
        const auto own = static_cast<std::uint32_t>(thread);
        const int slot = core.claim(own);
        if (slot < 0) {
            return;
        }
        called[own] = true;
        const std::uint64_t value = own + 1;
        static_cast<void>(core.begin(static_cast<std::uint32_t>(slot), own, &value, sizeof value));
        wait(own, static_cast<std::uint32_t>(slot));
        core.finish(static_cast<std::uint32_t>(slot));
    }
    void finish() {
        require(runs[2] >= 1 && runs[2] <= std::uint64_t{called[0]} + called[1], "as called");
    }
};

/// The initiator relieves position 1 of forwarding to 2, whenever that comes.
template <bool inner_is_slow>
struct TakingOver : Group<3, 1, Tree::chain> {
    static constexpr int threads = 3;
    ExplorerEnv::Atomic<std::uint32_t> taken;

    TakingOver() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        const auto own = static_cast<std::uint32_t>(thread);
        if (own != 0) {
            if (inner_is_slow && own == 1) {
                AwaitWaiter waiter;
                std::uint32_t seen = 0;
                static_cast<void>(waiter.await(
                    taken, std::memory_order_relaxed,
                    [](std::uint32_t value) { return value != 0; }, seen));
            }
            serve(own, 1);
            return;
        }
        std::uint32_t slot = begin(0, 1);
        core.take_over(slot, 0);
        taken.store(1, std::memory_order_relaxed);
        wait(0, slot);
        require(result[1].read() == 1 && result[2].read() == 1, "both have run it");
        core.finish(slot);
        // What was read is written again.
        const std::uint64_t value = 2;
        core.leave(1);
        core.leave(2);
        slot = begin(0, value);
        core.finish(slot);
    }
    void finish() { require(runs[1] == 1 && runs[2] == 1, "each member runs it once"); }
};

/// A leaver takes over the forwarding of position 1, which polls only when the leaver has gone.
struct LeaverTakesOver : Group<3, 1, Tree::chain> {
    static constexpr int threads = 3;
    ExplorerEnv::Atomic<std::uint32_t> gone;

    LeaverTakesOver() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        AwaitWaiter waiter;
        std::uint32_t seen = 0;
        const auto is_set = [](std::uint32_t value) {
            return value != 0;
        };
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 1);
            wait(0, slot);
            core.finish(slot);
            gone.store(2, std::memory_order_relaxed);
        } else if (thread == 1) {
            static_cast<void>(waiter.await(gone, std::memory_order_relaxed, is_set, seen));
            serve(1, 1);
        } else {
            core.leave(2);
            LookOnce once;
            const int slot = core.settle(2, once, run_as(2));
            if (slot >= 0) {
                core.take_over(static_cast<std::uint32_t>(slot), 2);
            }
            gone.store(1, std::memory_order_relaxed);
            require(core.settle(2, waiter, run_as(2)) == Core::settled, "nobody gives up");
        }
    }
    void finish() { require(runs[1] == 1 && runs[2] <= 1, "once"); }
};

/// A member that sleeps is woken by the call, and the initiator by the answer.
struct Sleeping : Group<2, 1, Tree::flat> {
    static constexpr int threads = 2;

    Sleeping() { core.join(1); }
    void run(int thread) {
        if (thread == 1) {
            park(1, [&] { return runs[1] == 1; });
        } else {
            const std::uint32_t slot = begin(0, 1);
            wait(0, slot);
            core.finish(slot);
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    using enum Tree;
    const Options few{.preemptions_max = 2};
    const Options fewer{.preemptions_max = 1};
    return run_worlds(
        argc, argv,
        {
            holds<Telling<2, 2, flat>>("multicast: 1 member, 2 calls"),
            holds<Telling<2, 1, flat, false>>("multicast: 1 member, each position tested"),
            holds<Joining>("multicast: joins during a call"),
            holds<Leaving<2, flat>>("multicast: leaves during a call"),
            holds<Leaving<2, flat, 2>>("multicast: leaves during 2 calls", few),
            holds<Sleeping>("multicast: a sleeping member"),
            holds<Telling<3, 2, chain>>("multicast: 2 members, chain, 2 calls", fewer),
            holds<Telling<3, 2, split>>("multicast: 2 members, split, 2 calls", fewer),
            holds<TakingOver<true>>("multicast: the initiator forwards for a slow member", few),
            holds<TakingOver<false>>("multicast: the initiator may forward", few),
            holds<LeaverTakesOver>("multicast: a leaver forwards for a slow member", few),
            holds<Handing>("multicast: 2 initiators, 1 slot", fewer),
            holds<Both<2>>("multicast: 2 members call each other", fewer),
            holds_large<Telling<3, 2, chain>>("multicast: 2 members, chain, 2 preemptions", few),
            holds_large<Telling<3, 2, split>>("multicast: 2 members, split, 2 preemptions", few),
            holds_large<Leaving<3, chain>>("multicast: leaves below an inner member",
                                           {.executions_max = 20'000, .random = true}),
            caught<Telling<2, 1, flat, true, Bug::does_not_wait>>("multicast: does not wait"),
            caught<Leaving<2, flat, 1, Bug::does_not_settle>>("multicast: leaves at once"),
            caught<Telling<2, 2, flat>>("multicast: release is relaxed", Fault::release_is_relaxed),
            caught<Telling<2, 2, flat>>("multicast: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Sleeping>("multicast: no light fence", Fault::no_light_fence),
        });
}
