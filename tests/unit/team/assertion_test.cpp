// SPDX-License-Identifier: Apache-2.0
// A broken invariant in the middle of an operation, in every form of an operation. The operator
// stands for the library's own code, because it runs where assertions do.
#include "base/assert.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace corymb {
namespace {

/// Adds, but not on rank 1.
struct Broken {
    Rank rank;
    int operator()(int left, int right) const {
        CORYMB_ASSERT(rank != 1);
        return left + right;
    }
};

TEST(AssertionTest, TheTextNamesPlaceAndInvariantAndAsksForAReport) {
    try {
        invariant_broken("sent <= room", "/somewhere/src/channel/ring.hpp", 7);
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.code(), Errc::internal);
        EXPECT_NE(text.find("`sent <= room` does not hold at src/channel/ring.hpp:7;"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("Please report"), std::string::npos) << text;
        return;
    }
    ADD_FAILURE() << "it must throw";
}

TEST(AssertionTest, EndsTheCallOfAllRanks) {
    enum class Form : std::uint8_t { blocking, waited, tested, persistent };
    for (const Form form : {Form::blocking, Form::waited, Form::tested, Form::persistent}) {
        std::atomic<int> told{0};
        threads(3, [&](Team& team) {
            const std::vector<int> in(20, team.rank());
            std::vector<int> out(20);
            const Broken with{team.rank()};
            try {
                if (form == Form::blocking) {
                    team.scan(in, out, with);
                } else {
                    Request request = form == Form::persistent ? team.scan_init(in, out, with)
                                                               : team.iscan(in, out, with);
                    if (form == Form::persistent) {
                        request.start();
                    }
                    while (form == Form::tested && !request.test()) {
                    }
                    if (form != Form::tested) {
                        request.wait();
                    }
                }
                team.barrier();
            } catch (const Error& error) {
                // Others may have been done with the operation, and hear of it in the barrier.
                const bool is_told = error.code() == Errc::internal ||
                                     (team.rank() != 1 && error.code() == Errc::team_broken);
                const std::string text = error.what();
                told += is_told && text.find("`rank != 1` does not hold") != std::string::npos;
            }
        });
        EXPECT_EQ(told, 3) << static_cast<int>(form);
    }
}

} // namespace
} // namespace corymb
