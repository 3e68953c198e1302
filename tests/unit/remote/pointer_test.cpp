// SPDX-License-Identifier: Apache-2.0
// Pointers to elements and members.
#include "remote/among.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>

#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb {
namespace {

template <class Await>
Task<> expect_refused(Await call) {
    try {
        co_await std::move(call);
        ADD_FAILURE() << "the call was not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
    }
}
Task<> refuse_get(Remote<long> of) {
    co_await expect_refused([](Remote<long> from) -> Task<> {
        co_await from.get();
    }(of));
}

/// Rank 0 asks for a pointer of rank 1, whose object lives until all tasks have ended.
template <class T>
Task<Remote<T>> offered_by_1(T& object) {
    co_return co_await at(
        1, [](std::uintptr_t place) { return offer(*reinterpret_cast<T*>(place)); },
        reinterpret_cast<std::uintptr_t>(&object));
}

TEST(RemotePointer, ReachesElements) {
    std::array<long, 10> row{};
    among(2, [&row](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const auto place = reinterpret_cast<std::uintptr_t>(&row);
        const Remote<long> first = co_await at(
            1,
            [](std::uintptr_t of) {
                return offer(std::span(*reinterpret_cast<std::array<long, 10>*>(of)));
            },
            place);
        const std::vector<long> values{1, 2, 3, 4};
        co_await (first + 2).put(values);
        EXPECT_EQ(co_await (first + 3).get(), 2);
        co_await (first + 9).put(7);
        const std::vector<long> got = co_await first.get(10);
        const std::vector<long> expected{0, 0, 1, 2, 3, 4, 0, 0, 0, 7};
        EXPECT_EQ(got, expected);
        const auto add = [](long& value, long by) {
            return std::exchange(value, value + by);
        };
        EXPECT_EQ(co_await (first + 5).call(add, 10L), 4);
        EXPECT_EQ(co_await (first + 5 + 1 + -1).get(), 14);
        co_await refuse_get(first + 10);
        co_await refuse_get(first + -1);
        co_await expect_refused([](Remote<long> from) -> Task<> {
            co_await from.get(2);
        }(first + 9));
        co_await expect_refused([](Remote<long> to, std::span<const long> all) -> Task<> {
            co_await to.put(all);
        }(first + 7, values));
        EXPECT_EQ(row[9], 7) << "a refused call changes nothing";
        co_await first.destroy();
        co_await refuse_get(first + 1);
    });
}

struct Base {
    long balance = 5;
    long add(long by) { return balance += by; }
};
struct Part {
    std::string name = "part";
    std::array<int, 3> marks{1, 2, 3};
};
struct Whole : Part, Base {
    double weight = 1.5;
    Part inner;
};

TEST(RemotePointer, ReachesMembers) {
    Whole whole;
    among(2, [&whole](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const Remote<Whole> all = co_await offered_by_1(whole);
        const Remote<double> weight = co_await all.member<&Whole::weight>();
        EXPECT_EQ(co_await weight.get(), 1.5);
        co_await weight.put(2.5);
        EXPECT_EQ(whole.weight, 2.5);
        const Remote<Base> base = all;
        const Remote<long> balance = co_await base.member<&Base::balance>();
        EXPECT_EQ(co_await base.call<&Base::add>(1L), 6);
        EXPECT_EQ(co_await balance.get(), 6);
        const Remote<Part> inner = co_await all.member<&Whole::inner>();
        const Remote<std::string> name = co_await inner.member<&Part::name>();
        co_await name.put("inner");
        EXPECT_EQ(whole.inner.name, "inner");
        EXPECT_EQ(whole.name, "part");
        // A step leads nowhere: no member that anybody has asked for begins there.
        co_await refuse_get(balance + 1);
        co_await all.destroy();
        co_await refuse_get(balance);
    });
}

TEST(RemotePointer, MembersOfElementsAndElementsThatAreBases) {
    std::vector<Whole> row(4);
    among(2, [&row](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const auto place = reinterpret_cast<std::uintptr_t>(&row);
        const Remote<Whole> first = co_await at(
            1,
            [](std::uintptr_t of) {
                return offer(std::span(*reinterpret_cast<std::vector<Whole>*>(of)));
            },
            place);
        const Remote<double> third = co_await (first + 2).member<&Whole::weight>();
        co_await third.put(9);
        EXPECT_EQ(row[2].weight, 9);
        const Remote<Base> as_base = first + 3;
        co_await as_base.call<&Base::add>(5L);
        EXPECT_EQ(row[3].balance, 10);
    });
}

TEST(RemotePointer, IsAKey) {
    std::array<long, 4> row{};
    among(2, [&row](Rank rank) -> Task<> {
        const Remote<long> first = offer(std::span(row));
        const std::vector<Remote<long>> all = co_await at(
            1 - rank, [](Remote<long> p) { return std::vector<Remote<long>>{p + 1, p, p + 2}; },
            first);
        std::unordered_map<Remote<long>, int> seen;
        for (const Remote<long>& one : all) {
            ++seen[one];
        }
        EXPECT_EQ(seen.size(), 3U);
        EXPECT_EQ(seen.at(first + 1), 1);
        EXPECT_LT(first, first + 1);
        EXPECT_EQ(first + 1 + 1, all[2]);
        co_await first.destroy();
    });
}

TEST(RemotePointer, ToNothingOrOfAnotherGroupIsRefused) {
    Remote<long> foreign;
    long value = 0;
    among(1, [&](Rank) -> Task<> {
        foreign = offer(value);
        co_await refuse_get(Remote<long>());
        co_await foreign.put(1);
    });
    among(2, [&](Rank) -> Task<> { co_await refuse_get(foreign); });
    EXPECT_EQ(value, 1);
}

} // namespace
} // namespace corymb
