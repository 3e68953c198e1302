// SPDX-License-Identifier: Apache-2.0
// Chooses the plans of a team. A decision is paid once for all calls that share it, and no call
// waits for a search (docs/decisions/0033).
#pragma once

#include "team/plan_memo.hpp"
#include "team/plan_wait.hpp"
#include "team/team_shared.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::detail {

/// The plans of a team's ranks in this process. Calls of a kind begin with a fair plan, made at
/// once. When the calls have taken as long as a search takes, a thread searches. Ranks go over to
/// the plan it has found when they have called equally often. Teams of one shape share plans, and
/// so do roots that are alike. Thread-safe.
class TeamPlans {
public:
    /// If plans are the user's, `made` has no functions: the plans of `team.options` are taken, and
    /// stay.
    TeamPlans(TeamShared& team, team::DefaultPlans made);
    /// Ends the search that is under way.
    ~TeamPlans();
    TeamPlans(const TeamPlans&) = delete;
    TeamPlans& operator=(const TeamPlans&) = delete;

    /// Lanes ask so often at most.
    static constexpr unsigned turns_max = 40;
    struct Agreed {
        const team::SharedPlan* plan; ///< Lives as long as this.
        bool is_last;                 ///< No question is left.
    };
    /// The plan for calls of a key from a lane's `turn`-th question on, below turns_max: all ranks
    /// get the same answer to the same question. Calls whose results depend on the plan
    /// (PlanKey::stays) keep the first. `spent_ns` is the time of the calls since the previous
    /// question. Waits for other ranks that make plans as long as `wait` allows. Throws what the
    /// plan source, check_plan or `wait` throws.
    Agreed agree(team::LaneId lane, const team::PlanKey& key, unsigned turn, std::int64_t spent_ns,
                 PlanWait& wait);
    /// As `agree`, after a search for which the caller waits.
    Agreed agree_on_best(team::LaneId lane, const team::PlanKey& key, unsigned turn,
                         PlanWait& wait);

    /// The plan that blocking calls of a key run with, or would: the last that ranks have agreed
    /// on.
    [[nodiscard]] const Plan& in_use(const team::PlanKey& key, Rank rank);
    [[nodiscard]] std::vector<ChosenPlan> chosen() const;

private:
    using Known = std::shared_ptr<team::KnownPlan>;
    struct Entry {
        explicit Entry(team::SharedPlan plan, bool last) : first(std::move(plan)), is_last(last) {}
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

        team::SharedPlan first;
        bool is_last; ///< Calls stay with the first plan.
        std::optional<team::SharedPlan> better;
        const team::SharedPlan* used = &first; ///< The plan of blocking calls.
        /// Questions of each lane whose time has been added.
        std::map<team::LaneId, unsigned> turns_counted;
    };
    /// Versions of a plan that several processes share, in the arena.
    enum class Version : std::uint64_t { first = 0, better = 1 };

    [[nodiscard]] std::unique_lock<std::mutex> lock_for(const team::PlanKey& key, PlanWait& wait);
    Entry& entry_of(const team::PlanKey& key);
    [[nodiscard]] bool has_better(const team::PlanKey& key, Entry& entry);
    /// `agree` and `agree_on_best`, under the lock.
    Agreed agree_on_one(team::LaneId lane, const team::PlanKey& key, unsigned turn,
                        std::int64_t spent_ns, bool for_best);
    Agreed decide(team::LaneId lane, const team::PlanKey& key, unsigned turn, Entry& entry,
                  bool for_best);

    Known known_plan(const team::PlanKey& key);
    Known best_plan(const team::PlanKey& key);
    [[nodiscard]] Known renumbered(const team::PlanKey& key, const team::KnownPlan& like,
                                   const std::vector<Rank>& rank_of);
    [[nodiscard]] std::optional<plan::Likeness> likeness_of(const team::PlanKey& key) const;
    [[nodiscard]] team::PlanKey kind_of(const team::PlanKey& key) const;
    [[nodiscard]] PlanNeed need_of(const team::PlanKey& key) const;
    [[nodiscard]] team::PlanOrigin origin_of(const team::PlanKey& key) const;

    void search_if_due(const team::PlanKey& key, std::int64_t spent_ns);
    void search(const team::PlanKey& key, const Known& known);

    // Among several processes; common_plan.cpp.
    Known common_plan(const team::PlanKey& key, Version version);
    void publish(const team::PlanKey& key, Version version, const team::KnownPlan& known);
    [[nodiscard]] Known published(const team::PlanKey& key, Version version);

    TeamShared& team_;
    team::DefaultPlans made_;
    std::vector<int> own_cpus_; ///< CPUs that the thread that made this object might use.
    std::uint32_t own_pid_;
    mutable std::mutex mutex_;     ///< Whoever has it may be making a plan.
    std::atomic<Rank> planner_{0}; ///< The rank that has had the lock last.
    PlanWait* wait_ = nullptr;     ///< The wait of the rank that has the lock.
    std::map<team::PlanKey, Entry> entries_;
    std::shared_ptr<std::atomic<bool>> is_searching_;
    std::jthread searcher_;
};

} // namespace corymb::detail
