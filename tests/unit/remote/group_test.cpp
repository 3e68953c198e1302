// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"

#include <corymb/object_group.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace corymb {
namespace {

/// Members write down where they are called.
class Cell {
public:
    explicit Cell(long value) : value_(value) {}
    void add(long by) { value_ += by; }
    [[nodiscard]] long value() const { return value_; }
    [[nodiscard]] Rank rank() const { return here(); }
    Task<long> add_later(long by) {
        co_await this_task::yield();
        co_return value_ += by;
    }

private:
    long value_;
};

std::vector<Rank> all_ranks(int times = 1) {
    std::vector<Rank> on;
    for (int i = 0; i < times * ranks(); ++i) {
        on.push_back(i % ranks());
    }
    return on;
}

class GroupOf : public testing::TestWithParam<int> {};

TEST_P(GroupOf, CallsEachMemberOnce) {
    among(GetParam(), [](Rank rank) -> Task<> {
        for (const int times : {1, 3}) {
            const auto group = co_await create_group<Cell>(all_ranks(times), 5L);
            EXPECT_EQ(group.size(), static_cast<std::size_t>(times * ranks()));
            co_await group.step<&Cell::add>(2L);
            co_await group.step<&Cell::add_later>(3L);
            const int state = rank;
            co_await group.step([state](Cell& cell, long by) { cell.add(by + state); }, 1L);
            EXPECT_EQ(co_await group.gather<&Cell::value>(),
                      std::vector<long>(group.size(), 11 + rank));
            EXPECT_EQ(co_await group.gather<&Cell::rank>(), all_ranks(times));
        }
    });
}

TEST_P(GroupOf, CombinesInOrder) {
    among(GetParam(), [](Rank rank) -> Task<> {
        const auto group = co_await create_group<Cell>(all_ranks(2), 0L);
        const auto members = co_await group.members();
        for (std::size_t i = 0; i < members.size(); ++i) {
            co_await members[i].template call<&Cell::add>(static_cast<long>(i));
        }
        const auto n = static_cast<long>(group.size());
        EXPECT_EQ(co_await group.reduce<&Cell::value>(std::plus<long>()), n * (n - 1) / 2);
        // Not commutative: the digits stand in the order of the members.
        const auto text = [](Cell& cell) {
            return std::to_string(cell.value());
        };
        std::string expected;
        for (long i = 0; i < n; ++i) {
            expected += std::to_string(i);
        }
        EXPECT_EQ(co_await group.reduce(std::plus<std::string>(), text), expected) << rank;
    });
}

INSTANTIATE_TEST_SUITE_P(Sizes, GroupOf, testing::Values(1, 2, 3, 5, 8));

TEST(Group, APredicateLeavesMembersOut) {
    among(4, [](Rank rank) -> Task<> {
        const auto group = co_await create_group<Cell>(all_ranks(), 0L);
        const int odd = rank + 1 - rank;
        co_await group.step_where([odd](const Cell& cell) { return cell.rank() % 2 == odd; },
                                  [](Cell& cell) { cell.add(7); });
        const std::vector<long> values = co_await group.gather<&Cell::value>();
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_EQ(values[i], i % 2 == 1 ? 7 : 0);
        }
    });
}

TEST(Group, IsAValueThatTravels) {
    among(3, [](Rank rank) -> Task<> {
        const auto group = co_await create_group<Cell>(all_ranks(), 1L);
        // A rank that is no member's calls it, and the home is another one.
        const long sum =
            co_await at((rank + 1) % 3,
                        [](ObjectGroup<Cell> of) -> Task<long> {
                            co_await of.step<&Cell::add>(1L);
                            co_return co_await of.reduce<&Cell::value>(std::plus<long>());
                        },
                        group);
        EXPECT_EQ(sum, 6);
        EXPECT_EQ(group, group);
    });
}

TEST(Group, MembersMayCallGroups) {
    among(3, [](Rank) -> Task<> {
        const auto inner = co_await create_group<Cell>(all_ranks(), 0L);
        const auto outer = co_await create_group<Cell>(all_ranks(), 0L);
        co_await outer.step(
            [](Cell&, ObjectGroup<Cell> of) -> Task<> { co_await of.step<&Cell::add>(1L); }, inner);
        EXPECT_EQ(co_await inner.gather<&Cell::value>(), std::vector<long>(3, 3));
    });
}

TEST(Group, FailuresOfMembersComeBack) {
    among(4, [](Rank) -> Task<> {
        const auto group = co_await create_group<Cell>(all_ranks(), 0L);
        try {
            co_await group.step([](Cell& cell) {
                cell.add(1);
                if (cell.rank() == 2) {
                    throw std::out_of_range("the third");
                }
            });
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::out_of_range& error) {
            EXPECT_STREQ(error.what(), "the third");
        }
        EXPECT_EQ(co_await group.reduce<&Cell::value>(std::plus<long>()), 4);
        const auto none = co_await make_group(std::vector<Remote<Cell>>());
        EXPECT_EQ(none.size(), 0U);
        co_await none.step<&Cell::add>(1L);
        EXPECT_TRUE((co_await none.gather<&Cell::value>()).empty());
        try {
            co_await none.reduce<&Cell::value>(std::plus<long>());
            ADD_FAILURE() << "nothing thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
        try {
            co_await make_group(std::vector<Remote<Cell>>(1));
            ADD_FAILURE() << "nothing thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
    });
}

} // namespace
} // namespace corymb
