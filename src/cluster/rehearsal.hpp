// SPDX-License-Identifier: Apache-2.0
// When the best few plans of an operation are timed beside each other. A model of the network
// cannot know what else costs time, such as ranks that share processors; the plans that it holds
// for good can tell by themselves.
#pragma once

#include "team/call.hpp"
#include "team/team_shared.hpp"

#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace corymb::cluster {

/// Which calls come after a rehearsal. Calls are counted alike on all ranks; whether there is time
/// for one, rank 0 says.
class RehearsalPlan {
public:
    explicit RehearsalPlan(bool wanted) noexcept;

    /// Counts the call. True: the ranks ask rank 0 before it. O(log keys).
    [[nodiscard]] bool is_due(const detail::Wish& wish, const detail::Call& call, int size);
    /// There will be no other one for the key.
    void conclude(const team::PlanKey& key) { calls_[key] = concluded; }

    /// On rank 0: of how many plans there is time for one now, where an operation takes so long.
    [[nodiscard]] std::size_t plans_most(std::int64_t operation_ns) const noexcept;
    /// How often each plan is timed in the first round: of long operations little is left to
    /// chance.
    [[nodiscard]] static int first_samples(std::int64_t operation_ns) noexcept;
    void spend(std::int64_t time_ns) noexcept { spent_ns_ += time_ns; }

private:
    static constexpr std::int64_t concluded = -1;

    bool is_wanted_;
    std::int64_t born_ns_;
    std::int64_t spent_ns_ = 0;
    std::map<team::PlanKey, std::int64_t> calls_;
};

/// Results of the same operation differ with the plan: sums of floating point.
[[nodiscard]] bool depends_on_order(const detail::Wish& wish) noexcept;

/// A call like another one, on buffers of its own.
class StandIn {
public:
    explicit StandIn(const detail::Call& call);
    [[nodiscard]] const detail::Call& call() const noexcept { return call_; }

private:
    std::vector<std::byte> input_;
    std::vector<std::byte> output_;
    detail::Call call_;
};

} // namespace corymb::cluster
