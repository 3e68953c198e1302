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
    void conclude(const team::PlanKey& key) { calls_[key].calls = concluded; }
    /// There has been one in which this many others than the present plan were timed; `is_whole`:
    /// as many as there are, or as it may time. Such a one may go wrong, or leave out the best:
    /// there is a second one with others, and a third of the best. Others go on where they ended.
    void count(const team::PlanKey& key, std::size_t others, bool is_whole);
    /// How many others have been timed so far; at most `others_in_all`.
    [[nodiscard]] std::size_t timed(const team::PlanKey& key) { return calls_[key].timed; }
    /// How many others the next one may time.
    [[nodiscard]] std::size_t others_most(const team::PlanKey& key);
    /// It is the last one, of those that were the best so far.
    [[nodiscard]] bool is_final(const team::PlanKey& key);
    static constexpr std::size_t others_in_all = 15;

    /// There may be one more.
    [[nodiscard]] bool is_open(const team::PlanKey& key) const noexcept {
        const auto found = calls_.find(key);
        return found != calls_.end() && found->second.calls != concluded;
    }
    /// A call for such a key has taken so long on this rank.
    void note(const team::PlanKey& key, std::int64_t time_ns);
    /// How long such a call takes, as far as is known; 0: it is not.
    [[nodiscard]] std::int64_t mean_ns(const team::PlanKey& key);

    /// On rank 0: of how many plans there is time for one now, where an operation takes so long.
    [[nodiscard]] std::size_t plans_most(const team::PlanKey& key, std::int64_t operation_ns);
    /// How often each of so many plans is timed in the first round, as far as there is time, and at
    /// least once.
    [[nodiscard]] int first_samples(const team::PlanKey& key, std::size_t plans,
                                    std::int64_t operation_ns);
    /// What one round takes of all plans at most.
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

    /// That there is time for now.
    [[nodiscard]] std::int64_t operations_most(const Progress& progress,
                                               std::int64_t operation_ns) const noexcept;

    bool is_wanted_;
    std::int64_t born_ns_;
    std::int64_t spent_ns_ = 0;
    std::map<team::PlanKey, Progress> calls_;
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
