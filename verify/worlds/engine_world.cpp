// SPDX-License-Identifier: Apache-2.0
// src/team/engine.hpp on plans, with all its channels: several operations in a row, so that slots
// and buffers are used again. After a barrier everybody's letters are there; broadcast, reduce and
// allreduce deliver the right values; no buffer is touched while a peer may still use it.
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "plan/copies.hpp"
#include "plan/generate/families.hpp"
#include "plan/performed.hpp"
#include "team/compile.hpp"
#include "team/engine.hpp"
#include "team/sample_plans.hpp"
#include "worlds/parking_waiter.hpp"
#include "worlds/payload.hpp"

#include <algorithm>
#include <deque>

namespace {

using namespace corymb::verify;
using namespace corymb::team_test;
using corymb::Collective;
using corymb::Mechanism;
using corymb::Plan;
using corymb::Rank;
using corymb::StepKind;

void add(const void* left, const void* right, void* out, std::size_t count, void* /*context*/) {
    for (std::size_t i = 0; i < count * sizeof(std::uint64_t); i += sizeof(std::uint64_t)) {
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::memcpy(&a, static_cast<const std::byte*>(left) + i, sizeof a);
        std::memcpy(&b, static_cast<const std::byte*>(right) + i, sizeof b);
        a += b;
        std::memcpy(static_cast<std::byte*>(out) + i, &a, sizeof a);
    }
}

/// What rank `rank` contributes to block `block` of operation `operation`.
std::uint64_t contribution(std::uint64_t operation, std::size_t rank, std::size_t block) {
    return (operation + 1) * (rank * 100 + 1) + block * 10'000;
}

template <class Waiter>
Waiter make_waiter(Spot& spot) {
    if constexpr (std::is_constructible_v<Waiter, Spot&>) {
        return Waiter{spot};
    } else {
        return Waiter{};
    }
}

/// What becomes of short messages by pull: with layouts they come along with their address; where
/// each rank is a process, and the plan is for any length, they go through cells.
enum class Short : std::uint8_t { lies_there, encloses, in_cells };

template <class Waiter>
class EngineInstance final : public Instance {
public:
    EngineInstance(const Plan& plan, std::uint64_t operations, Short how)
        : plan_(plan), operations_(operations), how_(how),
          fabric_(corymb::Arena(memory_), plan.size()),
          readers_(corymb::team::publication_readers(plan)) {
        for (Rank rank = 0; how == Short::in_cells && rank < plan.size(); ++rank) {
            fabric_.state(rank).pid = static_cast<std::uint32_t>(rank + 1);
        }
        for (Rank rank = 0; rank < plan.size(); ++rank) {
            ranks_.emplace_back(*this, rank);
        }
    }

    void run(int thread) override {
        Member& me = ranks_[static_cast<std::size_t>(thread)];
        for (std::uint64_t operation = 0; operation < operations_; ++operation) {
            fill(me, operation);
            corymb::team::Activation<ExplorerEnv> activation{&me.program, &me.operands};
            if (operation % 2 == 0) { // Both ways to begin; one a team with one operation.
                activation.step = me.engine.lead(me.program, me.operands);
            }
            require(me.engine.run(activation), "every step is done");
            check(me, operation);
        }
    }

private:
    struct Member {
        Member(EngineInstance& world, Rank own)
            : rank(static_cast<std::size_t>(own)),
              waiter(make_waiter<Waiter>(world.fabric_.state(own).spot)), engine(waiter, own),
              program(corymb::team::Compiler<ExplorerEnv>(world.fabric_, own, peers)
                          .compile_part(world.plan_, 0, world.readers_)),
              input(world.plan_.block_count), output(world.plan_.block_count),
              scratch(world.plan_.scratch_blocks), letters(world.operations_) {
            operands.input = reinterpret_cast<const std::byte*>(input.data());
            operands.output = reinterpret_cast<std::byte*>(output.data());
            operands.scratch = reinterpret_cast<std::byte*>(scratch.data());
            operands.block_bytes = operands.element_bytes = sizeof(std::uint64_t);
            operands.bytes = world.plan_.block_count * sizeof(std::uint64_t);
            if (world.how_ == Short::encloses) {
                operands.input_layout = operands.output_layout = {&first, &operands.bytes};
            }
            operands.combine = add;
        }
        Member(const Member&) = delete;
        Member& operator=(const Member&) = delete;

        std::size_t rank;
        Waiter waiter;
        corymb::team::Engine<ExplorerEnv, Waiter> engine;
        corymb::team::Compiler<ExplorerEnv>::Peers peers;
        corymb::team::Program<ExplorerEnv> program;
        corymb::team::Operands operands;
        std::size_t first = 0;
        std::vector<std::uint64_t> input, output, scratch;
        std::deque<Letter> letters;
    };

    [[nodiscard]] bool is_root(const Member& me) const {
        return me.rank == static_cast<std::size_t>(plan_.root);
    }

