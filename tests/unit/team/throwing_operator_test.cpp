// SPDX-License-Identifier: Apache-2.0
// An operator of the user's that throws, in every form of an operation.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace corymb {
namespace {

/// Adds, but not on rank 1.
struct Thrower {
    Rank rank;
    int operator()(int left, int right) const {
        if (rank == 1) {
            throw std::domain_error("cannot add");
        }
        return left + right;
    }
};

TEST(OperatorTest, WhatItThrowsReachesItsRankAndBreaksTheTeam) {
    enum class Form : std::uint8_t { blocking, waited, tested, progressed };
    for (const Form form : {Form::blocking, Form::waited, Form::tested, Form::progressed}) {
        std::atomic<int> thrown{0};
        std::atomic<int> told{0};
        threads(3, [&](Team& team) {
            const std::vector<int> in(20, team.rank());
            std::vector<int> out(20);
            const Thrower with{team.rank()};
            try {
                if (form == Form::blocking) {
                    team.scan(std::span<const int>(in), std::span(out), with);
                } else {
                    Request request = team.iscan(std::span<const int>(in), std::span(out), with);
                    while (form == Form::progressed && team.progress() > 0) {
                    }
                    while (form == Form::tested && !request.test()) {
                    }
                    if (form != Form::tested) {
                        request.wait();
                    }
                }
                team.barrier();
            } catch (const std::domain_error&) {
                ++thrown;
            } catch (const Error& error) {
                told += error.code() == Errc::team_broken && error.ranks() == std::vector<int>{1};
            }
            EXPECT_NO_THROW(team.complete_all()) << "nothing is under way";
        });
        EXPECT_EQ(thrown, 1) << static_cast<int>(form);
        EXPECT_EQ(told, 2) << static_cast<int>(form);
    }
}

} // namespace
} // namespace corymb
