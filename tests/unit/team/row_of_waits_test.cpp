// SPDX-License-Identifier: Apache-2.0
// How many peers a rank may sleep for at once. Ranks look once, so one thread plays all of them.
#include "channel/env.hpp"
#include "channel/look_once.hpp"
#include "channel/sizes.hpp"
#include "sample_plans.hpp"
#include "team/compile.hpp"
#include "team/engine.hpp"
#include "team/row_of_waits.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace corymb {
namespace {

using namespace team_test;
using Env = channel::StandardEnv;

void add(const void* left, const void* right, void* out, std::size_t /*count*/, void* /*context*/) {
    *static_cast<std::uint64_t*>(out) =
        *static_cast<const std::uint64_t*>(left) + *static_cast<const std::uint64_t*>(right);
}

class Ranks {
public:
    explicit Ranks(const Plan& plan)
        : fabric_(Arena(memory_), plan.size()), readers_(team::publication_readers(plan)) {
        for (Rank rank = 0; rank < plan.size(); ++rank) {
            ranks_.emplace_back(fabric_, readers_, plan, rank);
        }
    }

    /// Lets a rank go as far as it can. Whether its operation is done.
    bool run(std::size_t rank) { return ranks_[rank].run(); }

    /// What a rank awaits in a row, from where it stands.
    std::uint32_t missing(std::size_t rank) { return ranks_[rank].missing(); }

private:
    struct Player {
        Player(team::Fabric<Env>& fabric, const team::Readers& readers, const Plan& plan, Rank own)
            : engine(waiter, own),
              program(team::Compiler<Env>(fabric, own, peers).compile_part(plan, 0, readers)) {
            operands.input = reinterpret_cast<const std::byte*>(&input);
            operands.output = reinterpret_cast<std::byte*>(&output);
            operands.bytes = operands.block_bytes = operands.element_bytes = sizeof input;
            operands.combine = add;
        }
        bool run() {
            const bool is_done = engine.run(activation);
            if (is_done) {
                activation = {&program, &operands};
            }
            return is_done;
        }
        std::uint32_t missing() {
            return activation.step == program.steps.size()
                       ? 0
                       : program.steps[activation.step].missing();
        }

        channel::LookOnce waiter;
        team::Engine<Env, channel::LookOnce> engine;
        team::Compiler<Env>::Peers peers;
        team::Program<Env> program;
        std::uint64_t input = 1, output = 0;
        team::Operands operands;
        team::Activation<Env> activation{&program, &operands};
    };

    HeapMemory memory_;
    team::Fabric<Env> fabric_;
    team::Readers readers_;
    std::deque<Player> ranks_;
};

TEST(RowOfWaitsTest, CountsThoseWhoHaveNotCome) {
    Ranks ranks(central(4));
    EXPECT_EQ(ranks.missing(0), 3u);
    EXPECT_FALSE(ranks.run(2));
    EXPECT_EQ(ranks.missing(0), 2u) << "whoever comes first";
    EXPECT_FALSE(ranks.run(1));
    EXPECT_FALSE(ranks.run(0));
    EXPECT_EQ(ranks.missing(0), 1u);
    EXPECT_FALSE(ranks.run(3));
    EXPECT_EQ(ranks.missing(0), 0u);
    EXPECT_TRUE(ranks.run(0));
}

TEST(RowOfWaitsTest, EndsWhereOthersSeeThatAStepIsDone) {
    Ranks ranks(dissemination(4));
    EXPECT_FALSE(ranks.run(0));
    EXPECT_EQ(ranks.missing(0), 1u) << "a signal lies between the waits";
}

TEST(RowOfWaitsTest, EndsWhereASenderIsGivenRoom) {
    Ranks ranks(star_reduce(3, 8));
    for (std::size_t round = 1; round < channel::line_credit_every; ++round) {
        EXPECT_EQ(ranks.missing(0), 2u) << round;
        EXPECT_TRUE(ranks.run(1) && ranks.run(2) && ranks.run(0));
    }
    EXPECT_EQ(ranks.missing(0), 1u);
    EXPECT_TRUE(ranks.run(1) && ranks.run(2) && ranks.run(0));
    EXPECT_EQ(ranks.missing(0), 2u);
}

TEST(RowOfWaitsTest, CountsAPeerOnce) {
    Plan plan = star_reduce(3, 8);
    for (auto& steps : plan.steps) {
        steps.insert(steps.end(), steps.begin(), steps.end());
    }
    Ranks ranks(plan);
    EXPECT_EQ(ranks.missing(0), 2u);
}

} // namespace
} // namespace corymb
