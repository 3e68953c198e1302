// SPDX-License-Identifier: Apache-2.0
// The operations of a team among processes, and among processes with several threads each.
#include "children.hpp"
#include "team/order_rounds.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace corymb {
namespace {

using namespace process_test;

std::uint32_t value_of(Rank rank, std::size_t place, int round) {
    return static_cast<std::uint32_t>(rank) * 1000u + static_cast<std::uint32_t>(place) * 7u +
           static_cast<std::uint32_t>(round);
}

/// Broadcasts and reductions of several lengths with checked results.
void exercise(Team& team, int rounds) {
    const auto size = static_cast<std::uint32_t>(team.size());
    for (int round = 0; round < rounds; ++round) {
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{14}, std::size_t{5000}, std::size_t{100'000}}) {
            std::vector<std::uint32_t> data(count);
            const Rank root = round % team.size();
            for (std::size_t i = 0; i < count; ++i) {
                data[i] = team.rank() == root ? value_of(root, i, round) : 0xeeeeeeee;
            }
            team.broadcast(std::span(data), root);
            for (std::size_t i = 0; i < count; ++i) {
                require(data[i] == value_of(root, i, round),
                        "broadcast of " + std::to_string(count));
            }
            std::vector<std::uint32_t> own(count);
            for (std::size_t i = 0; i < count; ++i) {
                own[i] = value_of(team.rank(), i, round);
            }
            team.reduce(std::span<const std::uint32_t>(own), std::span(data));
            for (std::size_t i = 0; team.rank() == 0 && i < count; ++i) {
                const std::uint32_t sum =
                    size * value_of(0, i, round) + 1000u * (size * (size - 1) / 2);
                require(data[i] == sum, "reduction of " + std::to_string(count));
            }
            team.barrier();
        }
    }
}

/// Reductions and broadcasts between buffers that lie differently in their pages on each rank: some
/// copies then take another way (`lie_badly`).
void exercise_places(Team& team) {
    constexpr std::size_t count = 200'000; // More than goes through a bounce at a time.
    std::vector<std::uint8_t> input(count + 64);
    std::vector<std::uint8_t> output(count + 64);
    for (const std::size_t place : {0UL, 1UL, 16UL, 31UL, 32UL}) {
        const std::size_t own = team.rank() % 2 == 0 ? 0 : place;
        const std::span in(input.data() + own, count);
        const std::span out(output.data() + place - own, count);
        for (std::size_t i = 0; i < count; ++i) {
            in[i] = static_cast<std::uint8_t>(value_of(team.rank(), i, 0));
        }
        team.reduce(std::span<const std::uint8_t>(in), out);
        for (std::size_t i = 0; team.rank() == 0 && i < count; ++i) {
            std::uint32_t sum = 0;
            for (Rank rank = 0; rank < team.size(); ++rank) {
                sum += value_of(rank, i, 0);
            }
            require(out[i] == static_cast<std::uint8_t>(sum), "a sum at " + std::to_string(place));
        }
        for (std::size_t i = 0; i < count; ++i) {
            in[i] = team.rank() == 0 ? static_cast<std::uint8_t>(value_of(0, i, 1)) : 0;
        }
        team.broadcast(in, 0);
        for (std::size_t i = 0; i < count; ++i) {
            require(in[i] == static_cast<std::uint8_t>(value_of(0, i, 1)),
                    "a broadcast at " + std::to_string(place));
        }
        team.barrier();
    }
}

class OperationsTest : public ::testing::TestWithParam<Mechanism> {};

TEST_P(OperationsTest, BetweenAllPlacesInPages) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, plans_over(GetParam())));
            exercise_places(team);
        });
    }
    children.expect_all_good();
}

TEST_P(OperationsTest, AmongOneToEightProcesses) {
    for (const int size : {1, 2, 3, 5, 8}) {
        const TeamDescriptor memory(size);
        Children children;
        for (int child = 0; child < size; ++child) {
            children.start([&] {
                Team team = Team::attach(by_descriptor(memory, plans_over(GetParam())));
                require(team.size() == size, "the size is right");
                exercise(team, 3);
            });
        }
        children.expect_all_good();
    }
}

TEST_P(OperationsTest, AmongProcessesOfSeveralThreads) {
    const TeamDescriptor memory(5);
    Children children;
    for (const int threads : {2, 3}) {
        children.start([&] {
            ProcessTeam process(by_descriptor(memory, plans_over(GetParam()), threads));
            require(process.ranks_here() == threads, "as many ranks as asked for");
            in_threads(process, [](Team& team) { exercise(team, 3); });
        });
    }
    children.expect_all_good();
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, OperationsTest,
                         ::testing::Values(Mechanism::cells, Mechanism::pull, Mechanism::push),
                         [](const auto& which) { return std::string(to_string(which.param)); });

