// SPDX-License-Identifier: Apache-2.0
// src/channel/wake_bell.hpp: nobody sleeps through a ring, with one sleeper and with two.
#include "channel/wake_bell.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"

namespace {

using namespace corymb::verify;
using Bell = corymb::channel::WakeBell<ExplorerEnv>;

/// Thread 0 counts up and rings each time; the others sleep until each count is there.
template <int Sleepers, std::uint64_t Rings>
struct Ringing {
    static constexpr int threads = 1 + Sleepers;
    ExplorerEnv::Atomic<std::uint64_t> count;
    Bell bell;

    void run(int thread) {
        for (std::uint64_t i = 1; i <= Rings; ++i) {
            if (thread == 0) {
                count.store(i, std::memory_order_relaxed);
                bell.ring();
                continue;
            }
            const auto done = [this, i] {
                return count.load(std::memory_order_relaxed) >= i;
            };
            require(
                bell.park(done, [] { return false; }, [] { return 1'000'000'000; }), "it is woken");
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Ringing<1, 2>>("wake bell: 1 sleeper, 2 rings"),
            holds<Ringing<2, 1>>("wake bell: 2 sleepers, 1 ring, 2 preemptions",
                                 {.preemptions_max = 2}),
            holds_large<Ringing<2, 1>>("wake bell: 2 sleepers, 1 ring"),
            holds_large<Ringing<2, 2>>("wake bell: 2 sleepers, 2 rings, random walks",
                                       {.executions_max = 10'000, .random = true}),
            caught<Ringing<1, 1>>("wake bell: no light fence", Fault::no_light_fence),
            caught<Ringing<1, 1>>("wake bell: no heavy fence", Fault::no_heavy_fence),
            caught<Ringing<1, 1>>("wake bell: no comparison", Fault::no_futex_compare),
        });
}
