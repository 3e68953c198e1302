// SPDX-License-Identifier: Apache-2.0
// The engine runs what the generators make, for every operation, on equal parts and on parts of
// different lengths. One thread plays all ranks in random turns.
#include "channel/env.hpp"
#include "channel/look_once.hpp"
#include "plan/channel_room.hpp"
#include "plan/generate/families.hpp"
#include "plan/performed.hpp"
#include "plan/places.hpp"
#include "team/compile.hpp"
#include "team/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace corymb {
namespace {

using Env = channel::StandardEnv;
using Waiter = channel::LookOnce;
using Flag = Env::Atomic<std::uint32_t>;
using Word = std::uint64_t;

void add_words(const void* left, const void* right, void* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        Word a = 0;
        Word b = 0;
        std::memcpy(&a, static_cast<const std::byte*>(left) + sizeof a * i, sizeof a);
        std::memcpy(&b, static_cast<const std::byte*>(right) + sizeof b * i, sizeof b);
        a += b;
        std::memcpy(static_cast<std::byte*>(out) + sizeof a * i, &a, sizeof a);
    }
}

/// Words of the part that rank `from` has for rank `to`.
using LengthOf = std::size_t (*)(Rank from, Rank to);

std::size_t equal_lengths(Rank, Rank) {
    return 37;
}
std::size_t unequal_lengths(Rank from, Rank to) {
    return static_cast<std::size_t>(from * 3 + to * 7) % 38;
}

/// Word i of what rank `from` has for rank `to`.
Word value(Rank from, Rank to, std::size_t i) {
    return (static_cast<Word>(from) + 1) * 1'000'003 + static_cast<Word>(to) * 1009 + 7 * i;
}

/// Which part of a buffer of `rank` is whose.
struct PartName {
    Rank from, to;
};

PartName part_of(const Plan& plan, Rank rank, Buffer buffer, Rank part) {
    const bool input = buffer == Buffer::input;
    switch (plan.op) {
    case Collective::gather:
    case Collective::allgather: return {input ? rank : part, 0};
    case Collective::scatter: return {plan.root, input ? part : rank};
    case Collective::alltoall: return input ? PartName{rank, part} : PartName{part, rank};
    case Collective::reduce_scatter: return {rank, input ? part : rank};
    default: return {rank, 0};
    }
}

struct Player {
    Player(const Plan& of, Rank own, LengthOf length, team::Fabric<Env>& fabric,
           const team::Readers& readers, const Flag& broken)
        : plan(of), rank(own), engine(waiter, -1, {&fabric.state(own).gate, &broken}),
          program(team::Compiler<Env>(fabric, own, peers).compile_part(of, 0, readers)) {
        const std::size_t longest = 37;
        operands.bytes = longest * sizeof(Word);
        operands.element_bytes = sizeof(Word);
        operands.block_bytes = (longest + plan.block_count - 1) / plan.block_count * sizeof(Word);
        operands.combine = [](const void* left, const void* right, void* out, std::size_t count,
                              auto... /*context*/) {
            add_words(left, right, out, count);
        };
        lay_out(Buffer::input, length, input, input_offsets, input_lengths);
        lay_out(Buffer::output, length, output, output_offsets, output_lengths);
        scratch.resize((plan.scratch_blocks / plan.block_count + 1) * longest);
        if (length != &equal_lengths) {
            operands.input_layout = {input_offsets.data(), input_lengths.data()};
            operands.output_layout = {output_offsets.data(), output_lengths.data()};
        }
        operands.input = reinterpret_cast<const std::byte*>(input.data());
        operands.output = reinterpret_cast<std::byte*>(output.data());
        operands.scratch = reinterpret_cast<std::byte*>(scratch.data());
        activation = {&program, &operands};
    }
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    void lay_out(Buffer buffer, LengthOf length, std::vector<Word>& words,
                 std::vector<std::size_t>& offsets, std::vector<std::size_t>& lengths) const {
        for (Rank part = 0; part < static_cast<Rank>(plan::parts_of(plan, rank, buffer)); ++part) {
            const auto [from, to] = part_of(plan, rank, buffer, part);
            const std::size_t count = length(plan.op == Collective::reduce_scatter ? 0 : from, to);
            offsets.push_back(words.size() * sizeof(Word));
            lengths.push_back(count * sizeof(Word));
            for (std::size_t i = 0; i < count; ++i) {
                words.push_back(buffer == Buffer::input ? value(from, to, i) : 0);
            }
        }
    }

    [[nodiscard]] bool is_right(LengthOf length) const {
        std::size_t next = 0;
        for (Rank part = 0; part < static_cast<Rank>(plan::parts_of(plan, rank, Buffer::output));
             ++part) {
            const auto [from, to] = part_of(plan, rank, Buffer::output, part);
            const std::size_t count = length(plan.op == Collective::reduce_scatter ? 0 : from, to);
            for (std::size_t i = 0; i < count; ++i) {
                Word expected = value(from, to, i);
                if (is_reduction(plan.op)) {
                    expected = 0;
                    const Rank end = plan.op == Collective::scan     ? rank + 1
                                     : plan.op == Collective::exscan ? rank
                                                                     : plan.size();
                    for (Rank other = 0; other < end; ++other) {
                        expected += value(other, to, i);
                    }
                }
                if (output[next++] != expected) {
                    return false;
                }
            }
        }
        return true;
    }

    const Plan& plan;
    Rank rank;
    Waiter waiter;
    team::Engine<Env, Waiter> engine;
    team::Compiler<Env>::Peers peers;
    team::Program<Env> program;
    team::Operands operands;
    team::Activation<Env> activation;
    std::vector<Word> input, output, scratch;
    std::vector<std::size_t> input_offsets, input_lengths, output_offsets, output_lengths;
};

