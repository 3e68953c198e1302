// SPDX-License-Identifier: Apache-2.0
// src/multicast/core.hpp where a process is killed: one thread may end at any step, and the others
// go on. Each call is still run once by all who live, and ends; its slot is used again.
#include "explorer/run_worlds.hpp"
#include "worlds/multicast_group.hpp"

namespace {

using namespace corymb::verify;

using Flag = ExplorerEnv::Atomic<std::uint32_t>;

/// Waits, and sees nothing but the value.
void await_set(const Flag& flag) {
    AwaitWaiter waiter;
    std::uint32_t seen = 0;
    static_cast<void>(waiter.await(
        flag, std::memory_order_relaxed, [](std::uint32_t value) { return value != 0; }, seen));
}

/// Thread `mortal` may end at any step.
template <std::uint32_t Size, Tree tree, int mortal, Back back = Back::counters>
struct Mortal : Group<Size, 1, tree, true, back> {
    Flag ended; ///< 1 then; 2 when it came through.

    Mortal() { Explorer::current().let_end(mortal, ended.location()); }
    void came_through() { ended.store(2, std::memory_order_release); }
    /// Once that is known: whether it ended. As the kernel tells it: behind all that it has done.
    bool has_ended() {
        AwaitWaiter waiter;
        std::uint32_t seen = 0;
        static_cast<void>(waiter.await(
            ended, std::memory_order_acquire, [](std::uint32_t value) { return value != 0; },
            seen));
        return seen == 1;
    }
    void await_done(std::uint32_t p, std::uint64_t number) {
        AwaitWaiter waiter;
        std::uint64_t seen = 0;
        static_cast<void>(waiter.await(
            this->core.done(0, p), std::memory_order_relaxed,
            [number](std::uint64_t value) { return value == number; }, seen));
    }
    [[nodiscard]] bool is_over() const {
        return this->core.is_complete(0) || this->core.is_through(0);
    }
    /// The mortal one as an initiator for whom nobody waits.
    void call_and_come_through() {
        this->core.give_up(this->begin(mortal, 7));
        came_through();
    }
    /// Its end is noticed if it is one. Returns whether it is.
    bool bury_the_dead() {
        const bool is_dead = has_ended();
        if (is_dead) {
            this->core.bury(mortal);
        }
        return is_dead;
    }
    /// A position brings the call of an initiator on its way that is there no more.
    void see_to_it(std::uint32_t p) {
        if (this->core.adopt(0, p)) {
            this->core.take_over(0, p);
            this->core.give_up(0);
        }
    }
};

enum class Bug : std::uint8_t { none, no_second_forwarding, no_inheritance };

/// The inner member of a chain ends; the last one is told all the same.
template <Bug bug = Bug::none, Back back = Back::counters>
struct MemberEnds : Mortal<3, Tree::chain, 1, back> {
    static constexpr int threads = 3;
    using Mortal<3, Tree::chain, 1, back>::core;
    using Mortal<3, Tree::chain, 1, back>::result;
    using Mortal<3, Tree::chain, 1, back>::runs;

    MemberEnds() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        if (thread != 0) {
            this->serve(static_cast<std::uint32_t>(thread), 1);
            if (thread == 1) {
                this->came_through();
            }
            return;
        }
        const std::uint32_t slot = this->begin(0, 1);
        const bool is_dead = this->bury_the_dead();
        if (bug != Bug::no_second_forwarding) {
            core.take_over(slot, 0);
        }
        this->await_done(2, 1);
        const bool is_complete = core.is_complete(slot);
        require(is_complete || core.is_through(slot), "who has ended is not waited for");
        require(result[2].read() == 1, "it has run before it answers");
        if (is_complete || !core.was_lost(slot, 1)) {
            require(result[1].read() == 1, "it has run if it is not lost");
        } else {
            require(is_dead, "nobody who lives is lost");
        }
        core.finish(slot);
        // What was used is used again.
        if (!is_dead) {
            core.leave(1);
        }
        core.leave(2);
        core.finish(this->begin(0, 2));
    }
    void finish() { require(runs[1] <= 1 && runs[2] == 1, "once"); }
};

/// A member ends before or after its answer at a counter of the gather tree. The next call counts
/// there anew, with another member.
struct EndsBelowACounter : Mortal<4, Tree::flat, 1, Back::gather> {
    static constexpr int threads = 3;

    EndsBelowACounter() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        if (thread != 0) {
            serve(static_cast<std::uint32_t>(thread), thread == 1 ? 1 : 2);
            if (thread == 1) {
                came_through();
            }
            return;
        }
        std::uint32_t slot = begin(0, 1);
        const bool is_dead = bury_the_dead();
        await_done(2, 1);
        require(is_over(), "who has ended is not waited for");
        core.finish(slot);
        if (!is_dead) {
            core.leave(1);
        }
        core.join(3); // This thread's as well.
        slot = begin(0, 2);
        await_done(2, 2);
        require(!core.is_complete(slot), "one has not run it");
        require(poll(3) == 1 && core.is_complete(slot), "all have");
        require(result[2].read() == 2, "it has run before it answers");
        core.finish(slot);
    }
    void finish() { require(runs[1] <= 1 && runs[2] == 2, "once"); }
};

