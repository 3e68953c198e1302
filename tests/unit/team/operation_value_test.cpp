// SPDX-License-Identifier: Apache-2.0
// Operations as values, whose type and operator are known at run time only.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corymb {
namespace {

using Longs = std::vector<std::int64_t>;

/// Does the operation in each of its three forms; `check` looks at the result of each.
template <class Check>
void in_each_form(Team& team, const CollectiveOperation& operation, const Check& check) {
    team.run(operation);
    check("run");
    team.start(operation).wait();
    check("started");
    Request prepared = team.prepare(operation);
    ASSERT_TRUE(prepared.is_persistent());
    for (int round = 0; round < 2; ++round) {
        prepared.start();
        prepared.wait();
        check("prepared");
    }
}

TEST(OperationValueTest, CombinesElementsOfATypeThatIsChosenAtRunTime) {
    threads(3, [](Team& team) {
        const std::array<float, 2> floats{0.5F, static_cast<float>(team.rank())};
        const Longs longs{7, -team.rank()};
        std::array<float, 2> float_out{};
        Longs long_out(2);
        for (const ElementType type : {ElementType::float32, ElementType::int64}) {
            const bool is_float = type == ElementType::float32;
            CollectiveOperation operation{Collective::allreduce};
            operation.input = is_float ? static_cast<const void*>(floats.data()) : longs.data();
            operation.output = is_float ? static_cast<void*>(float_out.data()) : long_out.data();
            operation.count = 2;
            operation.reduction = reduction_of(type, Operator::sum);
            in_each_form(team, operation, [&](const char* form) {
                if (is_float) {
                    EXPECT_EQ(float_out, (std::array{1.5F, 3.0F})) << form;
                } else {
                    EXPECT_EQ(long_out, (Longs{21, -3})) << form;
                }
                float_out = {};
                long_out.assign(2, 0);
            });
        }
    });
}

TEST(OperationValueTest, MovesPartsOfOneLengthAndOfSeveral) {
    threads(3, [](Team& team) {
        const auto rank = static_cast<std::size_t>(team.rank());
        const Longs own(rank, team.rank());
        Longs all(6, -1);
        const std::array<std::size_t, 3> counts{0, 1, 2};
        const std::array<std::size_t, 3> begins{0, 4, 1};
        CollectiveOperation gathered{Collective::allgather, 0, own.data(), all.data(), rank};
        gathered.reduction = move_of(ElementType::int64);
        gathered.is_vector = true;
        gathered.output_parts = {counts, begins};
        in_each_form(team, gathered, [&](const char* form) {
            EXPECT_EQ(all, (Longs{-1, 2, 2, -1, 1, -1})) << form;
            all.assign(6, -1);
        });
        std::int64_t word = team.rank() == 1 ? 42 : 0;
        CollectiveOperation told{Collective::broadcast, 1, nullptr, &word, 1};
        told.reduction = move_of<std::int64_t>();
        in_each_form(team, told, [&](const char* form) {
            EXPECT_EQ(word, 42) << form;
            word = team.rank() == 1 ? 42 : 0;
        });
        in_each_form(team, {}, [](const char* /*form*/) {}); // A barrier.
    });
}

TEST(OperationValueTest, MeetsTheFunctionThatIsNamedAfterTheOperation) {
    threads(2, [](Team& team) {
        std::int64_t sum = 0;
        const std::int64_t own = team.rank() + 1;
        const auto reduction = reduction_of<std::int64_t, std::plus<>>();
        if (team.rank() == 0) {
            team.run({Collective::allreduce, 0, &own, &sum, 1, reduction});
        } else {
            sum = team.allreduce(own);
        }
        EXPECT_EQ(sum, 3);
    });
}

TEST(OperationValueTest, KeepsTheStateOfAnOperatorWithTheRequest) {
    threads(2, [](Team& team) {
        struct Scaled {
            int factor;
            std::int64_t operator()(std::int64_t a, std::int64_t b) const {
                return factor * (a + b);
            }
        };
        const std::int64_t own = team.rank() + 1;
        std::int64_t out = 0;
        auto state = std::make_shared<const Scaled>(Scaled{5});
        const std::weak_ptr<const Scaled> watched = state;
        CollectiveOperation operation{Collective::allreduce, 0, &own, &out, 1};
        operation.reduction = reduction_of<std::int64_t>(*state);
        {
            Request request = team.prepare(operation, std::move(state));
            EXPECT_FALSE(watched.expired());
            request.start();
            request.wait();
            EXPECT_EQ(out, 15);
        }
        EXPECT_TRUE(watched.expired());
    });
}

/// The text of the refusal; empty when there is none.
std::string refusal(Team& team, const CollectiveOperation& operation) {
    try {
        team.run(operation);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_THROW(static_cast<void>(team.start(operation)), Error);
        EXPECT_THROW(static_cast<void>(team.prepare(operation)), Error);
        return error.what();
    }
    return "";
}

TEST(OperationValueTest, SaysWhatIsMissing) {
    ThreadTeam made(1);
    Team team = made.join(0);
    const double in = 1;
    double out = 0;
    CollectiveOperation operation{Collective::allreduce, 0, &in, &out, 1};
    EXPECT_NE(refusal(team, operation).find("reduction_of"), std::string::npos);
    operation.reduction.element_bytes = sizeof(double);
    EXPECT_NE(refusal(team, operation).find("operator is missing"), std::string::npos);
    operation.reduction = move_of<double>();
    EXPECT_NE(refusal(team, operation).find("operator is missing"), std::string::npos);
    operation.reduction = reduction_of<double, std::plus<>>();
    operation.root = 1;
    EXPECT_NE(refusal(team, operation).find("root 1"), std::string::npos);
    operation.root = 0;
    EXPECT_EQ(refusal(team, operation), "");
    team.leave();
    threads(2, [&](Team& pair) {
        CollectiveOperation rooted = operation;
        rooted.root = 1;
        EXPECT_NE(refusal(pair, rooted).find("has no root"), std::string::npos);
    });
    team = ThreadTeam(1).join(0);
    operation.op = Collective::gather;
    operation.reduction = {};
    EXPECT_NE(refusal(team, operation).find("move_of"), std::string::npos);
    operation.op = Collective::scan;
    operation.is_vector = true;
    operation.reduction = reduction_of<double, std::plus<>>();
    EXPECT_NE(refusal(team, operation).find("no such operation"), std::string::npos);
    operation.op = static_cast<Collective>(collective_count);
    EXPECT_NE(refusal(team, operation).find("no operation"), std::string::npos);
}

} // namespace
} // namespace corymb
