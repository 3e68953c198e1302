// SPDX-License-Identifier: Apache-2.0
// src/team/engine.hpp with two operations under way at once, each on a lane of its own. Every rank
// looks at both with a waiter that gives up, so that any await may fail, and then finishes them,
// odd ranks the second one first where no rank needs another one's answer for that. Both deliver
// what they would have alone.
#include "channel/look_once.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "plan/copies.hpp"
#include "team/compile.hpp"
#include "team/engine.hpp"
#include "team/sample_plans.hpp"
#include "worlds/payload.hpp"

#include <array>
#include <deque>

namespace {

using namespace corymb::verify;
using namespace corymb::team_test;
using corymb::Collective;
using corymb::Mechanism;
using corymb::Plan;
using corymb::Rank;

constexpr std::uint64_t any = corymb::any_part_bytes;

/// With short messages that take a copy along.
Plan copying(Plan plan) {
    return corymb::plan::with_copies(std::move(plan), 1, ExplorerEnv::cell_ring_slots);
}

enum class Bug : std::uint8_t { none, same_lane };
enum class Finish : std::uint8_t { in_order, crosswise };

/// What one rank does on one lane: barriers with letters, or broadcasts of one block.
struct Work {
    Work(corymb::team::Fabric<ExplorerEnv>& fabric, const Plan& of, Rank own,
         const corymb::team::Readers& readers, std::uint64_t number, std::uint64_t operations)
        : plan(&of), rank(own), program(corymb::team::Compiler<ExplorerEnv>(fabric, own, peers)
                                            .compile_part(of, number, readers)),
          letters(operations) {
        operands.output = reinterpret_cast<std::byte*>(&value);
        operands.block_bytes = operands.element_bytes = sizeof value;
        operands.bytes = of.block_count * sizeof value;
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    void begin(std::uint64_t operation) {
        activation = {&program, &operands};
        if (plan->op == Collective::barrier) {
            letters[operation].write(operation);
        } else if (rank == plan->root) {
            ExplorerEnv::note_write(&value, sizeof value);
            value = sent(operation);
        }
    }
    [[nodiscard]] std::uint64_t sent(std::uint64_t operation) const {
        return operation * 10 + program.steps.size();
    }

    const Plan* plan;
    Rank rank;
    corymb::team::Compiler<ExplorerEnv>::Peers peers;
    corymb::team::Program<ExplorerEnv> program;
    corymb::team::Operands operands;
    corymb::team::Activation<ExplorerEnv> activation;
    std::uint64_t value = 0;
    std::deque<Letter> letters;
};

class LanesInstance final : public Instance {
public:
    LanesInstance(const std::array<Plan, 2>& plans, std::uint64_t operations, Finish finish,
                  Bug bug)
        : operations_(operations), finish_(finish), fabrics_(plans[0].size()) {
        for (std::size_t lane = 0; lane < plans.size(); ++lane) {
            readers_[lane] = corymb::team::publication_readers(plans[lane]);
            auto& fabric = fabrics_.of[bug == Bug::same_lane ? 0 : lane];
            for (Rank rank = 0; rank < plans[lane].size(); ++rank) {
                if (plans[lane].bytes_max == any) { // Through cells, if each is a process.
                    fabric.state(rank).pid = static_cast<std::uint32_t>(rank + 1);
                }
            }
            for (Rank rank = 0; rank < plans[lane].size(); ++rank) {
                work_[lane].emplace_back(fabric, plans[lane], rank, readers_[lane], lane,
                                         operations);
            }
        }
    }

