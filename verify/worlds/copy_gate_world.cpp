// SPDX-License-Identifier: Apache-2.0
// src/channel/copy_gate.hpp: whoever gives up and drains the gates may write (free) its letter; no
// owner of a gate is reading it then, nor will be. Of two that give up, one may only have seen that
// the other broke the team.
#include "channel/copy_gate.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/payload.hpp"

namespace {

using namespace corymb::verify;
using Gate = corymb::channel::CopyGate<ExplorerEnv>;

using corymb::channel::Copy;

enum class Bug : std::uint8_t { none, copies_in_any_case, does_not_drain };

/// Threads 0 to Owners - 1 copy the letters of the `Quitters` others, or if `into_process` write
/// them as ranks of other processes do and go on with a copy elsewhere, `Copies` times.
template <std::size_t Owners, std::size_t Quitters, int Copies, Bug bug = Bug::none,
          Copy how = Copy::ordinary>
struct GivingUp {
    static constexpr int threads = static_cast<int>(Owners + Quitters);
    Gate gates[Owners];
    Gate::Flag broken;
    Letter letters[Quitters];

    GivingUp() {
        Explorer::current().name(gates, sizeof gates, "gates");
        Explorer::current().name(&broken, sizeof broken, "broken");
        Explorer::current().name(letters, sizeof letters, "letters");
    }
    void run(int thread) {
        const auto number = static_cast<std::size_t>(thread);
        if (number < Owners) {
            copy(gates[number]);
        } else {
            give_up(number - Owners);
        }
    }

private:
    void copy(Gate& gate) {
        for (int i = 0; i < Copies; ++i) {
            const bool may_copy = gate.enter(broken, how);
            if (may_copy || bug == Bug::copies_in_any_case) {
                if constexpr (how == Copy::into_process) {
                    letters[0].write(2);
                } else {
                    for (const Letter& letter : letters) {
                        static_cast<void>(letter.read());
                    }
                }
            }
            gate.leave();
            if constexpr (how == Copy::into_process) {
                static_cast<void>(gate.enter(broken));
                gate.leave();
            }
        }
    }
    void give_up(std::size_t quitter) {
        AwaitWaiter waiter;
        if (quitter == 0) {
            broken.store(1, std::memory_order_relaxed);
        } else {
            std::uint32_t seen = 0;
            static_cast<void>(waiter.await(
                broken, std::memory_order_relaxed, [](std::uint32_t value) { return value != 0; },
                seen));
        }
        if constexpr (bug != Bug::does_not_drain) {
            Gate::drain_begin();
            for (Gate& gate : gates) {
                if constexpr (how == Copy::into_process) {
                    require(gate.drain_writes(waiter), "the waiter does not give up");
                } else {
                    require(gate.drain(waiter), "the waiter does not give up");
                }
            }
        }
        letters[quitter].write(1);
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<GivingUp<1, 1, 2>>("gate: one copies twice, one gives up"),
            holds<GivingUp<2, 1, 1>>("gate: two copy, one gives up"),
            holds<GivingUp<1, 2, 1>>("gate: one copies, two give up"),
            holds<GivingUp<1, 1, 2, Bug::none, Copy::into_process>>(
                "gate: one writes into a process twice, one gives up"),
            caught<GivingUp<1, 1, 1, Bug::none, Copy::into_process>>(
                "gate: release of a writer is relaxed", Fault::release_is_relaxed),
            caught<GivingUp<1, 1, 1, Bug::none, Copy::into_process>>(
                "gate: acquire after a writer is relaxed", Fault::acquire_is_relaxed),
            caught<GivingUp<1, 1, 1, Bug::none, Copy::into_process>>(
                "gate: no light fence of a writer", Fault::no_light_fence),
            caught<GivingUp<1, 1, 1>>("gate: release is relaxed", Fault::release_is_relaxed),
            caught<GivingUp<1, 1, 1>>("gate: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<GivingUp<1, 1, 1>>("gate: no light fence", Fault::no_light_fence),
            caught<GivingUp<1, 1, 1>>("gate: no heavy fence", Fault::no_heavy_fence),
            caught<GivingUp<1, 1, 1, Bug::copies_in_any_case>>("gate: copies though broken"),
            caught<GivingUp<1, 1, 1, Bug::does_not_drain>>("gate: leaves without draining"),
        });
}
