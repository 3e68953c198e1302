// SPDX-License-Identifier: Apache-2.0
// Plans for several nodes run as they are proven: the engine within a node, messages in between.
// Threads play the ranks.
#include "base/cache_line.hpp"
#include "cluster_team/affine.hpp"
#include "cluster_team/switchboard.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/simulate.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace {

using namespace corymb;
using cluster_test::on_nodes;
using cluster_test::Then;

using Nodes = std::vector<int>;

/// Whole numbers, so that sums are exact in any order.
double value(Rank rank, std::size_t place, int round) {
    return static_cast<double>(
        (static_cast<std::size_t>(rank) * 31 + place * 7 + static_cast<std::size_t>(round) * 3) %
        1001);
}

std::vector<double> input_of(Rank rank, std::size_t count, int round) {
    std::vector<double> input(count);
    for (std::size_t i = 0; i < count; ++i) {
        input[i] = value(rank, i, round);
    }
    return input;
}

std::vector<double> sum_of(int size, std::size_t count, int round) {
    std::vector<double> sum(count);
    for (Rank rank = 0; rank < size; ++rank) {
        for (std::size_t i = 0; i < count; ++i) {
            sum[i] += value(rank, i, round);
        }
    }
    return sum;
}

/// Parts `first` to before `end` of what `rank` gives to all.
std::vector<double> parts_of(Rank rank, std::size_t count, int round, Rank first, Rank end) {
    const auto all = input_of(rank, count * static_cast<std::size_t>(end), round);
    return {all.begin() + static_cast<std::ptrdiff_t>(count) * first, all.end()};
}

std::vector<double> plus(std::vector<double> one, const std::vector<double>& other) {
    std::ranges::transform(one, other, one.begin(), std::plus<>());
    return one;
}

/// The operations in which ranks have parts for each other, and scans.
bool parts_are_right(Team& team, Collective op, std::size_t count, int round, Rank root) {
    const Rank own = team.rank();
    const Rank size = team.size();
    const auto one = input_of(own, count, round);
    const auto all = parts_of(own, count, round, 0, size);
    std::vector<double> output(count, -1);
    std::vector<double> wanted;
    const auto sum_to = [&](Rank end, Rank first_part, Rank end_part) {
        std::vector<double> sum(count * static_cast<std::size_t>(end_part - first_part));
        for (Rank rank = 0; rank < end; ++rank) {
            sum = plus(sum, parts_of(rank, count, round, first_part, end_part));
        }
        return sum;
    };
    switch (op) {
    case Collective::scatter:
        team.scatter(std::span(all), std::span(output), root);
        return output == parts_of(root, count, round, own, own + 1);
    case Collective::scan:
        team.scan(std::span(one), std::span(output));
        return output == sum_to(own + 1, 0, 1);
    case Collective::exscan:
        team.exscan(std::span(one), std::span(output));
        return own == 0 || output == sum_to(own, 0, 1);
    case Collective::reduce_scatter:
        team.reduce_scatter(std::span(all), std::span(output));
        return output == sum_to(size, own, own + 1);
    default: break;
    }
    output.resize(all.size(), -1);
    if (op == Collective::gather) {
        team.gather(std::span(one), std::span(output), root);
    } else {
        team.alltoall(std::span(all), std::span(output));
    }
    for (Rank rank = 0; rank < size; ++rank) {
        const Rank place = op == Collective::gather ? 0 : own;
        const auto part = parts_of(rank, count, round, place, place + 1);
        wanted.insert(wanted.end(), part.begin(), part.end());
    }
    return output == wanted || (op == Collective::gather && own != root);
}

