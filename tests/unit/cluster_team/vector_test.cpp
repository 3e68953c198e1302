// SPDX-License-Identifier: Apache-2.0
// Parts of different lengths over several nodes.
#include "cluster_team/switchboard.hpp"
#include "cluster_team/unequal.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/request.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace {

using namespace corymb;
using cluster_test::Lengths;
using cluster_test::on_nodes;
using cluster_test::Order;
using cluster_test::Unequal;
using cluster_test::vector_operations;

using Nodes = std::vector<int>;

class OnUnequalNodes : public testing::TestWithParam<Nodes> {};

/// Every scheme that can be used, on one length and one order of the parts each.
TEST_P(OnUnequalNodes, EverySchemeThatKnowsLengthsIsRight) {
    const Nodes& where = GetParam();
    const nodes::Layout layout(where);
    constexpr int leaders[] = {1, 2};
    std::size_t number = 0;
    for (const Collective op : vector_operations) {
        for (const nodes::Scheme& scheme : nodes::all_schemes(leaders)) {
            const bool passes_on = op != Collective::allgather &&
                                   op != Collective::reduce_scatter &&
                                   scheme.exchange != nodes::Exchange::direct;
            if (passes_on || !nodes::applies(op, layout, scheme, 800)) {
                continue;
            }
            ClusterOptions options;
            options.plans = [&](const PlanNeed& need) {
                EXPECT_TRUE(need.keeps_parts);
                return nodes::plan_for(need.op, layout, scheme, need.bytes, need.root);
            };
            const Order order = number % 2 == 0 ? Order::dense : Order::reversed_with_gaps;
            const Lengths lengths{number % 3 == 0 ? std::size_t{3000} : std::size_t{6}};
            const auto root = static_cast<Rank>(number++ % where.size());
            std::vector<char> right(where.size(), 1);
            on_nodes(
                where,
                [&](Team& team) {
                    Unequal call(team, op, order, lengths, root);
                    for (int round = 0; round < 3; ++round) {
                        call.fill(round);
                        call.run();
                        if (!call.is_right()) {
                            right[static_cast<std::size_t>(team.rank())] = 0;
                        }
                    }
                },
                options);
            ASSERT_EQ(std::ranges::count(right, 0), 0) << to_string(op) << name_of(scheme);
            ASSERT_FALSE(HasFailure()) << to_string(op) << " " << name_of(scheme);
        }
    }
    EXPECT_GT(number, 20u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnUnequalNodes,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 1, 0, 1, 1},
                                         Nodes{0, 1, 1, 1, 2}, Nodes{0, 1, 2}));

/// Each rank is right after every operation of the choice, in all forms.
TEST(UnequalParts, AreRightInAllFormsAndPlacements) {
    for (const Nodes& where : {Nodes{0, 0, 1, 1}, Nodes{1, 0, 0, 1, 0}, Nodes{0, 0, 0}}) {
        on_nodes(where, [&](Team& team) {
            std::vector<Unequal> calls;
            for (const Collective op : vector_operations) {
                for (const Order order : {Order::dense, Order::reversed_with_gaps}) {
                    calls.emplace_back(team, op, order, Lengths{2000}, 1);
                    calls.emplace_back(team, op, order, Lengths{10}, 0);
                }
            }
            std::vector<Request> persistent;
            for (Unequal& call : calls) {
                persistent.push_back(call.request(true));
            }
            for (int round = 0; round < 3; ++round) {
                std::ranges::for_each(calls, [&](Unequal& call) { call.fill(round); });
                std::ranges::for_each(calls, [](Unequal& call) { call.run(); });
                EXPECT_TRUE(std::ranges::all_of(calls, &Unequal::is_right)) << "blocking";
                std::ranges::for_each(calls, [&](Unequal& call) { call.fill(round + 10); });
                std::vector<Request> requests;
                for (Unequal& call : calls) {
                    requests.push_back(call.request(false));
                }
                std::ranges::for_each(requests, &Request::wait);
                EXPECT_TRUE(std::ranges::all_of(calls, &Unequal::is_right)) << "nonblocking";
                std::ranges::for_each(calls, [&](Unequal& call) { call.fill(round + 20); });
                std::ranges::for_each(persistent, &Request::start);
                std::ranges::for_each(persistent, &Request::wait);
                EXPECT_TRUE(std::ranges::all_of(calls, &Unequal::is_right)) << "persistent";
            }
        });
    }
}

