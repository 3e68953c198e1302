// SPDX-License-Identifier: Apache-2.0
// Calls of groups against serial results, for several mappings of members to ranks.
#include "remote/among.hpp"

#include <corymb/object_group.hpp>
#include <corymb/this_task.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
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

/// Where the members are: 2n + 1 on n ranks by a mapping, all ranks once, the last one only, or in
/// no order.
std::vector<std::vector<Rank>> places() {
    const std::vector<Rank> all = all_ranks();
    const std::size_t count = 2 * all.size() + 1;
    std::vector<Rank> odd = spread(count, ArrayMapping::cyclic(), {all.back(), 0});
    odd.insert(odd.end(), all.rbegin(), all.rend());
    return {all,
            spread(count, ArrayMapping::block(), all),
            spread(count, ArrayMapping::cyclic(), all),
            spread(count, ArrayMapping::tiled(2), all),
            {all.back()},
            odd};
}

/// A group whose members have the values 1, 2, 3, ..., and those values.
Task<ObjectGroup<Cell>> numbered(std::vector<Rank> on) {
    const auto group = co_await create_group<Cell>(std::move(on), 0L);
    long value = 0;
    for (const Remote<Cell>& member : co_await group.members()) {
        co_await member.call<&Cell::add>(++value);
    }
    co_return group;
}
std::vector<long> numbers(std::size_t count) {
    std::vector<long> all(count);
    std::iota(all.begin(), all.end(), 1L);
    return all;
}
std::string text_of(const std::vector<long>& values) {
    std::string text;
    for (const long value : values) {
        text += std::to_string(value) + " ";
    }
    return text;
}

const auto as_text = [](Cell& cell) {
    return std::to_string(cell.value()) + " ";
};
const auto is_odd = [](const Cell& cell) {
    return cell.value() % 2 == 1;
};

/// What one rank checks with groups that it has made.
Task<> check_all_calls(std::vector<Rank> on) {
    const auto group = co_await numbered(on);
    std::vector<long> expected = numbers(on.size());
    EXPECT_EQ(co_await group.gather<&Cell::value>(), expected);
    EXPECT_EQ(co_await group.gather<&Cell::rank>(), on);
    EXPECT_EQ(co_await group.reduce<&Cell::value>(std::plus<long>()),
              std::reduce(expected.begin(), expected.end()));
    EXPECT_EQ(co_await group.reduce(std::plus<std::string>(), as_text), text_of(expected));
    const auto smaller = commutative([](long a, long b) { return std::min(a, b); });
    EXPECT_EQ(co_await group.reduce<&Cell::value>(smaller), 1);
    std::vector<long> sums(expected.size());
    std::inclusive_scan(expected.begin(), expected.end(), sums.begin());
    EXPECT_EQ(co_await group.scan<&Cell::value>(std::plus<long>()), sums);
    std::exclusive_scan(expected.begin(), expected.end(), sums.begin(), 100L);
    EXPECT_EQ(co_await group.exscan<&Cell::value>(100L, std::plus<long>()), sums);
    const auto texts = co_await group.scan(std::plus<std::string>(), as_text);
    EXPECT_EQ(texts.back(), text_of(expected));
    co_await group.step<&Cell::add_later>(3L);
    const long state = static_cast<long>(on.size());
    co_await group.step([state](Cell& cell, long by) { cell.add(by + state); }, 1L);
    for (long& value : expected) {
        value += 4 + state;
    }
    EXPECT_EQ(co_await group.gather<&Cell::value>(), expected);
}

Task<> check_masked_calls(std::vector<Rank> on) {
    const auto group = co_await numbered(on);
    const long most = static_cast<long>(on.size()) - 1;
    std::vector<long> odd;
    for (long value = 1; value <= most; value += 2) {
        odd.push_back(value);
    }
    const auto some =
        group.where(is_odd).where([most](const Cell& c) { return c.value() <= most; });
    EXPECT_EQ(co_await some.gather<&Cell::value>(), odd);
    EXPECT_EQ(co_await some.gather(as_text),
              co_await (co_await some.select(is_odd)).gather(as_text));
    std::vector<long> sums(odd.size());
    std::inclusive_scan(odd.begin(), odd.end(), sums.begin());
    EXPECT_EQ(co_await some.scan<&Cell::value>(std::plus<long>()), sums);
    if (!odd.empty()) {
        EXPECT_EQ(co_await some.reduce(std::plus<std::string>(), as_text), text_of(odd));
        EXPECT_EQ(co_await some.reduce<&Cell::value>(std::plus<long>()), sums.back());
    }
    const auto kept = co_await group.select(is_odd);
    co_await group.step<&Cell::add>(1L); // Kept members stay, whatever the predicate says now.
    const auto even = co_await kept.gather<&Cell::value>();
    EXPECT_TRUE(std::all_of(even.begin(), even.end(), [](long value) { return value % 2 == 0; }));
    EXPECT_EQ(even.size(), (on.size() + 1) / 2);
    co_await some.step<&Cell::add>(100L);
    std::vector<long> expected = numbers(on.size());
    for (long& value : expected) {
        ++value;
        value += value % 2 == 1 && value <= most ? 100 : 0;
    }
    EXPECT_EQ(co_await group.gather<&Cell::value>(), expected);
}

