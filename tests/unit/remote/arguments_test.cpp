// SPDX-License-Identifier: Apache-2.0
// What travels beside values: spans, what can only be moved, and what cereal knows.
#include "remote/among.hpp"

#include <corymb/remote.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<cereal/cereal.hpp>)
#include <corymb/remote_cereal.hpp>

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <map>
#define CORYMB_HAS_CEREAL 1
#endif

namespace corymb {
namespace {

class RemoteArguments : public ::testing::TestWithParam<Rank> {
protected:
    /// Rank 0 runs the task, with the rank that it calls: itself, or another one.
    void caller(const std::function<Task<>(Rank)>& main) const {
        among(2, [&](Rank rank) -> Task<> {
            if (rank == 0) {
                co_await main(GetParam());
            }
        });
    }
};

double total(char /*shifts*/, std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST_P(RemoteArguments, SpansArriveWhole) {
    caller([](Rank to) -> Task<> {
        for (const std::size_t count : {0U, 1U, 3U, 1'000U, 100'000U}) {
            std::vector<double> values(count);
            std::iota(values.begin(), values.end(), 0.0);
            const double expected = total('a', values);
            const double sum = co_await at<&total>(to, 'a', std::span(values));
            EXPECT_EQ(sum, expected);
            const double again = co_await at(
                to,
                [](std::span<const double> all) -> Task<double> {
                    co_await this_task::yield();
                    co_return total('b', all);
                },
                std::span(values));
            EXPECT_EQ(again, expected);
        }
    });
}

TEST_P(RemoteArguments, ATaskOwnsACopyOfASpan) {
    caller([](Rank to) -> Task<> {
        std::vector<int> values{1, 2, 3};
        Task<int> sums = [](Rank there, std::span<const int> all) -> Task<int> {
            co_return co_await at(
                there,
                [](std::span<const int> kept) -> Task<int> {
                    co_await this_task::sleep_for(std::chrono::milliseconds(1));
                    co_return std::accumulate(kept.begin(), kept.end(), 0);
                },
                all);
        }(to, values);
        Spawned<int> sum = spawn(std::move(sums));
        co_await this_task::yield(); // The call has begun.
        values.assign(3, 100);
        EXPECT_EQ(co_await sum, 6);
    });
}

TEST_P(RemoteArguments, WhatCanOnlyBeMovedTravels) {
    caller([](Rank to) -> Task<> {
        auto text = std::make_unique<std::string>("moved");
        const std::unique_ptr<std::string> longer = co_await at(
            to,
            [](std::unique_ptr<std::string> of) {
                *of += " twice";
                return of;
            },
            std::move(text));
        EXPECT_EQ(*longer, "moved twice");
        const std::unique_ptr<int> none =
            co_await at(to, [](std::unique_ptr<int> of) { return of; }, std::unique_ptr<int>());
        EXPECT_EQ(none, nullptr);
    });
}

#ifdef CORYMB_HAS_CEREAL
struct Person {
    std::string name;
    std::map<std::string, int> marks;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(name, marks);
    }
};

TEST_P(RemoteArguments, TypesThatCerealKnowsTravel) {
    caller([](Rank to) -> Task<> {
        Person person;
        person.name = "Ada";
        person.marks["analysis"] = 1;
        const auto grade = [](Person of) {
            of.marks["engines"] = 2;
            return of;
        };
        const Person back = co_await at(to, grade, person);
        EXPECT_EQ(back.name, "Ada");
        EXPECT_EQ(back.marks.size(), 2U);
        EXPECT_EQ(back.marks.at("engines"), 2);
        const std::vector<Person> several(3, person);
        const auto count = [](const std::vector<Person>& of) {
            return of.size();
        };
        EXPECT_EQ(co_await at(to, count, several), 3U);
    });
}
#endif

INSTANTIATE_TEST_SUITE_P(Ranks, RemoteArguments, ::testing::Values(0, 1));

} // namespace
} // namespace corymb