TEST(ProcessTeamTest, OperatorsThatSayNothingGetTheRanksInTheirOrder) {
    const TeamDescriptor memory(4);
    Children children;
    for (int child = 0; child < 4; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, {}));
            order_test::run_all(team, 3);
            order_test::run_all(team, 700);
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, DefaultPlansAreMadeOnceAndAreTheSameEverywhere) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, {}));
            require(team.allreduce(team.rank() + 1) == 6, "the sum of three ranks");
            const std::string hash = plan_hash(team.plan(Collective::allreduce));
            std::vector<char> other(hash.begin(), hash.end());
            team.broadcast(std::span(other), 1);
            require(std::string(other.begin(), other.end()) == hash, "one plan for all");
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, AllGoOverToABetterPlanAtTheSameCall) {
    constexpr int size = 4;
    const TeamDescriptor memory(size);
    Children children;
    for (int child = 0; child < size; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, {}));
            const auto check = [&](int round) {
                const Rank root = round % size;
                const std::vector<int> own(500, team.rank() + round);
                std::vector<int> sum(500);
                team.allreduce(std::span<const int>(own), std::span(sum));
                require(sum == std::vector<int>(500, 6 + size * round), "a sum of all ranks");
                std::vector<int> data(500, team.rank() == root ? round : -1);
                team.broadcast(std::span(data), root);
                require(data == std::vector<int>(500, round), "what the root has sent");
            };
            for (int round = 0; round < 150; ++round) {
                check(round);
            }
            for (const Rank root : {1, 0}) {
                team.warm_up(Collective::broadcast, 2000, root);
            }
            team.warm_up(Collective::allreduce, 2000);
            for (int round = 0; round < 20; ++round) {
                check(round);
            }
            const std::string hash = plan_hash(team.plan(Collective::allreduce, 2000)) +
                                     plan_hash(team.plan(Collective::broadcast, 2000, 1));
            std::vector<char> other(hash.begin(), hash.end());
            team.broadcast(std::span(other), 1);
            require(std::string(other.begin(), other.end()) == hash, "one plan for all");
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, ReproducibleSumsAreThoseOfTheRanksNumbers) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            TeamOptions options;
            options.reproducible = true;
            Team team = Team::attach(by_descriptor(memory, options));
            const double values[] = {1e16, 1.5, -1e16};
            const double sum = (values[0] + values[1]) + values[2];
            for (const std::size_t count : {std::size_t{1}, std::size_t{30'000}}) {
                const std::vector<double> own(count, values[team.rank()]);
                std::vector<double> all(count);
                team.allreduce(std::span<const double>(own), std::span(all));
                require(all == std::vector<double>(count, sum), "the sum in the ranks' order");
            }
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, WhoAloneWantsReproducibleSumsIsNamed) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            TeamOptions options;
            AttachOptions by = by_descriptor(memory, options);
            by.rank = child;
            by.team.reproducible = child == 1;
            Team team = Team::attach(by);
            try {
                team.barrier(); // Nothing is combined: no difference.
                const double sum = team.allreduce(1.0);
                team.barrier();
                require(false, "a difference is no result: " + std::to_string(sum));
            } catch (const Error& error) {
                // Of two that meet before the third has come, neither is known to be the odd one;
                // who comes later finds the team broken, and is told why.
                const std::string text = error.what();
                require(text.find("rank 1 ") != std::string::npos, text);
                require(text.find("reproducible") != std::string::npos, text);
            }
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, PartsOfATeamWriteIntoEachOthersBuffers) {
    const TeamDescriptor memory(4);
    Children children;
    for (int child = 0; child < 4; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, plans_over(Mechanism::push)));
            Team part = team.split(team.rank() % 2, -team.rank());
            exercise(part, 2);
            exercise_places(part);
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, SplitsIntoTeamsWhoseMemoryIsGivenBack) {
    const TeamDescriptor memory(4);
    Children children;
    for (int child = 0; child < 4; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, plans_over(Mechanism::cells)));
            const auto resident = [&] {
                struct stat file{};
                ::fstat(memory.number(), &file);
                return file.st_blocks;
            };
            blkcnt_t after_some = 0;
            for (int round = 0; round < 120; ++round) {
                Team part = team.split(team.rank() % 2, -team.rank());
                require(part.size() == 2 && part.rank() == (team.rank() < 2 ? 1 : 0), "places");
                require(part.broadcast(team.rank(), 0) == team.rank() % 2 + 2, "the part works");
                require(part.memory() > 0, "memory is told");
                team.barrier();
                after_some = round == 20 ? resident() : after_some;
            }
            team.barrier();
            require(resident() <= after_some + 256, "memory stays constant");
        });
    }
    children.expect_all_good();
}