/// The initiator ends; somebody else adopts its call, and calls through the same slot.
struct InitiatorEnds : Mortal<3, Tree::flat, 1> {
    static constexpr int threads = 3;

    InitiatorEnds() { core.join(2); }
    void run(int thread) {
        if (thread == 1) {
            call_and_come_through();
        } else if (thread == 2) {
            AwaitWaiter waiter;
            while (last[2] != 9) {
                std::uint64_t mail = 0;
                static_cast<void>(waiter.await(
                    core.mail(2), std::memory_order_relaxed,
                    [](std::uint64_t seen) { return seen != 0; }, mail));
                static_cast<void>(poll(2));
            }
        } else {
            bury_the_dead();
            std::uint64_t number = 1;
            if (core.adopt(0, 0)) {
                const bool is_told = core.named(0) != 0;
                if (is_told) {
                    await_done(2, number);
                }
                core.take_over(0, 0);
                require(is_over(), "nobody is waited for");
                require(!is_told || result[2].read() == 7, "it has run before it answers");
                number += core.number(0);
                core.finish(0);
            }
            const std::uint32_t slot = begin(0, 9);
            await_done(2, number);
            require(core.is_through(slot), "it is over");
            require(core.is_complete(slot), "nobody has touched the slot since");
            require(result[2].read() == 9, "the next call, too");
            core.finish(slot);
        }
    }
    void finish() { require(runs[2] == 1 || runs[2] == 2, "each call once"); }
};

/// The initiator ends while a member leaves, which is in nobody's way afterwards.
struct InitiatorEndsForALeaver : Mortal<2, Tree::flat, 0> {
    static constexpr int threads = 2;

    InitiatorEndsForALeaver() { core.join(1); }
    void run(int thread) {
        if (thread == 0) {
            call_and_come_through();
            return;
        }
        core.leave(1);
        bury_the_dead();
        LookOnce once;
        int slot = core.settle(1, once, run_as(1));
        for (int round = 0; round < 3 && slot != Core::settled; ++round) {
            see_to_it(1);
            slot = core.settle(1, once, run_as(1));
        }
        require(slot == Core::settled, "it can leave");
        if (core.adopt(0, 1)) {
            require(is_over(), "nobody is waited for");
            core.finish(0);
        }
        require(core.claim(1) == 0, "the slot is free");
    }
    void finish() { require(runs[1] <= 1, "once"); }
};

/// The same, and it is somebody else who sees to the call.
struct InitiatorEndsForAnother : Mortal<3, Tree::flat, 0> {
    static constexpr int threads = 3;

    InitiatorEndsForAnother() { core.join(1); }
    void run(int thread) {
        if (thread == 0) {
            call_and_come_through();
        } else if (thread == 1) {
            leave(1); // A deadlock if it believes in a call that nobody was told of.
        } else {
            bury_the_dead();
            see_to_it(2);
        }
    }
    void finish() { require(runs[1] <= 1, "once"); }
};

/// A member ends after it has answered; somebody else buries it.
struct EndsAfterItsAnswer : Mortal<2, Tree::flat, 1> {
    static constexpr int threads = 3;
    Flag buried;
    bool has_answered = false;

    EndsAfterItsAnswer() { core.join(1); }
    void run(int thread) {
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 1);
            await_set(buried);
            if (core.named(slot) != 0 && core.is_through(slot)) {
                const bool is_lost = core.was_lost(slot, 1);
                require(!is_lost || !has_answered, "who has answered is not lost");
                require(is_lost || result[1].read() == 1, "it has run before it answers");
            }
        } else if (thread == 1) {
            serve(1, 1);
            has_answered = true;
            came_through();
        } else {
            bury_the_dead();
            buried.store(1, std::memory_order_relaxed);
        }
    }
};

/// A member ends, also inside join or leave, and another takes its place while a call is under way.
template <Bug bug = Bug::none>
struct PlaceIsTakenAgain : Mortal<2, Tree::flat, 1> {
    static constexpr int threads = 3;
    Flag heir_left;

    void run(int thread) {
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 5);
            const bool is_named = core.named(slot) != 0;
            await_set(heir_left);
            if (is_named) {
                await_done(1, 1);
            }
            const bool by_counters = core.is_complete(slot);
            require(by_counters || core.is_through(slot), "the heir has answered");
            if (is_named) {
                require(!by_counters || runs[1] == 1, "it has run before it answers");
                require(runs[1] == 1 || core.was_lost(slot, 1), "what was not run is lost");
            }
            core.finish(slot);
        } else if (thread == 1) {
            core.join(1);
            static_cast<void>(poll(1));
            leave(1);
            core.release(1);
            came_through();
        } else {
            bury_the_dead();
            core.hold(1);
            AwaitWaiter waiter;
            if (bug != Bug::no_inheritance) {
                require(core.inherit(1, waiter), "nobody gives up");
            }
            core.join(1);
            leave(1);
            heir_left.store(1, std::memory_order_relaxed);
        }
    }
    void finish() { require(runs[1] <= 1, "once"); }
};