    void run(int thread) override {
        const auto rank = static_cast<std::size_t>(thread);
        auto& state = fabrics_.of[0].state(static_cast<Rank>(thread));
        corymb::channel::LookOnce once;
        corymb::team::Engine<ExplorerEnv, corymb::channel::LookOnce> looking(
            once, -1, {&state.gate, &broken_});
        AwaitWaiter waiter;
        corymb::team::Engine<ExplorerEnv, AwaitWaiter> waiting(waiter);
        for (std::uint64_t operation = 0; operation < operations_; ++operation) {
            for (auto& lane : work_) {
                lane[rank].begin(operation);
                static_cast<void>(looking.run(lane[rank].activation));
            }
            const std::size_t first = finish_ == Finish::crosswise ? rank : 0;
            for (const std::size_t turn : {first, first + 1}) {
                Work& work = work_[turn % 2][rank];
                require(waiting.run(work.activation), "every step is done");
            }
            check(rank, operation);
        }
    }

private:
    void check(std::size_t rank, std::uint64_t operation) {
        for (auto& lane : work_) {
            Work& own = lane[rank];
            if (own.plan->op != Collective::barrier) {
                ExplorerEnv::note_read(&own.value, sizeof own.value);
                const auto& root = lane[static_cast<std::size_t>(own.plan->root)];
                require(own.value == root.sent(operation), "the lane's own value arrives");
                continue;
            }
            for (const Work& other : lane) {
                require(other.letters[operation].read() == operation, "everybody came");
            }
        }
    }

    using Fabric = corymb::team::Fabric<ExplorerEnv>;

    std::uint64_t operations_;
    Finish finish_;
    struct Fabrics {
        explicit Fabrics(int size)
            : arena(memory), of{Fabric(arena, size, 0), Fabric(arena, size, 1)} {}
        corymb::HeapMemory memory;
        corymb::Arena arena;
        std::array<Fabric, 2> of;
    } fabrics_;
    ExplorerEnv::Atomic<std::uint32_t> broken_;
    std::array<corymb::team::Readers, 2> readers_;
    std::array<std::deque<Work>, 2> work_;
};

World lanes(const std::string& what, Plan first, Plan second, std::uint64_t operations,
            const Options& options = {}, Finish finish = Finish::in_order, Bug bug = Bug::none) {
    const int ranks = first.size();
    const auto plans = std::make_shared<const std::array<Plan, 2>>(
        std::array<Plan, 2>{std::move(first), std::move(second)});
    Program program{ranks, [plans, operations, finish, bug] {
                        return std::make_unique<LanesInstance>(*plans, operations, finish, bug);
                    }};
    World world{"lanes: " + what + ", " + std::to_string(ranks) + " ranks, " +
                    std::to_string(operations) + (operations == 1 ? " time" : " times"),
                std::move(program), options};
    world.must_fail = bug != Bug::none;
    return world;
}

std::vector<World> all_worlds() {
    using enum Mechanism;
    const auto star = [](int size, Rank root, Mechanism via) {
        return star_broadcast(size, root, 8, via);
    };
    const Options few{.preemptions_max = 2};
    const Options random{.executions_max = 5'000, .random = true};
    const auto crosswise = Finish::crosswise;
    return {
        lanes("two barriers", dissemination(2), dissemination(2), 1, {}, crosswise),
        lanes("two barriers", dissemination(2), dissemination(2), 2, {.preemptions_max = 1}),
        lanes("two barriers", dissemination(3), central(3), 1, {.preemptions_max = 0}),
        lanes("barrier and lines", dissemination(2), star(2, 0, line), 2, few, crosswise),
        lanes("lines both ways", star(2, 0, line), star(2, 1, line), 2, few, crosswise),
        lanes("lines and cells", star(2, 0, line), star(2, 1, cells), 2, few, crosswise),
        lanes("pull both ways", star(2, 0, pull), star(2, 1, pull), 1, few),
        lanes("short pull both ways", copying(star_broadcast(2, 0, any, pull)),
              copying(star_broadcast(2, 1, any, pull)), 1, few),
        lanes("short pull, rings used again", copying(star_broadcast(2, 0, any, pull)),
              star(2, 1, line), 10, {.preemptions_max = 0}),
        lanes("publications", shared_broadcast(2, 0, 8, line), shared_broadcast(2, 1, 8, pull), 1,
              few),
        lanes("rings used again", star(2, 0, line), star(2, 1, cells), 10, {.preemptions_max = 0}),
        lanes("many turns", star(3, 0, line), central(3), 3, random),
        lanes("two broadcasts on one lane", star(2, 0, line), star(2, 0, line), 1, {},
              Finish::in_order, Bug::same_lane),
    };
}

} // namespace

int main(int argc, char** argv) {
    return run_worlds(argc, argv, all_worlds());
}