/// "" when every rank ends with the right result.
std::string run_once(const Plan& plan, LengthOf length, unsigned seed) {
    HeapMemory memory;
    team::Fabric<Env> fabric(Arena(memory), plan.size());
    const auto readers = team::publication_readers(plan);
    Flag broken{};
    std::deque<Player> players;
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        players.emplace_back(plan, rank, length, fabric, readers, broken);
    }
    std::mt19937 random(seed);
    const auto is_done = [](const Player& player) {
        return player.activation.is_done();
    };
    for (int look = 0; look < 1'000'000 && !std::ranges::all_of(players, is_done); ++look) {
        Player& player = players[random() % players.size()];
        player.engine.run(player.activation);
    }
    for (const Player& player : players) {
        if (!player.activation.is_done()) {
            return "rank " + std::to_string(player.rank) + " stands in step " +
                   std::to_string(player.activation.step);
        }
        if (!player.is_right(length)) {
            return "wrong result on rank " + std::to_string(player.rank);
        }
    }
    return "";
}

/// As the generator made it, and as a team performs it.
std::string run(const Plan& plan, LengthOf length, unsigned seed) {
    const std::string as_made = run_once(plan, length, seed);
    const auto slots = static_cast<std::uint32_t>(plan::cell_ring_slots(plan.size()));
    return as_made.empty() ? run_once(plan::performed(plan, slots), length, seed) : as_made;
}

/// Families, and whether their ranks tell each other every address (GenerateInput).
std::vector<std::pair<const Family*, bool>> families_to_run() {
    std::vector<std::pair<const Family*, bool>> all;
    for (const Family& family : families()) {
        all.emplace_back(&family, false);
        if (family.name == "direct") {
            all.emplace_back(&family, true);
        }
    }
    return all;
}

TEST(GeneratedPlans, RunForEveryOperationAndKeepPartsOfAnyLength) {
    unsigned seed = 1;
    std::size_t with_layout = 0;
    for (std::size_t number = 1; number < collective_count; ++number) {
        const auto op = static_cast<Collective>(number);
        if (op == Collective::broadcast) {
            continue; // engine_test
        }
        for (const Rank size : {1, 2, 3, 5, 8}) {
            const CostView costs(std::vector<std::int32_t>(static_cast<std::size_t>(size), 0), {10},
                                 {30});
            for (const Mechanism via : {Mechanism::cells, Mechanism::pull}) {
                for (const std::uint32_t blocks : {1u, 3u}) {
                    GenerateInput input{.costs = costs};
                    input.root = size / 2;
                    input.bytes = 37 * sizeof(Word);
                    input.via = via;
                    input.blocks = blocks;
                    input.moves = 100;
                    for (const auto& [family, addresses_each] : families_to_run()) {
                        input.addresses_each = addresses_each;
                        if (family->name == "exact" || !family->applies(op, input)) {
                            continue;
                        }
                        const Plan plan = family->make(op, input);
                        SCOPED_TRACE(plan.algorithm + ", " + std::string(to_string(op)) + ", " +
                                     std::to_string(size) + " ranks via " +
                                     std::string(to_string(via)));
                        EXPECT_EQ(run(plan, equal_lengths, ++seed), "");
                        if (has_parts(op) && keeps_parts(plan)) {
                            EXPECT_EQ(run(plan, unequal_lengths, ++seed), "");
                            ++with_layout;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(with_layout, 50u);
}

TEST(GeneratedPlans, NothingIsWrittenIntoBuffersOfABrokenTeam) {
    const CostView costs(std::vector<std::int32_t>(2, 0), {10}, {30});
    const GenerateInput input{
        .costs = costs, .root = 0, .bytes = 37 * sizeof(Word), .via = Mechanism::pull};
    const auto family = std::ranges::find(families(), "direct-push", &Family::name);
    const Plan plan = family->make(Collective::gather, input);
    for (const std::uint32_t is_broken : {0u, 1u}) {
        HeapMemory memory;
        team::Fabric<Env> fabric(Arena(memory), 2);
        const auto readers = team::publication_readers(plan);
        Flag broken{};
        Player root(plan, 0, equal_lengths, fabric, readers, broken);
        Player other(plan, 1, equal_lengths, fabric, readers, broken);
        EXPECT_FALSE(root.engine.run(root.activation)); // It has offered and waits.
        broken.store(is_broken, std::memory_order_relaxed);
        EXPECT_EQ(other.engine.run(other.activation), is_broken == 0);
        EXPECT_EQ(std::ranges::count(root.output, Word{0}), is_broken == 0 ? 0 : 37);
    }
}

TEST(GeneratedPlans, ReduceSlicesOfPayloadsOfAnyLength) {
    unsigned seed = 1;
    for (const Rank size : {2, 3, 5, 8}) {
        const CostView costs(std::vector<std::int32_t>(static_cast<std::size_t>(size), 0), {10},
                             {30});
        for (Rank root = 0; root < size; ++root) {
            for (const bool ordered : {false, true}) {
                const GenerateInput input{.costs = costs,
                                          .root = root,
                                          .bytes = 30'000,
                                          .ordered = ordered,
                                          .via = Mechanism::pull,
                                          .blocks = 2};
                for (const std::string_view name : {"direct", "direct-push"}) {
                    const auto family = std::ranges::find(families(), name, &Family::name);
                    for (const Collective op : {Collective::reduce, Collective::allreduce}) {
                        ASSERT_TRUE(family->applies(op, input));
                        EXPECT_EQ(run(family->make(op, input), equal_lengths, ++seed), "")
                            << name << ", " << size << " ranks, root " << root;
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace corymb