/// Rank r's own part is where it belongs before the operation begins.
TEST(UnequalParts, MayBeInPlace) {
    on_nodes({0, 1, 1, 0}, [](Team& team) {
        const std::vector<std::size_t> counts{3, 0, 5, 1};
        const std::vector<std::size_t> places{9, 0, 2, 12};
        const auto own = static_cast<std::size_t>(team.rank());
        std::vector<int> data(13, -1);
        std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(places[own]), counts[own],
                    team.rank());
        const std::span<int> all(data);
        team.allgatherv(std::span<const int>(all.subspan(places[own], counts[own])), all,
                        Parts{counts, places});
        EXPECT_EQ(data, (std::vector{-1, -1, 2, 2, 2, 2, 2, -1, -1, 0, 0, 0, 3}));
    });
}

/// Each byte enters a node once, and the parts that stay in a node are not sent.
TEST(UnequalParts, EnterANodeOnce) {
    const Nodes where{0, 0, 1, 1, 2, 2};
    const nodes::Layout layout(where);
    const std::vector<std::size_t> counts{10, 20, 30, 0, 50, 60};
    ClusterOptions options;
    options.plans = [&](const PlanNeed& need) {
        return nodes::plan_for(need.op, layout, *nodes::scheme_named("lanes/2/bruck/shared"),
                               need.bytes, need.root);
    };
    std::vector<std::uint64_t> in(3);
    std::mutex lock;
    on_nodes(
        where,
        [&](Team& team) {
            const auto own = static_cast<std::size_t>(team.rank());
            std::vector<char> part(counts[own]);
            std::vector<char> all(170);
            team.allgatherv(std::span<const char>(part), std::span(all), Parts{counts});
            const std::lock_guard guard(lock);
            in[own / 2] += carried(team).bytes_in;
        },
        options);
    EXPECT_EQ(in, (std::vector<std::uint64_t>{140, 140, 60}));
}

/// By the root, or by the leader of its node.
TEST(UnequalParts, ThatAreShorterThanTheRootSaysAreNoticed) {
    for (const bool is_far : {true, false}) {
        std::vector<std::string> thrown;
        on_nodes(
            {0, 0, 1, 1},
            [&](Team& team) {
                std::vector<std::size_t> counts{1, 2, 3, 4};
                const Rank wrong = is_far ? 2 : 1;
                const auto own = static_cast<std::size_t>(team.rank());
                std::vector<int> part(counts[own] - (team.rank() == wrong ? 1 : 0));
                std::vector<int> all(team.rank() == 0 ? 10 : 0);
                team.gatherv(std::span<const int>(part), std::span(all), Parts{counts}, 0);
                team.barrier();
            },
            {}, &thrown);
        const std::string all = thrown[0] + thrown[1] + thrown[2];
        EXPECT_NE(all.find(is_far ? "differ in operation 1" : "rank"), std::string::npos) << all;
        EXPECT_NE(thrown[0], "") << is_far;
    }
}

/// A part that takes several messages.
TEST(UnequalParts, MayBeLongerThanAMessage) {
    if (std::getenv("CORYMB_LONG_TESTS") == nullptr) {
        GTEST_SKIP() << "needs 7 GiB of memory; set CORYMB_LONG_TESTS=1";
    }
    on_nodes({0, 1}, [](Team& team) {
        const std::vector<std::size_t> counts{3, (std::size_t{2} << 30) + 5};
        std::vector<char> part(counts[static_cast<std::size_t>(team.rank())], 'a');
        part[part.size() - 2] = 'b';
        std::vector<char> all(team.rank() == 0 ? counts[0] + counts[1] : 0);
        team.gatherv(std::span<const char>(part), std::span(all), Parts{counts}, 0);
        if (team.rank() == 0) {
            EXPECT_EQ(std::ranges::count(all, 'a'), std::ssize(all) - 2);
            EXPECT_EQ(all[1], 'b');
            EXPECT_EQ(all[all.size() - 2], 'b');
        }
    });
}

TEST(UnequalParts, TellAllWhatAPlanDoesNotKnow) {
    const Nodes where{0, 1, 2, 3};
    ClusterOptions options;
    options.plans = [&](const PlanNeed& need) {
        return nodes::plan_for(need.op, nodes::Layout(where),
                               *nodes::scheme_named("lanes/1/binomial/shared"), need.bytes,
                               need.root);
    };
    std::vector<std::string> thrown;
    on_nodes(
        where,
        [](Team& team) {
            const std::vector<std::size_t> counts{1, 2, 3, 4};
            std::vector<int> part(counts[static_cast<std::size_t>(team.rank())]);
            std::vector<int> all(10);
            team.gatherv(std::span<const int>(part), std::span(all), Parts{counts}, 0);
        },
        options, &thrown);
    for (const std::string& text : thrown) {
        EXPECT_NE(text.find("whose length its node does not know"), std::string::npos) << text;
    }
}

} // namespace
