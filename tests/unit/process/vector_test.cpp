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

/// Short ones travel in other ways than long ones, also beside them.
TEST(ProcessVectorTest, PartsOfAllLengthsFollowEachOther) {
    const std::size_t lengths[] = {0, 1, 40, 41, 1000, 2048, 2049, 8192, 8193, 100'000};
    const auto length = [&](Rank from, Rank to, int round) {
        return lengths[static_cast<std::size_t>(from * 4 + to * 5 + round) % std::size(lengths)];
    };
    const auto letter = [](Rank from, Rank to, int round) {
        return static_cast<char>('a' + (from * 3 + to * 7 + round) % 26);
    };
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, TeamOptions{}));
            for (int round = 0; round < 60; ++round) {
                Counts in, out;
                std::vector<char> sent, wanted;
                for (Rank other = 0; other < 3; ++other) {
                    in.push_back(length(team.rank(), other, round));
                    sent.resize(sent.size() + in.back(), letter(team.rank(), other, round));
                    out.push_back(length(other, team.rank(), round));
                    wanted.resize(wanted.size() + out.back(), letter(other, team.rank(), round));
                }
                std::vector<char> got(wanted.size(), '-');
                team.alltoallv(std::span<const char>(sent), {in}, std::span(got), {out});
                require(got == wanted, "round " + std::to_string(round));
                team.ialltoallv(std::span<const char>(sent), {in}, std::span(got), {out}).wait();
                require(got == wanted, "nonblocking round " + std::to_string(round));
            }
        });
    }
    children.expect_all_good();
}

TEST(ProcessVectorTest, LengthsThatDifferAreNamedHoweverPartsTravel) {
    const std::pair<std::size_t, std::size_t> cases[] = {{10, 11},   {10, 600},     {600, 10},
                                                         {600, 700}, {600, 90'000}, {90'000, 600}};
    for (const auto& [said, sent] : cases) {
        const TeamDescriptor memory(2);
        Children children;
        for (int child = 0; child < 2; ++child) {
            children.start([&] {
                Team team = Team::attach(by_descriptor(memory, TeamOptions{}));
                const Counts counts{1, said};
                const std::vector<char> mine(team.rank() == 0 ? 1 : sent, 7);
                std::vector<char> all(said + 1, 0);
                try {
                    team.gatherv(std::span<const char>(mine), std::span(all), {counts});
                    team.barrier();
                    require(false, "the calls differ");
                } catch (const Error& error) {
                    // Who comes later finds the team broken; both are told why.
                    require(std::string(error.what()).find("different numbers of bytes") !=
                                std::string::npos,
                            error.what());
                }
            });
        }
        children.expect_all_good();
    }
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
                // Who sends too much may have done so before its peer has looked.
                require(error.code() == Errc::mismatch ||
                            (team.rank() == 1 && error.code() == Errc::team_broken),
                        error.what());
            }
            require(std::count(all.begin(), all.end(), 5) == 100, "memory behind the output");
        });
    }
    children.expect_all_good();
}

} // namespace
} // namespace corymb