/// One operation of `count` numbers a rank; whether this rank has what it should.
bool is_right(Team& team, Collective op, std::size_t count, int round, Rank root) {
    const auto input = input_of(team.rank(), count, round);
    std::vector<double> output(count, -1);
    switch (op) {
    case Collective::barrier: team.barrier(); return true;
    case Collective::broadcast:
        output = team.rank() == root ? input : output;
        team.broadcast(std::span(output), root);
        return output == input_of(root, count, round);
    case Collective::reduce:
        team.reduce(std::span(input), std::span(output), std::plus<>(), root);
        return team.rank() != root || output == sum_of(team.size(), count, round);
    case Collective::allreduce:
        team.allreduce(std::span(input), std::span(output));
        return output == sum_of(team.size(), count, round);
    case Collective::allgather: break;
    default: return parts_are_right(team, op, count, round, root);
    }
    output.resize(count * static_cast<std::size_t>(team.size()));
    team.allgather(std::span(input), std::span(output));
    std::vector<double> all;
    for (Rank rank = 0; rank < team.size(); ++rank) {
        const auto part = input_of(rank, count, round);
        all.insert(all.end(), part.begin(), part.end());
    }
    return output == all;
}

constexpr Collective operations[] = {
    Collective::allgather, Collective::allreduce, Collective::broadcast,      Collective::reduce,
    Collective::barrier,   Collective::gather,    Collective::scatter,        Collective::alltoall,
    Collective::scan,      Collective::exscan,    Collective::reduce_scatter,
};

std::vector<nodes::Scheme> schemes_for(Collective op, const nodes::Layout& layout,
                                       std::uint64_t bytes) {
    constexpr int leaders[] = {1, 2};
    auto schemes = nodes::all_schemes(leaders);
    std::erase_if(schemes, [&](const nodes::Scheme& scheme) {
        return !nodes::applies(op, layout, scheme, bytes);
    });
    return schemes;
}

class OnNodes : public testing::TestWithParam<Nodes> {};

