// SPDX-License-Identifier: Apache-2.0
// Ranks that share a CPU know from each other's counts who still needs it. So a rank counts every
// collective that it begins: one that goes by itself, and one that never waits, too.
#include "base/usable_cpus.hpp"
#include "channel/crowd.hpp"
#include "team/call.hpp"
#include "team/member.hpp"

#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace corymb {
namespace {

constexpr int rank_count = 6;
constexpr std::size_t observer = 4;  ///< Sits in the crowd by hand.
constexpr std::size_t elsewhere = 5; ///< Has not been seen on any CPU.
constexpr int operation_count = 5;

class CrowdedRequests : public testing::Test {
protected:
    void SetUp() override {
        const std::vector<int> allowed = usable_cpus().allowed;
        if (allowed.empty() || !set_affinity_mask({allowed.front()}) ||
            ::sched_getcpu() != allowed.front() ||
            allowed.front() >= ::sysconf(_SC_NPROCESSORS_CONF)) {
            GTEST_SKIP() << "this thread cannot be bound to a CPU";
        }
        cpu_ = allowed.front();
        auto memory = std::make_shared<HeapMemory>();
        const Arena arena(*memory);
        TeamOptions options;
        options.cpus.assign(rank_count, cpu_); // More ranks than CPUs.
        shared_ = std::make_shared<detail::TeamShared>(memory, arena, rank_count, options);
    }

    detail::Member& join() {
        return members_.emplace_back(shared_, static_cast<Rank>(members_.size()));
    }

    static detail::Operation* begin_barrier(detail::Member& member, bool is_persistent) {
        detail::Pending& pending = member.pending();
        detail::Operation* operation = &pending.make(detail::Call{}, is_persistent, nullptr);
        pending.start(*operation);
        return operation;
    }

    /// Further ranks join, up to this number, and start so many barriers each.
    void begin_up_to(std::size_t ranks, bool is_persistent) {
        while (members_.size() < ranks) {
            detail::Member& member = join();
            for (int i = 0; i < operation_count; ++i) {
                begun_.push_back({&member, begin_barrier(member, is_persistent)});
            }
        }
    }
    void complete_all() {
        while (!begun_.empty()) {
            std::erase_if(begun_, [](const Begun& one) {
                const bool is_done = one.member->pending().test(*one.operation);
                if (is_done) {
                    one.member->pending().forget(*one.operation);
                }
                return is_done;
            });
        }
    }

    struct Begun {
        detail::Member* member;
        detail::Operation* operation;
    };

    const AffinityGuard guard_;
    int cpu_ = -1;
    std::shared_ptr<detail::TeamShared> shared_;
    std::deque<detail::Member> members_;
    std::vector<Begun> begun_;
};

class CrowdedRequestsOfForm : public CrowdedRequests, public testing::WithParamInterface<bool> {};

TEST_P(CrowdedRequestsOfForm, CountAtTheirStart) {
    ASSERT_NE(shared_->crowd, nullptr);
    channel::Crowd::Seat seat(*shared_->crowd, observer);
    seat.begin(cpu_);
    begin_up_to(observer, GetParam());
    for (int i = 1; i < operation_count; ++i) {
        seat.begin(cpu_);
    }
    EXPECT_FALSE(seat.is_wanted(elsewhere)) << "all that are here have begun as many";
    seat.begin(cpu_);
    EXPECT_TRUE(seat.is_wanted(elsewhere)) << "nobody else has begun this one";
    begin_up_to(rank_count, GetParam());
    complete_all();
}
INSTANTIATE_TEST_SUITE_P(Forms, CrowdedRequestsOfForm, testing::Bool(), [](const auto& form) {
    return form.param ? "persistent" : "nonblocking";
});

} // namespace
} // namespace corymb