/// Plans of two ranks in which rank 1 writes half of a sum into the output of rank 0.
TeamOptions plans_in_halves(bool folds) {
    TeamOptions options;
    options.plans = [folds](const PlanNeed& need) {
        return need.op == Collective::reduce ? team_test::halves_reduce(need.bytes, folds)
                                             : team_test::dissemination(need.size);
    };
    return options;
}

TEST(ProcessTeamTest, RanksWriteIntoEachOthersOutputs) {
    for (const bool folds : {true, false}) {
        const TeamDescriptor memory(2);
        Children children;
        for (int child = 0; child < 2; ++child) {
            children.start([&] {
                Team team = Team::attach(by_descriptor(memory, plans_in_halves(folds)));
                for (const std::size_t count : {std::size_t{100}, std::size_t{300'001}}) {
                    const std::vector<int> mine(count, 1 + team.rank());
                    std::vector<int> all(count);
                    team.reduce(std::span<const int>(mine), std::span(all));
                    require(team.rank() != 0 || all == std::vector<int>(count, 3), "the sum");
                }
            });
        }
        children.expect_all_good();
    }
}

TEST(ProcessTeamTest, LargePartsOfAGatherAndSumsForAllAreWrittenWhereTheyBelong) {
    for (const int size : {2, 3, 5}) {
        const TeamDescriptor memory(size);
        Children children;
        for (int child = 0; child < size; ++child) {
            children.start([&] {
                Team team = Team::attach(by_descriptor(memory, plans_over(Mechanism::push)));
                constexpr std::size_t count = 70'001;
                const std::vector<int> mine(count, 1 << team.rank());
                std::vector<int> sum(count);
                std::vector<int> parts(count * static_cast<std::size_t>(size));
                for (Rank root = 0; root < size; ++root) {
                    team.allreduce(std::span<const int>(mine), std::span(sum));
                    require(sum == std::vector<int>(count, (1 << size) - 1), "the sum");
                    std::ranges::fill(parts, 0);
                    team.gather(std::span<const int>(mine), std::span(parts), root);
                    for (std::size_t i = 0; team.rank() == root && i < parts.size(); ++i) {
                        require(parts[i] == 1 << i / count, "part " + std::to_string(i / count));
                    }
                    team.barrier();
                }
            });
        }
        children.expect_all_good();
    }
}

TEST(ProcessTeamTest, WhereOneProcessMayNotWriteNobodyPlansToDoSo) {
    const TeamDescriptor memory(2);
    Children children;
    for (int child = 0; child < 2; ++child) {
        children.start([&, child] {
            if (child == 1) {
                refuse_call(SYS_process_vm_writev);
            }
            ProcessTeam process(by_descriptor(memory, plans_in_halves(true)));
            require(process.notes().find("process_vm_writev is refused") != std::string::npos,
                    process.notes());
            Team team = process.join(process.first_rank());
            const std::vector<int> mine(5000, 1);
            std::vector<int> all(mine.size());
            try {
                team.reduce(std::span<const int>(mine), std::span(all));
                require(false, "the plan was let through");
            } catch (const Error& error) {
                require(error.code() == Errc::invalid_plan, error.what());
            }
            team.barrier();
        });
    }
    children.expect_all_good();
}

TEST(ProcessTeamTest, DefaultPlansDoWithoutWritingWhereThatIsRefused) {
    for (const bool is_refused : {false, true}) {
        const TeamDescriptor memory(2);
        Children children;
        for (int child = 0; child < 2; ++child) {
            children.start([&] {
                if (is_refused) {
                    refuse_call(SYS_process_vm_writev);
                }
                Team team = Team::attach(by_descriptor(memory, {}));
                std::vector<std::uint64_t> data(1 << 18, team.rank() == 0 ? 5 : 0);
                team.broadcast(std::span(data), 0);
                require(data == std::vector<std::uint64_t>(data.size(), 5), "the broadcast");
                std::vector<std::uint64_t> sum(data.size());
                team.reduce(std::span<const std::uint64_t>(data), std::span(sum));
                require(team.rank() != 0 || sum == std::vector<std::uint64_t>(data.size(), 10),
                        "the sum");
            });
        }
        children.expect_all_good();
    }
}

TEST(ProcessTeamTest, AForkedChildIsToldThatTheHandleIsNotItsOwn) {
    const TeamDescriptor memory(1);
    Team team = Team::attach(by_descriptor(memory, plans_over(Mechanism::line)));
    team.barrier();
    Children children;
    children.start([&] {
        try {
            team.barrier();
        } catch (const Error& error) {
            require(error.code() == Errc::invalid_argument, "says what is wrong");
            return;
        }
        require(false, "a barrier of the parent's team was let through");
    });
    children.expect_all_good();
    team.barrier();
}

} // namespace
} // namespace corymb