    void fill(Member& me, std::uint64_t operation) {
        if (plan_.op == Collective::barrier) {
            me.letters[operation].write(operation);
            return;
        }
        const bool is_broadcast = plan_.op == Collective::broadcast;
        if (is_broadcast && !is_root(me)) {
            return;
        }
        auto& data = is_broadcast ? me.output : me.input;
        ExplorerEnv::note_write(data.data(), me.operands.bytes);
        for (std::size_t block = 0; block < data.size(); ++block) {
            data[block] = contribution(operation, me.rank, block);
        }
    }

    void check(Member& me, std::uint64_t operation) {
        if (plan_.op == Collective::barrier) {
            for (const Member& other : ranks_) {
                require(other.letters[operation].read() == operation, "everybody came");
            }
            return;
        }
        if (plan_.op == Collective::reduce && !is_root(me)) {
            return;
        }
        ExplorerEnv::note_read(me.output.data(), me.operands.bytes);
        for (std::size_t block = 0; block < me.output.size(); ++block) {
            require(me.output[block] == expected(operation, block), "the result is right");
        }
    }

    [[nodiscard]] std::uint64_t expected(std::uint64_t operation, std::size_t block) const {
        if (plan_.op == Collective::broadcast) {
            return contribution(operation, static_cast<std::size_t>(plan_.root), block);
        }
        std::uint64_t sum = 0;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            sum += contribution(operation, rank, block);
        }
        return sum;
    }

    const Plan& plan_;
    std::uint64_t operations_;
    Short how_;
    corymb::HeapMemory memory_;
    corymb::team::Fabric<ExplorerEnv> fabric_;
    corymb::team::Readers readers_;
    std::deque<Member> ranks_;
};

template <class Waiter = AwaitWaiter>
World runs(const std::string& what, Plan plan, std::uint64_t operations,
           const Options& options = {}, Short how = Short::lies_there) {
    const int ranks = plan.size();
    const std::string name = "engine: " + std::string(corymb::to_string(plan.op)) + " " + what +
                             ", " + std::to_string(ranks) + " ranks, " +
                             std::to_string(operations) + (operations == 1 ? " time" : " times");
    const auto shared = std::make_shared<const Plan>(std::move(plan));
    Program program{ranks, [shared, operations, how] {
                        return std::make_unique<EngineInstance<Waiter>>(*shared, operations, how);
                    }};
    return {name, std::move(program), options};
}

World must_fail(World world, Fault fault = Fault::none) {
    world.must_fail = true;
    world.options.fault = fault;
    world.name += ", seeded bug";
    return world;
}

World large(World world) {
    world.large = true;
    return world;
}

/// The plans of the generators; where several give the same steps, the first one's.
void add_generated(std::vector<World>& worlds, Collective op, Rank size, std::uint64_t operations) {
    const auto pairs = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    const corymb::CostView costs(size, std::vector<float>(pairs, 1), std::vector<float>(pairs, 3));
    std::vector<Plan> made;
    for (const corymb::Family& family : corymb::families()) {
        const corymb::GenerateInput input{.costs = costs, .root = size - 1, .moves = 1000};
        if (!family.applies(op, input)) {
            continue;
        }
        Plan plan = family.make(op, input);
        const auto is_same = [&](const Plan& other) {
            return other.steps == plan.steps;
        };
        if (std::none_of(made.begin(), made.end(), is_same)) {
            made.push_back(plan);
            const std::string name = "by " + plan.algorithm;
            worlds.push_back(large(runs(name, std::move(plan), operations)));
        }
    }
}

/// As a team performs it.
Plan ahead(Plan plan) {
    return corymb::plan::performed(std::move(plan), ExplorerEnv::cell_ring_slots);
}

/// With short messages that take a copy along.
Plan copying(Plan plan) {
    return corymb::plan::with_copies(std::move(plan), 1, ExplorerEnv::cell_ring_slots);
}

Plan without(Plan plan, std::size_t rank, StepKind kind) {
    auto& steps = plan.steps[rank];
    for (std::size_t i = steps.size(); i-- > 0;) {
        if (steps[i].kind == kind) {
            steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
            return plan;
        }
    }
    return plan;
}

std::vector<World> seeded_bugs() {
    using enum Mechanism;
    return {
        must_fail(runs("by dissemination without a wait",
                       without(dissemination(3), 1, StepKind::wait), 1)),
        must_fail(runs("by pull without an acknowledgement",
                       without(star_broadcast(2, 0, 8, pull), 0, StepKind::wait), 2)),
        must_fail(runs("by put and fold without an acknowledgement",
                       without(halves_reduce(16, true), 0, StepKind::wait), 2)),
        must_fail(runs("by published address without an acknowledgement",
                       without(shared_broadcast(3, 0, 8, pull), 0, StepKind::wait), 2)),
        must_fail(runs("over lines, release is relaxed", star_broadcast(2, 0, 8, line), 1),
                  Fault::release_is_relaxed),
        must_fail(runs<ParkingWaiter<0>>("by dissemination, parking without light fence",
                                         dissemination(2), 1),
                  Fault::no_light_fence),
    };
}

