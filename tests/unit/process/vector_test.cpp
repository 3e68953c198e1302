// SPDX-License-Identifier: Apache-2.0
// Vector operations among processes, and on packed data.
#include "../team/vector_rounds.hpp"
#include "children.hpp"

namespace corymb {
namespace {

using namespace process_test;
using vector_test::Counts;

TEST(ProcessVectorTest, RandomCallsGiveWhatTheReferenceGives) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, TeamOptions{}));
            vector_test::run_rounds(team, 12);
            std::vector<int> cells(20, team.rank());
            team.broadcast(strided(cells.data(), 10, 1, 2), 2);
            for (std::size_t i = 0; i < cells.size(); ++i) {
                require(cells[i] == (i % 2 == 0 ? 2 : team.rank()), "a packed broadcast");
            }
        });
    }
    children.expect_all_good();
}

TEST(ProcessVectorTest, APartThatIsTooLongOverrunsNothing) {
    const TeamDescriptor memory(2);
    Children children;
    for (int child = 0; child < 2; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, TeamOptions{}));
            const Counts counts{1, 50'000};
            const std::vector<int> mine(team.rank() == 0 ? 1 : 90'000, 7);
            std::vector<int> all(50'001, 0);
            all.resize(50'101, 5);
            try {
                team.gatherv(std::span<const int>(mine), std::span(all), {counts});
                team.barrier();
                require(false, "the calls differ");
            } catch (const Error& error) {
                require(error.code() == Errc::mismatch, error.what());
            }
            require(std::count(all.begin(), all.end(), 5) == 100, "memory behind the output");
        });
    }
    children.expect_all_good();
}

} // namespace
} // namespace corymb