class GroupOf : public testing::TestWithParam<int> {};

TEST_P(GroupOf, GivesWhatASerialProgramGives) {
    among(GetParam(), [](Rank) -> Task<> {
        for (const auto& on : places()) {
            co_await check_all_calls(on);
        }
    });
}

TEST_P(GroupOf, LeavesOutWhatAPredicateSays) {
    among(GetParam(), [](Rank) -> Task<> {
        for (const auto& on : places()) {
            co_await check_masked_calls(on);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Sizes, GroupOf, testing::Values(1, 2, 3, 5, 8));

TEST(Group, BroadcastsArguments) {
    among(3, [](Rank rank) -> Task<> {
        const auto group = co_await numbered(spread(6, ArrayMapping::cyclic(), all_ranks()));
        const std::vector<long> weights(1000, rank + 1L);
        const auto weigh = [](Cell& cell, const std::vector<long>& by) {
            return cell.value() * std::reduce(by.begin(), by.end());
        };
        EXPECT_EQ(co_await group.reduce(std::plus<long>(), weigh, weights), 21'000 * (rank + 1));
        const auto weigh_in_place = [](Cell& cell, std::span<const long> by) {
            return cell.value() * std::reduce(by.begin(), by.end());
        };
        EXPECT_EQ(co_await group.reduce(std::plus<long>(), weigh_in_place, std::span(weights)),
                  21'000 * (rank + 1));
        const auto count = [](Cell& /*cell*/, const std::string& text) {
            return text.size();
        };
        EXPECT_EQ(co_await group.gather(count, "four"), std::vector<std::size_t>(6, 4));
    });
}

TEST(Group, EachMemberHasACopyOfTheFunction) {
    among(2, [](Rank) -> Task<> {
        const std::vector<Rank> on{0, 0, 1, 1};
        const auto group = co_await create_group<Cell>(on, 0L);
        auto count = [calls = 0L](Cell& /*cell*/) mutable {
            return ++calls;
        };
        EXPECT_EQ(co_await group.gather(count), std::vector<long>(4, 1));
    });
}

TEST(Group, MapGoesOnMeanwhile) {
    among(3, [](Rank) -> Task<> {
        const auto group = co_await create_group<Cell>(all_ranks(), 0L);
        co_await finish([&group] {
            for (long by = 1; by <= 10; ++by) {
                group.map<&Cell::add>(by);
            }
        });
        EXPECT_EQ(co_await group.reduce<&Cell::value>(std::plus<long>()), 165);
        co_await group.where(is_odd).map([](Cell& cell) { cell.add(1); });
        EXPECT_EQ(co_await group.gather<&Cell::value>(), std::vector<long>(3, 56));
    });
}

TEST(Group, IsAValueThatTravels) {
    among(3, [](Rank rank) -> Task<> {
        const auto group = co_await create_group<Cell>(all_ranks(), 1L);
        const auto add_one = [](ObjectGroup<Cell> of) -> Task<ObjectGroup<Cell>> {
            co_await of.step<&Cell::add>(1L);
            co_return of;
        };
        const auto back = co_await at((rank + 1) % 3, add_one, group); // Not the home.
        EXPECT_EQ(back, group);
        EXPECT_EQ(co_await back.reduce<&Cell::value>(std::plus<long>()), 6);
        EXPECT_NE(co_await create_group<Cell>(all_ranks(), 1L), group);
    });
}

/// Has a group of its own.
struct Holder {
    ObjectGroup<Cell> inner;
    void take(ObjectGroup<Cell> given) { inner = given; }
    Task<long> sum() { co_return co_await inner.reduce<&Cell::value>(std::plus<long>()); }
    Task<> add(long by) { co_await inner.step<&Cell::add>(by); }
};

TEST(Group, IsNestedInMembersOfAnother) {
    among(3, [](Rank) -> Task<> {
        const auto outer = co_await create_group<Holder>(all_ranks());
        for (const Remote<Holder>& holder : co_await outer.members()) {
            co_await holder.call<&Holder::take>(co_await create_group<Cell>(all_ranks(), 2L));
        }
        co_await outer.step<&Holder::add>(5L);
        EXPECT_EQ(co_await outer.gather<&Holder::sum>(), std::vector<long>(3, 21));
    });
}

/// Calls the group that it is a member of.
class Asker {
public:
    [[nodiscard]] long one() const { return 1; }
    Task<long> count(ObjectGroup<Asker> own, int depth) const {
        if (depth == 0) {
            co_return co_await own.reduce<&Asker::one>(std::plus<long>());
        }
        co_return co_await own.reduce<&Asker::count>(std::plus<long>(), own, depth - 1);
    }
};

TEST(Group, MembersCallTheirOwnGroupBackInItsCall) {
    among(3, [](Rank) -> Task<> {
        const auto group = co_await create_group<Asker>(all_ranks());
        EXPECT_EQ(co_await group.reduce<&Asker::count>(std::plus<long>(), group, 2), 81);
        // All to all: each member calls each.
        co_await finish([&group] {
            group.map(
                [](Asker&, ObjectGroup<Asker> of) -> Task<> {
                    co_await of.map([](Asker&) {});
                    co_await of.step([](Asker&) {});
                },
                group);
        });
    });
}

/// Its calls exclude each other.
class Ledger {
public:
    static constexpr bool is_exclusive = true;
    Task<> book() {
        EXPECT_FALSE(is_open_);
        is_open_ = true;
        co_await this_task::yield();
        co_await at((here() + 1) % ranks(), [] {});
        is_open_ = false;
        ++booked_;
    }
    void note() {
        EXPECT_FALSE(is_open_);
        ++booked_;
    }
    [[nodiscard]] int booked() const {
        EXPECT_FALSE(is_open_);
        return booked_;
    }
    Task<> ask(ObjectGroup<Ledger> own) { co_await own.step<&Ledger::note>(); }

private:
    bool is_open_ = false;
    int booked_ = 0;
};

TEST(Group, CallsOfItExcludeOthersAsCallsOfItsMembersDo) {
    among(3, [](Rank) -> Task<> {
        const auto group = co_await create_group<Ledger>(all_ranks());
        const auto members = co_await group.members();
        co_await finish([&] {
            for (int i = 0; i < 5; ++i) {
                group.map<&Ledger::book>();
                group.map<&Ledger::note>();
                spawn(group.where([](const Ledger& one) { return one.booked() >= 0; })
                          .step<&Ledger::book>());
            }
            for (const Remote<Ledger>& member : members) {
                spawn([](Remote<Ledger> one) -> Task<> {
                    co_await one.call<&Ledger::book>();
                }(member));
            }
        });
        EXPECT_EQ(co_await group.gather<&Ledger::booked>(), std::vector<int>(3, 16));
        std::optional<Errc> code;
        try { // It would wait for itself.
            co_await members[1].call<&Ledger::ask>(group);
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, Errc::deadlock);
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
        try {
            co_await group.where([](const Cell&) -> bool { throw std::out_of_range("no answer"); })
                .step<&Cell::add>(1L);
            ADD_FAILURE() << "nothing thrown";
        } catch (const TaskErrors& errors) {
            EXPECT_EQ(errors.all().size(), 3U) << "its own, and one of each of two branches";
        }
        EXPECT_EQ(co_await group.reduce<&Cell::value>(std::plus<long>()), 4);
    });
}

TEST(Group, WithoutMembersHasNothingToCombine) {
    among(2, [](Rank) -> Task<> {
        const auto none = co_await make_group(std::vector<Remote<Cell>>());
        co_await none.step<&Cell::add>(1L);
        EXPECT_TRUE((co_await none.gather<&Cell::value>()).empty());
        const auto group = co_await create_group<Cell>(all_ranks(), 0L);
        const auto masked = group.where(is_odd);
        EXPECT_TRUE((co_await masked.scan<&Cell::value>(std::plus<long>())).empty());
        for (const int which : {0, 1, 2, 3}) {
            std::optional<Errc> code;
            try {
                if (which == 0) {
                    co_await none.reduce<&Cell::value>(std::plus<long>());
                } else if (which == 1) {
                    co_await masked.reduce(std::plus<std::string>(), as_text);
                } else if (which == 2) {
                    co_await ObjectGroup<Cell>().step<&Cell::add>(1L);
                } else {
                    co_await make_group(std::vector<Remote<Cell>>(1));
                }
            } catch (const Error& error) {
                code = error.code();
            }
            EXPECT_EQ(code, Errc::invalid_argument) << which;
        }
    });
}

} // namespace
} // namespace corymb
