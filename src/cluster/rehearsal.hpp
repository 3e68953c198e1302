// SPDX-License-Identifier: Apache-2.0
// Times the best few plans of an operation beside each other. A model of the network does not cover
// all costs, such as those of ranks that share processors; the timed plans do.
#pragma once

#include "team/call.hpp"
#include "team/team_shared.hpp"

#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace corymb::cluster {

/// Decides which calls come after a rehearsal. All ranks count calls alike; rank 0 decides whether
/// there is time for one.
class RehearsalPlan {
public:
    explicit RehearsalPlan(bool wanted) noexcept;

    /// Counts the call. True: the ranks ask rank 0 before it. O(log keys).
    [[nodiscard]] bool is_due(const detail::Call& call, int size);
    /// Ends the rehearsals of a key.
    void conclude(const team::PlanKey& key) { calls_[key].calls = concluded; }
    /// Counts a rehearsal in which this many plans were timed beside the present one. `is_whole`:
    /// all that there are, or all that it may time. A rehearsal may go wrong, or leave out the best
    /// plan. So a second one times others, from where the first ended, and a third times the best.
    void count(const team::PlanKey& key, std::size_t others, bool is_whole);
    /// Plans that were timed so far beside the present one; at most `others_in_all`.
    [[nodiscard]] std::size_t timed(const team::PlanKey& key) { return calls_[key].timed; }
    /// Plans that the next rehearsal may time beside the present one.
    [[nodiscard]] std::size_t others_most(const team::PlanKey& key);
    /// Whether the next rehearsal is the last one, of the best plans so far.
    [[nodiscard]] bool is_final(const team::PlanKey& key);
    static constexpr std::size_t others_in_all = 15;

    /// Whether there may be another rehearsal.
    [[nodiscard]] bool is_open(const team::PlanKey& key) const noexcept {
        const auto found = calls_.find(key);
        return found != calls_.end() && found->second.calls != concluded;
    }
    /// A call for such a key has taken so long on this rank.
    void note(const team::PlanKey& key, std::int64_t time_ns);
    /// How long such a call takes, as far as is known; 0: it is not.
    [[nodiscard]] std::int64_t mean_ns(const team::PlanKey& key);

    /// On rank 0: the number of plans that there is time for now, if an operation takes so long.
    [[nodiscard]] std::size_t plans_most(const team::PlanKey& key, std::int64_t operation_ns);
    /// How often each of so many plans is timed in the first round, as far as there is time, and at
    /// least once.
    [[nodiscard]] int first_samples(const team::PlanKey& key, std::size_t plans,
                                    std::int64_t operation_ns);
    /// Times of all plans in one round, at most.
    static constexpr std::size_t times_of_round_most = 64;
    void spend(const team::PlanKey& key, std::int64_t time_ns);

private:
    static constexpr std::int64_t concluded = -1;

    struct Progress {
        std::int64_t calls = 0;
        std::size_t rehearsals = 0;
        std::size_t timed = 0;
        std::int64_t calls_timed = 0; ///< Here, with the time that they took.
        std::int64_t calls_ns = 0;
        std::int64_t spent_ns = 0;
    };

    /// Operations that there is time for now.
    [[nodiscard]] std::int64_t operations_most(const Progress& progress,
                                               std::int64_t operation_ns) const noexcept;

    bool is_wanted_;
    std::int64_t born_ns_;
    std::int64_t spent_ns_ = 0;
    std::map<team::PlanKey, Progress> calls_;
};

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
