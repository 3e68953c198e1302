// SPDX-License-Identifier: Apache-2.0
#include "mpi_policy/world.hpp"
#include "policy/agreement.hpp"

#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace corymb::mpi {
namespace {

TEST(AgreementTest, EachKindIsCombinedAsItSays) {
    struct Rank {
        bool any;
        std::uint64_t bits;
        std::uint64_t largest;
        std::uint64_t smallest;
        std::uint64_t few;
        std::uint64_t from_one;
        std::uint64_t sum;
        std::uint64_t same;
        bool is_same = false;
    };
    std::vector<Rank> ranks{{false, 1, 7, 7, 3, 0, 10, 12},
                            {true, 4, 900, 900, 5, 42, 20, 12},
                            {false, 0, 0, 5, 0, 0, 3, 12}};
    std::vector<Agreement> agreements(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        Rank& rank = ranks[i];
        agreements[i].largest(rank.largest); // In an order of the caller's.
        agreements[i].any(rank.any);
        agreements[i].bits({&rank.bits, 1});
        agreements[i].same(rank.same, rank.is_same);
        agreements[i].smallest(rank.smallest);
        agreements[i].largest_of_few(rank.few);
        agreements[i].from_one(rank.from_one);
        agreements[i].sum(rank.sum);
    }
    combine(agreements);
    for (const Rank& rank : ranks) {
        EXPECT_TRUE(rank.any);
        EXPECT_EQ(rank.bits, 5U);
        EXPECT_EQ(rank.largest, 900U);
        EXPECT_EQ(rank.smallest, 5U);
        EXPECT_EQ(rank.few, 5U);
        EXPECT_EQ(rank.from_one, 42U);
        EXPECT_EQ(rank.sum, 33U);
        EXPECT_TRUE(rank.is_same);
    }
}

TEST(AgreementTest, OneDifferentRankIsNotTheSame) {
    std::array<std::uint64_t, 3> values{12, 12, 13};
    std::array<bool, 3> is_same{true, true, true};
    std::vector<Agreement> agreements(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        agreements[i].same(values[i], is_same[i]);
    }
    combine(agreements);
    EXPECT_EQ(is_same, (std::array<bool, 3>{false, false, false}));
}

TEST(AgreementTest, FewSaysSoWhenThereAreMany) {
    std::array<std::uint64_t, 2> values{3, 1000};
    std::vector<Agreement> agreements(values.size());
    agreements[0].largest_of_few(values[0]);
    agreements[1].largest_of_few(values[1]);
    combine(agreements);
    EXPECT_EQ(values, (std::array<std::uint64_t, 2>{Agreement::few_most, Agreement::few_most}));
}

/// Each reduction is a message to all ranks, so none is made for nothing.
TEST(AgreementTest, OnlyNeededReductionsHaveWords) {
    std::uint64_t number = 1;
    Agreement largest;
    largest.largest(number);
    EXPECT_TRUE(largest.words(Agreement::By::bit_or).empty());
    EXPECT_EQ(largest.words(Agreement::By::maximum).size(), 1U);
    Agreement few;
    few.largest_of_few(number);
    EXPECT_EQ(few.words(Agreement::By::bit_or).size(), 1U);
    EXPECT_TRUE(few.words(Agreement::By::maximum).empty());
}

TEST(AgreementTest, TooManyWordsAreRefused) {
    std::vector<std::uint64_t> words(Agreement::words_most + 1);
    Agreement agreement;
    EXPECT_THROW(agreement.bits(words), std::length_error);
}

} // namespace
} // namespace corymb::mpi
