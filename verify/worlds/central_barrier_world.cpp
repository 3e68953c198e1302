// SPDX-License-Identifier: Apache-2.0
// src/team/central_barrier.hpp: nobody leaves a phase before everybody came, what was written
// before is visible after, the completion step comes in between, and sleepers are woken.
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "team/central_barrier.hpp"
#include "worlds/payload.hpp"

namespace {

using namespace corymb::verify;
using Barrier = corymb::team::CentralBarrier<ExplorerEnv>;

/// As corymb::barrier: `Looks` looks awake, then asleep until the phase is complete.
template <int Looks>
void wait_asleep(Barrier& barrier, std::uint32_t phase) {
    for (int i = 0; i < Looks; ++i) {
        if (barrier.is_complete(phase)) {
            return;
        }
    }
    const auto done = [&] {
        return barrier.is_complete(phase);
    };
    require(barrier.sleepers().park(
                done, [] { return false; }, [] { return 1'000'000'000; }),
            "it is woken");
}

enum class Bug : std::uint8_t { none, completes_before_the_completion_step };

template <std::size_t Threads, std::size_t Phases, int Looks = 0, Bug bug = Bug::none>
struct Phased {
    static constexpr int threads = static_cast<int>(Threads);
    Barrier barrier{Threads};
    Letter letter[Phases][Threads];
    Letter summary; ///< Written by the completion step, reused in every phase.

    Phased() {
        Explorer::current().name(&barrier, sizeof barrier, "barrier");
        Explorer::current().name(letter, sizeof letter, "letters");
        Explorer::current().name(&summary, sizeof summary, "summary");
    }
    void run(int thread) {
        for (std::uint64_t i = 0; i < Phases; ++i) {
            letter[i][thread].write(i + 1);
            const auto arrival = barrier.arrive(1);
            if (arrival.last) {
                complete(arrival.phase, i);
            }
            wait_asleep<Looks>(barrier, arrival.phase);
            require(summary.read() == Threads * (i + 1), "the completion step saw everybody");
        }
    }
    void complete(std::uint32_t phase, std::uint64_t i) {
        if (bug == Bug::completes_before_the_completion_step) {
            barrier.complete(phase);
        }
        std::uint64_t sum = 0;
        for (const Letter& one : letter[i]) {
            sum += one.read();
        }
        summary.write(sum);
        if (bug == Bug::none) {
            barrier.complete(phase);
        }
    }
};

/// One thread leaves after the first phase; the others go on without it.
template <std::size_t Threads>
struct Dropping {
    static constexpr int threads = static_cast<int>(Threads);
    Barrier barrier{Threads};
    Letter letter[Threads];

    void run(int thread) {
        letter[thread].write(7);
        if (thread == 0) {
            barrier.drop();
            arrive();
            return;
        }
        for (int phase = 0; phase < 2; ++phase) {
            wait_asleep<0>(barrier, arrive());
            for (const Letter& one : letter) {
                require(one.read() == 7, "everybody came");
            }
        }
    }
    std::uint32_t arrive() {
        const auto arrival = barrier.arrive(1);
        if (arrival.last) {
            barrier.complete(arrival.phase);
        }
        return arrival.phase;
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Phased<2, 2>>("central barrier: 2 threads, 2 phases, 2 preemptions",
                                {.preemptions_max = 2}),
            holds<Phased<2, 2, 1>>("central barrier: 2 threads, 2 phases, 1 look awake"),
            holds<Phased<2, 1>>("central barrier: 2 threads, idle wake-ups",
                                {.spurious_wakeups = 2}),
            holds<Phased<3, 1>>("central barrier: 3 threads, 1 phase, 1 preemption",
                                {.preemptions_max = 1}),
            holds_large<Phased<3, 2>>("central barrier: 3 threads, 2 phases, random walks",
                                      {.executions_max = 20'000, .random = true}),
            holds<Dropping<2>>("central barrier: 2 threads, one drops"),
            holds_large<Dropping<3>>("central barrier: 3 threads, one drops, 1 preemption",
                                     {.preemptions_max = 1}),
            caught<Phased<2, 1>>("central barrier: no light fence", Fault::no_light_fence),
            caught<Phased<2, 1>>("central barrier: no heavy fence", Fault::no_heavy_fence),
            caught<Phased<2, 1>>("central barrier: sleeps without comparing",
                                 Fault::no_futex_compare),
            caught<Phased<2, 1>>("central barrier: release is relaxed", Fault::release_is_relaxed),
            caught<Phased<2, 1>>("central barrier: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Phased<2, 1, 0, Bug::completes_before_the_completion_step>>(
                "central barrier: opens before the completion step"),
        });
}
