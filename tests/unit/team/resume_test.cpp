// SPDX-License-Identifier: Apache-2.0
// Operations that are driven a look at a time. One thread plays all ranks in random turns, so that
// every await of every channel fails now and then and must be taken up again later.
#include "channel/env.hpp"
#include "channel/look_once.hpp"
#include "sample_plans.hpp"
#include "team/compile.hpp"
#include "team/engine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace team_test;
using Env = channel::StandardEnv;
using Waiter = channel::LookOnce;

/// All ranks of one plan, each with its engine and its operation under way.
class Turns {
public:
    Turns(const Plan& plan, std::size_t block_bytes, unsigned seed)
        : fabric_(Arena(memory_), plan.size()), readers_(team::publication_readers(plan)),
          random_(seed) {
        for (Rank rank = 0; rank < plan.size(); ++rank) {
            ranks_.emplace_back(*this, plan, rank, block_bytes);
        }
    }

    /// Runs `operations` operations; a rank may be ahead of another as far as the plan lets it.
    /// Gives up after `looks_max` calls of an engine.
    bool run(int operations, std::size_t steps_max, std::size_t looks_max) {
        for (std::size_t look = 0; look < looks_max; ++look) {
            auto& rank = ranks_[random_() % ranks_.size()];
            if (rank.done == operations) {
                continue;
            }
            if (rank.activation.step == 0 && rank.activation.offset == 0) {
                rank.begin();
            }
            if (rank.engine.run(rank.activation, steps_max)) {
                rank.finish();
            }
            if (std::all_of(ranks_.begin(), ranks_.end(),
                            [&](const Player& other) { return other.done == operations; })) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] int wrong() const {
        return std::accumulate(ranks_.begin(), ranks_.end(), 0,
                               [](int sum, const Player& rank) { return sum + rank.wrong; });
    }

private:
    struct Player {
        Player(Turns& turns, const Plan& of, Rank own, std::size_t block_bytes)
            : plan(&of), rank(own), engine(waiter),
              program(team::Compiler<Env>(turns.fabric_, own, peers)
                          .compile_part(of, 0, turns.readers_)),
              input(of.block_count * block_bytes / sizeof(std::uint64_t)), output(input.size()),
              scratch(of.scratch_blocks * block_bytes / sizeof(std::uint64_t)) {
            operands.input = reinterpret_cast<const std::byte*>(input.data());
            operands.output = reinterpret_cast<std::byte*>(output.data());
            operands.scratch = reinterpret_cast<std::byte*>(scratch.data());
            operands.bytes = input.size() * sizeof(std::uint64_t);
            operands.block_bytes = block_bytes;
            operands.element_bytes = sizeof(std::uint64_t);
            operands.combine = [](const auto* left, const auto* right, void* out, std::size_t count,
                                  auto... /*context*/) {
                for (std::size_t i = 0; i < count; ++i) {
                    std::uint64_t a = 0;
                    std::uint64_t b = 0;
                    std::memcpy(&a, static_cast<const std::byte*>(left) + 8 * i, 8);
                    std::memcpy(&b, static_cast<const std::byte*>(right) + 8 * i, 8);
                    a += b;
                    std::memcpy(static_cast<std::byte*>(out) + 8 * i, &a, 8);
                }
            };
            activation = {&program, &operands};
        }
        Player(const Player&) = delete;
        Player& operator=(const Player&) = delete;

        [[nodiscard]] std::uint64_t value(Rank of, std::size_t i) const {
            return static_cast<std::uint64_t>(of + 1) * 1'000'003 * (i + 1) +
                   static_cast<std::uint64_t>(done);
        }
        void begin() {
            auto& data = plan->op == Collective::broadcast ? output : input;
            for (std::size_t i = 0; i < data.size(); ++i) {
                data[i] = value(rank, i);
            }
        }
        void finish() {
            const bool has_result = plan->op == Collective::broadcast || rank == plan->root;
            for (std::size_t i = 0; has_result && i < output.size(); ++i) {
                std::uint64_t expected = 0;
                for (Rank other = 0; other < plan->size(); ++other) {
                    const bool counts = plan->op == Collective::reduce || other == plan->root;
                    expected += counts ? value(other, i) : 0;
                }
                wrong += output[i] != expected;
            }
            ++done;
            activation.step = 0;
        }

        const Plan* plan;
        Rank rank;
        Waiter waiter;
        team::Engine<Env, Waiter> engine;
        team::Compiler<Env>::Peers peers;
        team::Program<Env> program;
        std::vector<std::uint64_t> input, output, scratch;
        team::Operands operands;
        team::Activation<Env> activation;
        int done = 0;
        int wrong = 0;
    };

    HeapMemory memory_;
    team::Fabric<Env> fabric_;
    team::Readers readers_;
    std::deque<Player> ranks_;
    std::mt19937 random_;
};

void expect_right(const Plan& plan, std::size_t block_bytes, int operations) {
    for (const std::size_t steps_max : {std::size_t{1}, std::size_t{1000}}) {
        for (unsigned seed = 1; seed <= 5; ++seed) {
            Turns turns(plan, block_bytes, seed);
            ASSERT_TRUE(turns.run(operations, steps_max, 200'000))
                << plan.algorithm << ": an operation that was taken up again never ended";
            EXPECT_EQ(turns.wrong(), 0) << plan.algorithm << ", seed " << seed;
        }
    }
}

// More operations than a ring has slots: senders stall for room as receivers stall for messages.
constexpr int many = 40;

TEST(ResumeTest, SignalsAndPublicationsWithoutData) {
    for (const int size : {2, 3, 5}) {
        expect_right(dissemination(size), 0, many);
        expect_right(central(size), 0, many);
    }
}

TEST(ResumeTest, MessagesByEveryMechanism) {
    for (const auto via : {Mechanism::line, Mechanism::cells, Mechanism::pull}) {
        expect_right(star_broadcast(4, 1, 48, via), 48, many);
        expect_right(chain_reduce(4, 48, via), 48, many);
    }
}

TEST(ResumeTest, PublicationsByEveryMechanism) {
    for (const auto via : {Mechanism::line, Mechanism::pull}) {
        expect_right(shared_broadcast(4, 2, 48, via), 48, many);
    }
}

TEST(ResumeTest, AMessageOfManyCellsStopsInItsMiddle) {
    // 12 cells a block through a ring of 8: neither side can do a step at once.
    expect_right(star_broadcast(3, 0, 2 * 98'304, Mechanism::cells, 2), 98'304, 3);
    expect_right(chain_reduce(3, 2 * 98'304, Mechanism::cells, 2), 98'304, 3);
}

} // namespace
} // namespace corymb
