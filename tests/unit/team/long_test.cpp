// SPDX-License-Identifier: Apache-2.0
// Counts that do not fit into 31 bits, and teams without end. What takes gigabytes or minutes runs
// with CORYMB_LONG_TESTS=1 only.
#include "sample_plans.hpp"

#include <corymb/planner.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <span>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <vector>

namespace corymb {
namespace {

using namespace team_test;

bool is_long_mode() {
    const char* const text = std::getenv("CORYMB_LONG_TESTS");
    return text != nullptr && std::string_view(text) == "1";
}

/// Zeroes that take no memory until they are written.
class Zeroes {
public:
    explicit Zeroes(std::size_t size)
        : size_(size), data_(::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (data_ == MAP_FAILED) {
            throw std::runtime_error("no memory for the test");
        }
    }
    ~Zeroes() { ::munmap(data_, size_); }
    Zeroes(const Zeroes&) = delete;
    Zeroes& operator=(const Zeroes&) = delete;
    [[nodiscard]] std::span<std::uint8_t> bytes() const {
        return {static_cast<std::uint8_t*>(data_), size_};
    }

private:
    std::size_t size_;
    void* data_;
};

constexpr std::size_t beyond_31_bits = (std::size_t{1} << 31) + 12'345;

void expect_all_but_two(std::span<const std::uint8_t> got, std::size_t first, std::size_t last) {
    std::size_t set = 0;
    for (const std::uint8_t byte : got) {
        set += byte != 0;
    }
    EXPECT_EQ(set, 2u);
    EXPECT_EQ(got[first], 3);
    EXPECT_EQ(got[last], 4);
}

TEST(LongTest, CountsBeyond31Bits) {
    if (!is_long_mode()) {
        GTEST_SKIP() << "needs 2 GiB of memory; set CORYMB_LONG_TESTS=1";
    }
    for (const Mechanism via : {Mechanism::pull, Mechanism::cells}) {
        TeamOptions options;
        options.plans = [via](const PlanNeed& need) {
            return star_broadcast(need.size, need.root, need.bytes, via);
        };
        threads(
            2,
            [](Team& team) {
                const Zeroes data(beyond_31_bits);
                if (team.rank() == 1) {
                    data.bytes()[5] = 3;
                    data.bytes().back() = 4;
                }
                team.broadcast(data.bytes(), 1);
                if (team.rank() == 0) {
                    expect_all_but_two(data.bytes(), 5, beyond_31_bits - 1);
                }
            },
            options);
    }
}

TEST(LongTest, PartsBeyond31Bits) {
    if (!is_long_mode()) {
        GTEST_SKIP() << "needs 2 GiB of memory; set CORYMB_LONG_TESTS=1";
    }
    threads(2, [](Team& team) {
        const std::vector<std::size_t> counts{1, beyond_31_bits};
        const Zeroes mine(counts[static_cast<std::size_t>(team.rank())]);
        mine.bytes().back() = static_cast<std::uint8_t>(3 + team.rank());
        const Zeroes all(team.rank() == 0 ? beyond_31_bits + 1 : 1);
        team.gatherv(std::span<const std::uint8_t>(mine.bytes()), all.bytes(), {counts});
        if (team.rank() == 0) {
            expect_all_but_two(all.bytes(), 0, beyond_31_bits);
        }
    });
}

std::size_t allocated() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

TEST(LongTest, TeamsThatCameAndWentLeaveNothing) {
    static_cast<void>(mallopt(M_ARENA_MAX, 1)); // So that `allocated` sees what every thread has.
    TeamOptions options;
    options.plans = [](const PlanNeed& need) {
        return need.op == Collective::barrier
                   ? dissemination(need.size)
                   : star_broadcast(need.size, need.root, need.bytes, Mechanism::line);
    };
    const int rounds = is_long_mode() ? 10'000 : 60;
    threads(
        3,
        [&](Team& team) {
            std::size_t heap = 0;
            std::size_t shared = 0;
            const auto some = [&](int number) {
                for (int round = 0; round < number; ++round) {
                    Team part = team.split(round % 4 == 3 ? 0 : team.rank() % 2, -team.rank());
                    ASSERT_EQ(part.broadcast(part.rank() + round), round);
                    part.ibarrier().wait();
                }
                team.barrier(); // All parts are gone.
                team.barrier();
            };
            some(30);
            if (team.rank() == 0) {
                heap = allocated();
                shared = team.memory();
            }
            team.barrier();
            some(rounds);
            if (team.rank() == 0) {
                EXPECT_EQ(team.memory(), shared);
                // Threads keep some free pieces of every size for themselves.
                EXPECT_LT(allocated(), heap + 131'072) << "after " << rounds << " rounds";
            }
            team.barrier();
        },
        options);
}

} // namespace
} // namespace corymb