std::vector<World> all_worlds() {
    using enum Mechanism;
    constexpr std::uint64_t any = corymb::any_part_bytes;
    // The sender fills all slots and sleeps before the receiver runs.
    const Options unpreempted{.preemptions_max = 0};
    const Options two{.preemptions_max = 2};
    const Options random{.executions_max = 5'000, .random = true};
    std::vector<World> worlds{
        runs("by dissemination", dissemination(2), 3),
        runs("by dissemination", dissemination(3), 2),
        large(runs("by dissemination", dissemination(4), 2)),
        runs("by exchange", meeting(), 3),
        runs("by publication", central(3), 2),
        large(runs("by publication", central(4), 2)),
        runs("over lines", star_broadcast(2, 0, 8, line), 10),
        runs("over lines, 5 blocks", star_broadcast(2, 0, 40, line, 5), 2),
        runs("over cells", star_broadcast(2, 0, 8, cells), 10),
        runs("by pull", star_broadcast(3, 0, 8, pull), 2),
        runs("by publication", shared_broadcast(3, 0, 8, line), 2),
        large(runs("by publication, slots used again", shared_broadcast(2, 0, 8, line), 10)),
        runs("by published address", shared_broadcast(3, 0, 8, pull), 2),
        runs("by chain over lines", chain_reduce(3, 8, line), 2),
        runs("by chain over cells", chain_reduce(3, 8, cells), 2),
        runs("by chain by pull", chain_reduce(3, 8, pull), 2),
        runs("with the address", star_broadcast(3, 0, 8, pull), 2, {}, Short::encloses),
        runs("with the address, slots used again", star_broadcast(2, 0, 8, pull), 10, {},
             Short::encloses),
        runs("by chain with the address", chain_reduce(3, 8, pull), 2, {}, Short::encloses),
        runs("with the address, not acknowledged", copying(star_broadcast(3, 0, any, pull)), 2, {},
             Short::encloses),
        runs("with the address, not acknowledged, slots used again",
             copying(star_broadcast(2, 0, any, pull)), 40, {}, Short::encloses),
        runs("in a cell, slots used again", copying(star_broadcast(2, 0, any, pull)), 20, {},
             Short::in_cells),
        runs("by chain in a cell", copying(chain_reduce(3, any, pull)), 2, {}, Short::in_cells),
        runs("in turns over cells", allreduce_in_turns(), 2),
        runs("over cells, sent ahead", ahead(allreduce_in_turns()), 4),
        runs<ParkingWaiter<0>>("over cells, sent ahead, parking", ahead(allreduce_in_turns()), 2,
                               unpreempted),
        runs("by put", halves_reduce(16, false), 2),
        runs("by put and fold", halves_reduce(16, true), 2),
        runs<ParkingWaiter<0>>("by put and fold, parking", halves_reduce(16, true), 1, two),
        runs<ParkingWaiter<0>>("by dissemination, parking", dissemination(2), 1),
        runs<ParkingWaiter<0>>("by exchange, parking", meeting(), 1),
        runs<ParkingWaiter<0>>("by publication, parking", central(2), 1),
        runs<ParkingWaiter<0>>("over lines, parking", star_broadcast(2, 0, 8, line), 1),
        runs<ParkingWaiter<0>>("over cells, parking", star_broadcast(2, 0, 8, cells), 1),
        runs<ParkingWaiter<0>>("by pull, parking", star_broadcast(2, 0, 8, pull), 1),
        runs<ParkingWaiter<0>>("by publication, parking", shared_broadcast(2, 0, 8, line), 1),
        large(runs<ParkingWaiter<0>>("by publication, three parking", central(3), 1, random)),
        large(runs<ParkingWaiter<0>>("over lines, three parking", star_reduce(3, 8), 1, random)),
        runs<ParkingWaiter<0>>("over lines, parking, credit", star_broadcast(2, 0, 8, line), 9,
                               unpreempted),
        runs<ParkingWaiter<0>>("over cells, parking, credit", star_broadcast(2, 0, 8, cells), 9,
                               unpreempted),
        runs<ParkingWaiter<0>>("by publication, parking, credit", shared_broadcast(2, 0, 8, line),
                               9, unpreempted),
        large(runs<ParkingWaiter<1>>("by dissemination, parking", dissemination(3), 2, random)),
    };
    for (World& world : seeded_bugs()) {
        worlds.push_back(std::move(world));
    }
    for (const Rank size : {2, 3, 4}) {
        for (const Collective op : {Collective::barrier, Collective::broadcast, Collective::reduce,
                                    Collective::allreduce}) {
            add_generated(worlds, op, size, size == 4 ? 1 : 2);
        }
    }
    return worlds;
}

} // namespace

int main(int argc, char** argv) {
    return run_worlds(argc, argv, all_worlds());
}
