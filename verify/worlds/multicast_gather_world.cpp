// SPDX-License-Identifier: Apache-2.0
// src/multicast/counters.hpp within core.hpp: acknowledgements up a tree of counters that is not
// the tree of the call. All positions but the first answer at the counter of the last one, which
// may be a member or not, leave, or be forwarded for. The initiator is position 0 and no member.
#include "explorer/run_worlds.hpp"
#include "worlds/multicast_group.hpp"
#include "worlds/multicast_telling.hpp"

namespace {

using namespace corymb::verify;
enum class Bug : std::uint8_t { none, does_not_wait };

template <std::uint32_t Size, std::uint32_t Members, std::uint64_t Calls, Tree tree,
          Bug bug = Bug::none>
using Telling = TellingMembers<Size, Members, Calls, tree, true, Back::gather, bug == Bug::none>;

/// The position of the counter leaves during the calls. It is counted, or not, by everybody.
template <std::uint64_t Calls>
struct Leaving : Group<3, 1, Tree::flat, true, Back::gather> {
    static constexpr int threads = 3;
    Letter used;

    Leaving() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        if (thread == 2) {
            require(used.read() == 0, "it stands while a member uses it");
            leave(2);
        } else if (thread == 1) {
            serve(1, Calls);
        } else {
            for (std::uint64_t call = 1; call <= Calls; ++call) {
                const std::uint32_t slot = begin(0, call);
                wait(0, slot);
                core.finish(slot);
            }
            used.write(7);
        }
    }
    void finish() { require(runs[2] <= Calls, "nobody runs a call twice"); }
};

/// The initiator may forward for position 1, which nobody counts.
struct TakingOver : Group<3, 1, Tree::chain, true, Back::gather> {
    static constexpr int threads = 3;

    TakingOver() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        if (thread != 0) {
            serve(static_cast<std::uint32_t>(thread), 1);
            return;
        }
        const std::uint32_t slot = begin(0, 1);
        core.take_over(slot, 0);
        wait(0, slot);
        require(result[1].read() == 1 && result[2].read() == 1, "both have run it");
        core.finish(slot);
    }
    void finish() { require(runs[1] == 1 && runs[2] == 1, "each member runs it once"); }
};

/// Both initiators use one slot, whose counters the second finds as the first left them.
struct Handing : Group<4, 1, Tree::flat, true, Back::gather> {
    static constexpr int threads = 3;

    Handing() {
        core.join(1);
        core.join(2);
    }
    void run(int thread) {
        if (thread != 0) {
            serve(static_cast<std::uint32_t>(thread), 2);
            return;
        }
        for (const std::uint32_t own : {0U, 3U}) {
            const std::uint32_t slot = begin(own, own + 1);
            wait(own, slot);
            require(result[1].read() == own + 1 && result[2].read() == own + 1, "both have run it");
            core.finish(slot);
        }
    }
    void finish() { require(runs[1] == 2 && runs[2] == 2, "each call once"); }
};

} // namespace

int main(int argc, char** argv) {
    using enum Tree;
    const Options few{.preemptions_max = 2};
    const Options fewer{.preemptions_max = 1};
    return run_worlds(
        argc, argv,
        {
            holds<Telling<2, 1, 2, flat>>("gather: 1 member, 2 calls", few),
            holds<Telling<3, 2, 1, flat>>("gather: 2 members", few),
            holds<Telling<3, 2, 2, chain>>("gather: 2 members, chain, 2 calls", fewer),
            holds<Telling<4, 2, 2, split>>("gather: 2 members, a counter of nobody, 2 calls",
                                           fewer),
            holds<Leaving<1>>("gather: the counter's position leaves during a call", few),
            holds<Leaving<2>>("gather: the counter's position leaves during 2 calls", fewer),
            holds<TakingOver>("gather: the initiator may forward", few),
            holds<Handing>("gather: 2 initiators, 1 slot", fewer),
            holds_large<Telling<4, 3, 1, chain>>("gather: 3 members, chain",
                                                 {.executions_max = 20'000, .random = true}),
            holds_large<Telling<3, 2, 2, chain>>("gather: 2 members, chain, 2 preemptions", few),
            caught<Telling<2, 1, 1, flat, Bug::does_not_wait>>("gather: does not wait"),
            caught<Telling<3, 2, 1, flat>>("gather: release is relaxed", Fault::release_is_relaxed),
            caught<Telling<3, 2, 1, flat>>("gather: acquire is relaxed", Fault::acquire_is_relaxed),
        });
}