/// A member ends that has used what the initiator takes away. Somebody else buries it.
struct UsesBeforeItEnds : Mortal<2, Tree::flat, 1> {
    static constexpr int threads = 3;
    Letter used;

    UsesBeforeItEnds() { core.join(1); }
    void run(int thread) {
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 1);
            if (core.named(slot) == 0) {
                used.write(7);
            }
        } else if (thread == 1) {
            require(used.read() == 0, "it stands while a member uses it");
            came_through();
        } else {
            bury_the_dead();
        }
    }
};

/// Waits for initiators.
struct LookOnceForMail {
    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen,
               std::source_location where = std::source_location::current()) {
        if (order == std::memory_order_acquire) {
            AwaitWaiter waiter;
            return waiter.await(word, order, holds, seen, where);
        }
        return LookOnce().await(word, order, holds, seen, where);
    }
};

/// Who forwards for a slow member ends; its place is taken at once, and the forwarding is done
/// again.
struct ForwarderEnds : Mortal<3, Tree::chain, 2> {
    static constexpr int threads = 3;
    Flag buried;

    ForwarderEnds() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        AwaitWaiter waiter;
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 1);
            await_set(buried);
            core.take_over(slot, 0);
            await_done(1, 1);
            require(core.is_complete(slot) || core.is_through(slot), "it is over");
            require(result[1].read() == 1, "it has run before it answers");
            core.finish(slot);
        } else if (thread == 1) {
            if (has_ended()) {
                core.bury(2);
                core.hold(2);
                require(core.inherit(2, waiter), "nobody gives up");
            }
            buried.store(1, std::memory_order_relaxed);
            serve(1, 1);
        } else {
            std::uint64_t seen = 0;
            static_cast<void>(waiter.await(
                core.posted(0, 1), std::memory_order_relaxed,
                [](std::uint64_t value) { return value != 0; }, seen));
            core.leave(2);
            LookOnceForMail once;
            if (const int slot = core.settle(2, once, run_as(2)); slot >= 0) {
                core.take_over(static_cast<std::uint32_t>(slot), 2);
            }
            require(core.settle(2, waiter, run_as(2)) == Core::settled, "nobody gives up");
            came_through();
        }
    }
    void finish() { require(runs[1] == 1 && runs[2] <= 1, "once"); }
};

/// An initiator does not wait; somebody else finishes its call and uses the slot.
struct GivenUp : Group<2, 1, Tree::flat> {
    static constexpr int threads = 2;

    void run(int thread) {
        if (thread == 0) {
            core.give_up(begin(0, 1));
        } else if (core.adopt(0, 1)) {
            require(core.is_complete(0), "it has no members");
            core.finish(0);
            core.finish(begin(1, 2));
        }
    }
};

/// A hint of the first call may be found during the second.
struct ToldAgain : Group<2, 1, Tree::flat> {
    static constexpr int threads = 2;

    ToldAgain() { core.join(1); }
    void run(int thread) {
        if (thread == 1) {
            serve(1, 2);
            return;
        }
        for (std::uint64_t call = 1; call <= 2; ++call) {
            const std::uint32_t slot = begin(0, call);
            if (call == 1) {
                core.give_up(slot);
                require(core.adopt(slot, 0), "it is nobody's");
            }
            wait(0, slot);
            require(result[1].read() == call, "it has run before it answers");
            core.finish(slot);
        }
    }
    void finish() { require(runs[1] == 2, "each call once"); }
};

} // namespace

int main(int argc, char** argv) {
    const Options few{.preemptions_max = 2};
    const Options fewer{.preemptions_max = 1};
    return run_worlds(
        argc, argv,
        {
            holds<MemberEnds<>>("multicast: a member ends that should forward", fewer),
            holds<MemberEnds<Bug::none, Back::messages>>(
                "multicast: a member ends that should answer", fewer),
            holds<MemberEnds<Bug::none, Back::gather>>(
                "multicast: a member ends that should forward, gather", fewer),
            holds<EndsBelowACounter>("multicast: a member ends below a counter", fewer),
            holds<InitiatorEnds>("multicast: an initiator ends, another goes on", fewer),
            holds<InitiatorEndsForALeaver>("multicast: an initiator ends, a member leaves"),
            holds<PlaceIsTakenAgain<>>("multicast: a member ends, its place is taken", few),
            holds<InitiatorEndsForAnother>("multicast: an initiator ends, others see to it", fewer),
            holds<EndsAfterItsAnswer>("multicast: a member ends that has answered", few),
            holds<UsesBeforeItEnds>("multicast: a member ends that was using something"),
            holds<ForwarderEnds>("multicast: who has taken over ends", fewer),
            holds<GivenUp>("multicast: given up"),
            holds<ToldAgain>("multicast: told again", few),
            holds_large<MemberEnds<>>("multicast: a member ends, 2 preemptions", few),
            caught<MemberEnds<Bug::no_second_forwarding>>("multicast: nobody forwards again"),
            caught<PlaceIsTakenAgain<Bug::no_inheritance>>(
                "multicast: nobody answers for the dead"),
        });
}
