// SPDX-License-Identifier: Apache-2.0
// src/multicast/answers.hpp within core.hpp: acknowledgements by messages. Whoever told others
// collects their answers, leaves, sleeps, or is still at it when the call is over. The initiator is
// position 0 and no member.
#include "explorer/run_worlds.hpp"
#include "worlds/multicast_group.hpp"

namespace {

using namespace corymb::verify;
enum class Bug : std::uint8_t { none, does_not_wait, does_not_collect };

/// Everybody but the initiator is a member; in a chain position 1 forwards to 2.
template <std::uint32_t Size, Tree tree>
struct Answering : Group<Size, 1, tree, true, Back::messages> {
    Answering() {
        for (std::uint32_t p = 1; p < Size; ++p) {
            this->core.join(p);
        }
    }
    void await_answer(std::uint32_t p, std::uint64_t call) {
        AwaitWaiter waiter;
        std::uint64_t seen = 0;
        static_cast<void>(waiter.await(
            this->core.answer(0, p), std::memory_order_relaxed,
            [call](std::uint64_t word) { return MulticastCore::is_answer(word, call); }, seen));
    }
    /// Position 1 of a chain, when the calls so far have been run.
    void collect(std::uint64_t call) {
        await_answer(2, call);
        static_cast<void>(this->poll(1));
    }
    /// By the initiator, when all have run the call.
    void end(std::uint32_t slot, std::uint64_t call) {
        for (std::uint32_t p = 1; p < Size; ++p) {
            require(this->result[p].read() == call, "it has run before it answers");
        }
        this->core.finish(slot);
    }
    void wait_and_end(std::uint32_t slot, std::uint64_t call) {
        this->wait(0, slot);
        end(slot, call);
    }
};

template <std::uint32_t Size, std::uint64_t Calls, Tree tree, Bug bug = Bug::none>
struct Telling : Answering<Size, tree> {
    static constexpr int threads = static_cast<int>(Size);

    void run(int thread) {
        const auto own = static_cast<std::uint32_t>(thread);
        for (std::uint64_t call = 1; call <= Calls; ++call) {
            if (own == 0) {
                const std::uint32_t slot = this->begin(0, call);
                if (bug != Bug::does_not_wait) {
                    this->wait(0, slot);
                }
                this->end(slot, call);
                continue;
            }
            this->serve(own, call);
            if (own == 1 && Size > 2 && tree != Tree::flat && bug != Bug::does_not_collect) {
                this->collect(call);
            }
        }
    }
    void finish() {
        for (std::uint32_t p = 1; p < Size; ++p) {
            require(this->runs[p] == Calls, "each member runs each call once");
        }
    }
};

/// Position 1 runs the call and leaves; nobody but the leaf wakes the initiator then.
struct HandingOver : Answering<3, Tree::chain> {
    static constexpr int threads = 3;

    void run(int thread) {
        if (thread == 0) {
            wait_and_end(begin(0, 1), 1);
            return;
        }
        serve(static_cast<std::uint32_t>(thread), 1);
        if (thread == 1) {
            leave(1);
        }
    }
};

/// Position 1 sleeps until it has answered.
struct Sleeping : Answering<3, Tree::chain> {
    static constexpr int threads = 3;

    void run(int thread) {
        if (thread == 0) {
            wait_and_end(begin(0, 1), 1);
        } else if (thread == 1) {
            park(1, [&] {
                const std::uint64_t own = core.answer(0, 1).load(std::memory_order_relaxed);
                return MulticastCore::is_answer(own, 1);
            });
        } else {
            serve(2, 1);
        }
    }
};

/// The initiator does not wait for the answers, for everybody is through; position 1 collects for
/// the first call when the second one uses the slot.
struct Overtaking : Answering<3, Tree::chain> {
    static constexpr int threads = 3;

    void await_done(std::uint32_t p) {
        AwaitWaiter waiter;
        std::uint64_t seen = 0;
        static_cast<void>(waiter.await(
            core.done(0, p), std::memory_order_relaxed, [](std::uint64_t at) { return at == 1; },
            seen));
    }
    void run(int thread) {
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 1);
            await_done(1);
            await_done(2);
            require(core.is_through(slot), "all have run it");
            end(slot, 1);
            wait_and_end(begin(0, 2), 2);
        } else if (thread == 1) {
            serve(1, 2);
            collect(2);
        } else {
            serve(2, 2);
        }
    }
    void finish() { require(runs[1] == 2 && runs[2] == 2, "each call once"); }
};

/// The initiator may forward for position 1, which collects all the same.
struct TakingOver : Answering<3, Tree::chain> {
    static constexpr int threads = 3;

    void run(int thread) {
        if (thread == 0) {
            const std::uint32_t slot = begin(0, 1);
            core.take_over(slot, 0);
            wait_and_end(slot, 1);
            return;
        }
        serve(static_cast<std::uint32_t>(thread), 1);
        if (thread == 1) {
            collect(1);
        }
    }
    void finish() { require(runs[1] == 1 && runs[2] == 1, "each member runs it once"); }
};

} // namespace

int main(int argc, char** argv) {
    using enum Tree;
    const Options few{.preemptions_max = 2};
    const Options fewer{.preemptions_max = 1};
    return run_worlds(
        argc, argv,
        {
            holds<Telling<2, 2, flat>>("answers: 1 member, 2 calls", few),
            holds<Telling<3, 1, flat>>("answers: 2 members", fewer),
            holds<Telling<3, 1, chain>>("answers: 2 members, chain", fewer),
            holds<HandingOver>("answers: who forwards leaves", fewer),
            holds<Sleeping>("answers: who forwards sleeps", fewer),
            holds<TakingOver>("answers: the initiator may forward", fewer),
            holds_large<Telling<3, 2, chain>>("answers: 2 members, chain, 2 calls",
                                              {.executions_max = 5'000, .random = true}),
            holds_large<Telling<3, 2, split>>("answers: 2 members, split, 2 calls",
                                              {.executions_max = 5'000, .random = true}),
            holds_large<HandingOver>("answers: who forwards leaves, 2 preemptions", few),
            holds_large<Overtaking>("answers: collects when the call is over", fewer),
            caught<Telling<2, 1, flat, Bug::does_not_wait>>("answers: does not wait"),
            caught<Telling<3, 1, chain, Bug::does_not_collect>>("answers: nobody collects"),
            caught<Telling<2, 2, flat>>("answers: release is relaxed", Fault::release_is_relaxed),
            caught<Telling<2, 2, flat>>("answers: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Sleeping>("answers: no light fence", Fault::no_light_fence),
        });
}