/// Results, and that each rank got from the network what is counted from the steps of its plan.
TEST_P(OnNodes, EverySchemeIsRightAndCountsToTheByte) {
    const Nodes& where = GetParam();
    const nodes::Layout layout(where);
    for (const Collective op : operations) {
        // Whole lines, in which data moves, in every block, but for some that go in pieces.
        for (const std::size_t count : {std::size_t{1}, std::size_t{120}, std::size_t{20160}}) {
            const std::uint64_t bytes = count * sizeof(double);
            const auto all = schemes_for(op, layout, bytes);
            // A third of them with each size: another one on other shapes.
            for (std::size_t i = (count / 100 + where.size()) % 3; i < all.size(); i += 3) {
                const nodes::Scheme& scheme = all[i];
                const Rank root = layout.size() - 1;
                ClusterOptions options;
                options.plans = [&](const PlanNeed& need) {
                    return nodes::plan_for(need.op, layout, scheme, need.bytes, need.root);
                };
                std::vector<Carried> carried(where.size());
                std::vector<char> right(where.size(), 1);
                on_nodes(
                    where,
                    [&](Team& team) {
                        const auto own = static_cast<std::size_t>(team.rank());
                        for (int round = 0; round < 2; ++round) {
                            if (!is_right(team, op, count, round, root)) {
                                right[own] = 0;
                            }
                        }
                        carried[own] = corymb::carried(team);
                    },
                    options);
                ASSERT_EQ(std::ranges::count(right, 0), 0) << to_string(op) << name_of(scheme);
                const Plan plan = nodes::plan_for(op, layout, scheme, bytes, root);
                if (scheme.pieces > 1 && bytes % (cache_line_bytes * plan.block_count) != 0) {
                    continue; // Blocks differ by a line, which the count does not know.
                }
                const NodeTraffic counted = node_traffic(plan, where, bytes);
                std::uint64_t messages = 0;
                for (std::size_t rank = 0; rank < where.size(); ++rank) {
                    EXPECT_EQ(carried[rank].bytes_in, 2 * counted.rank_in[rank])
                        << to_string(op) << " " << name_of(scheme) << " rank " << rank;
                    messages += carried[rank].messages_out;
                }
                EXPECT_EQ(messages, 2 * counted.messages) << to_string(op) << name_of(scheme);
                ASSERT_FALSE(HasFailure()) << to_string(op) << " " << name_of(scheme);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnNodes,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 1, 0, 1, 1}, Nodes{0, 1, 1, 1},
                                         Nodes{0, 1, 2}));

/// N nodes, c ranks each, k leaders of g = c / k ranks, parts of m bytes.
TEST(TeamOverNodes, ExecutesTheClosedForms) {
    struct Form {
        const char* scheme;
        std::uint64_t node_in, rounds;
    };
    const std::uint64_t m = 24;
    const std::uint64_t N = 4;
    const std::uint64_t c = 2;
    const Nodes where{0, 0, 1, 1, 2, 2, 3, 3};
    const nodes::Layout layout(where);
    for (const Form& form : {Form{"lanes/1/doubling/shared", (N - 1) * c * m, 2},
                             Form{"lanes/2/doubling/shared", (N - 1) * c * m, 2},
                             Form{"lanes/2/bruck/messages", (N - 1) * c * m, 2},
                             Form{"lanes/2/ring/shared/early", (N - 1) * c * m, N - 1},
                             Form{"slices/2/doubling/shared/early", (N - 1) * c * m, 2},
                             Form{"node-major/2/doubling/shared", 2 * (N - 1) * c * m, 2},
                             Form{"flat/doubling/shared", c * (N - 1) * c * m, 2}}) {
        ClusterOptions options;
        options.plans = [&](const PlanNeed& need) {
            return nodes::plan_for(need.op, layout, *nodes::scheme_named(form.scheme), need.bytes,
                                   need.root);
        };
        std::vector<Carried> carried(where.size());
        on_nodes(
            where,
            [&](Team& team) {
                EXPECT_TRUE(is_right(team, Collective::allgather, m / sizeof(double), 0, 0));
                carried[static_cast<std::size_t>(team.rank())] = corymb::carried(team);
            },
            options);
        std::uint64_t rounds = 0;
        for (std::size_t node = 0; node < N; ++node) {
            EXPECT_EQ(carried[2 * node].bytes_in + carried[2 * node + 1].bytes_in, form.node_in)
                << form.scheme;
            rounds = std::max({rounds, carried[2 * node].rounds, carried[2 * node + 1].rounds});
        }
        EXPECT_EQ(rounds, form.rounds) << form.scheme;
    }
}

TEST(TeamOverNodes, ChoosesForAnyPlacement) {
    // With the last one plans go on to nodes behind another one's.
    for (const Nodes& where : {Nodes{0, 0, 1, 1}, Nodes{0, 1, 0, 1}, Nodes{1, 0, 0, 1, 0},
                               Nodes{3, 1, 0, 5, 2, 4, 0, 3, 6, 1}}) {
        on_nodes(where, [&](Team& team) {
            for (int round = 0; round < 3; ++round) {
                for (const Collective op : operations) {
                    EXPECT_TRUE(is_right(team, op, 1, round, 1)) << to_string(op);
                    EXPECT_TRUE(is_right(team, op, 4099, round, 0)) << to_string(op);
                    EXPECT_TRUE(is_right(team, op, 0, round, 0)) << to_string(op);
                }
            }
        });
    }
}

/// A ring of all ranks, whose messages leave only while their sender looks: ranks 1 and 3 wait
/// within their nodes for 0 and 2, which wait for what 3 and 1 have sent.
TEST(TeamOverNodes, LetsTheCarrierGoOnInWaitsWithinTheNode) {
    const Nodes where{0, 0, 1, 1};
    const nodes::Layout layout(where);
    for (const char* const name : {"flat/ring/shared", "flat/ring/messages"}) {
        ClusterOptions options;
        options.plans = [&](const PlanNeed& need) {
            return nodes::plan_for(need.op, layout, *nodes::scheme_named(name), need.bytes,
                                   need.root);
        };
        on_nodes(
            where,
            [&](Team& team) {
                EXPECT_TRUE(is_right(team, Collective::allgather, 4099, 0, 0)) << name;
            },
            options, nullptr, true);
    }
}

TEST(TeamOverNodes, TellsAllWhatAPlanSourceThrows) {
    ClusterOptions options;
    options.plans = [](const PlanNeed&) -> Plan {
        throw std::range_error("out of plans");
    };
    std::vector<std::string> thrown;
    on_nodes({0, 1, 1}, [](Team& team) { team.barrier(); }, options, &thrown);
    for (const std::string& text : thrown) {
        EXPECT_NE(text.find("no plan: out of plans"), std::string::npos) << text;
    }
}

/// Counts are those of one line, of several blocks, and of pieces.
constexpr std::size_t counts_in_order[] = {1, 1000, 20'000};

unsigned map_of(Rank rank, std::size_t place) {
    return static_cast<unsigned>(2 * rank + 3) << 8U |
           static_cast<unsigned>((static_cast<std::size_t>(rank) + place) % 256);
}

std::vector<unsigned> maps_of(Rank rank, std::size_t first, std::size_t count) {
    std::vector<unsigned> maps(count);
    for (std::size_t i = 0; i < count; ++i) {
        maps[i] = map_of(rank, first + i);
    }
    return maps;
}

/// Those of ranks 0 to before `end`, one after the other.
std::vector<unsigned> all_maps(Rank end, std::size_t first, std::size_t count) {
    std::vector<unsigned> maps = maps_of(0, first, count);
    for (Rank rank = 1; rank < end; ++rank) {
        std::ranges::transform(maps, maps_of(rank, first, count), maps.begin(), Then());
    }
    return maps;
}

bool order_is_kept(Team& team, Collective op, std::size_t count, Rank root) {
    const auto own = static_cast<std::size_t>(team.rank());
    const auto size = static_cast<std::size_t>(team.size());
    const auto one = maps_of(team.rank(), 0, count);
    std::vector<unsigned> output(count);
    switch (op) {
    case Collective::reduce:
        team.reduce(std::span(one), std::span(output), Then(), root);
        return team.rank() != root || output == all_maps(team.size(), 0, count);
    case Collective::allreduce:
        team.allreduce(std::span(one), std::span(output), Then());
        return output == all_maps(team.size(), 0, count);
    case Collective::reduce_scatter: {
        const auto all = maps_of(team.rank(), 0, count * size);
        team.reduce_scatter(std::span(all), std::span(output), Then());
        return output == all_maps(team.size(), own * count, count);
    }
    case Collective::scan:
        team.scan(std::span(one), std::span(output), Then());
        return output == all_maps(team.rank() + 1, 0, count);
    default:
        team.exscan(std::span(one), std::span(output), Then());
        return own == 0 || output == all_maps(team.rank(), 0, count);
    }
}

constexpr Collective reductions[] = {Collective::reduce, Collective::allreduce,
                                     Collective::reduce_scatter, Collective::scan,
                                     Collective::exscan};

TEST_P(OnNodes, EverySchemeThatKeepsTheOrderDoes) {
    const Nodes& where = GetParam();
    const nodes::Layout layout(where);
    int schemes = 0;
    for (const Collective op : reductions) {
        for (const std::size_t count : counts_in_order) {
            for (const auto& scheme : schemes_for(op, layout, count * sizeof(unsigned))) {
                if (!nodes::keeps_order(op, scheme.roles)) {
                    continue;
                }
                ClusterOptions options;
                options.plans = [&](const PlanNeed& need) {
                    EXPECT_TRUE(need.ordered);
                    return nodes::plan_for(need.op, layout, scheme, need.bytes, need.root);
                };
                on_nodes(
                    where,
                    [&](Team& team) {
                        EXPECT_TRUE(order_is_kept(team, op, count, schemes % team.size()))
                            << to_string(op) << " " << name_of(scheme) << " " << count;
                    },
                    options);
                ++schemes;
            }
        }
    }
    EXPECT_GE(schemes, 30);
}

/// In the order of the ranks, also where they are dealt in turns, with any root.
TEST(TeamOverNodes, ReducesWithOperatorsThatDoNotCommute) {
    for (const Nodes& where : {Nodes{0, 0, 0, 1, 1}, Nodes{0, 1, 0, 1, 1}, Nodes{0, 1, 1, 2, 0}}) {
        on_nodes(where, [&](Team& team) {
            for (const Collective op : reductions) {
                for (const std::size_t count : counts_in_order) {
                    const Rank root = static_cast<Rank>(count) % team.size();
                    EXPECT_TRUE(order_is_kept(team, op, count, root))
                        << to_string(op) << " " << count;
                }
            }
        });
    }
}

TEST(TeamOverNodes, SaysWhatItCannotDo) {
    std::vector<std::string> thrown;
    const Nodes where{0, 1};
    on_nodes(
        where,
        [](Team& team) {
            const unsigned one = 1;
            unsigned sum = 0;
            team.allreduce(std::span<const unsigned>(&one, 1), std::span(&sum, 1), Then());
        },
        cluster_test::without_order(where), &thrown);
    for (const std::string& text : thrown) {
        EXPECT_NE(text.find("allreduce of 2 ranks on several nodes has no plan"), std::string::npos)
            << text;
    }
}

/// A plan for one node, of which only two ranks reach another one.
TEST(TeamOverNodes, TellsAllWhenAPlanCannotReachAnotherNode) {
    ClusterOptions options;
    options.plans = [](const PlanNeed& need) {
        return nodes::plan_for(need.op, nodes::Layout(Nodes(4)),
                               *nodes::scheme_named("flat/binomial/messages"), need.bytes,
                               need.root);
    };
    std::vector<std::string> thrown;
    on_nodes(
        {0, 0, 1, 1},
        [](Team& team) {
            int value = 0;
            team.broadcast(std::span(&value, 1), 0);
        },
        options, &thrown);
    for (const std::string& text : thrown) {
        EXPECT_NE(text.find("cannot reach another node"), std::string::npos) << text;
    }
}

TEST(TeamOverNodes, RefusesWhatDoesNotFit) {
    ThreadTeam node(2);
    cluster_test::Switchboard board;
    cluster_test::Line line(board, 0);
    ClusterOptions options;
    options.node_of_rank = {0, 1, 0};
    options.rank = 3;
    EXPECT_THROW(static_cast<void>(over_nodes(node.join(0), line, options)), Error);
    options.rank = 0;
    EXPECT_THROW(static_cast<void>(over_nodes(node.join(1), line, options)),
                 Error); // It is the second one.
    options.node_of_rank = {0, 2, 0};
    ThreadTeam other(2);
    EXPECT_THROW(static_cast<void>(over_nodes(other.join(0), line, options)), Error);
}

TEST(TeamOverNodes, NoticesCallsThatDiffer) {
    std::vector<std::string> thrown;
    on_nodes(
        {0, 1},
        [](Team& team) {
            std::vector<int> data(team.rank() == 0 ? 4 : 8);
            team.broadcast(std::span(data), 0);
        },
        {}, &thrown);
    for (const char* const words : {"16 bytes", "32 bytes", "rank 0 (node 0)", "rank 1 (node 1)"}) {
        EXPECT_NE(thrown[1].find(words), std::string::npos) << thrown[1];
    }
}

/// One rank has the plan and waits for data, the other asks for a plan first.
TEST(TeamOverNodes, NoticesACallThatIsNewElsewhere) {
    std::vector<std::string> thrown;
    on_nodes(
        {0, 1},
        [](Team& team) {
            std::vector<int> data(4);
            team.broadcast(std::span(data), 0);
            data.resize(team.rank() == 0 ? 4096 : 4);
            team.broadcast(std::span(data), 0);
        },
        {}, &thrown);
    EXPECT_NE(thrown[1].find("differ in operation 2"), std::string::npos) << thrown[1];
}

TEST(TeamOverNodes, NamesWhoDoesNotCome) {
    std::vector<std::string> thrown;
    on_nodes(
        {0, 0, 1},
        [](Team& team) {
            if (team.rank() != 2) {
                team.barrier();
            }
        },
        {}, &thrown);
    EXPECT_NE((thrown[0] + thrown[1]).find("another node"), std::string::npos)
        << thrown[0] << "; " << thrown[1];
}

} // namespace
