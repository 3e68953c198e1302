// SPDX-License-Identifier: Apache-2.0
// One rank of a team: its engine, its compiled programs, its waiting state.
#pragma once

#include "base/one_user.hpp"
#include "channel/wait_ladder.hpp"
#include "team/disagreement.hpp"
#include "team/engine.hpp"
#include "team/lane.hpp"
#include "team/pending.hpp"
#include "team/recent_calls.hpp"
#include "team/team_shared.hpp"
#include "team/wide_team.hpp"

#include <corymb/team.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace corymb::detail {

struct Member final : private channel::Watch {
    Member(std::shared_ptr<TeamShared> team, Rank own_rank);

    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Runs one operation: finds or compiles its program, then executes it. Throws as Team says.
    void run(const CollectiveOperation& operation);
    /// Runs one operation with a call that is kept and repeated, with these buffers.
    void run(KnownCall& known, const void* input, void* output);
    /// The checked call for `operation`, valid until the next one. Throws Errc::invalid_argument.
    const Call& call_for(const CollectiveOperation& operation) {
        return recent_calls_.call_for(*this, operation).call;
    }
    /// The barrier's own, shorter way to the engine.
    void barrier();
    /// The plan that this rank's blocking calls of a key run with, or would.
    [[nodiscard]] const Plan& plan(const team::PlanKey& key);
    /// See Team::warm_up.
    void warm_up(const team::PlanKey& key);
    /// As Team::set_limits.
    void set_limits(const CallLimits& limits);
    [[nodiscard]] const CallLimits& limits() const noexcept { return limits_; }
    /// Nonblocking and persistent operations, and messages between two ranks, of a team on one
    /// node.
    Pending& pending();
    /// An operation that is not started yet; its driver goes on with it. `keep` lives as long.
    [[nodiscard]] Operation& make(const Call& call, bool is_persistent,
                                  std::shared_ptr<const void> keep);
    /// As Team's functions of these names.
    std::size_t progress();
    void complete_all();
    [[nodiscard]] ChosenPlan chosen_plan(const team::PlanKey& key);
    [[nodiscard]] std::vector<ChosenPlan> chosen_plans() const;
    [[nodiscard]] TeamStatistics statistics() const;
    void abandon(const std::string& why);
    /// Makes the handle one on a team over several nodes, as rank `of_all` of `count`.
    void span(std::unique_ptr<WideTeam> over_nodes, Rank of_all, int count);
    /// Throws Errc::unsupported for what only teams on one node do; `why` goes on after a colon.
    void require_one_node(const char* what, const char* why) const;
    /// Whether requests may be there that know this rank.
    [[nodiscard]] bool has_requests() const noexcept {
        return pending_ != nullptr || wide != nullptr;
    }

    std::shared_ptr<TeamShared> shared;
    Rank rank;       ///< Among the ranks that share memory.
    Rank whole_rank; ///< Among all ranks; differs from `rank` in a team over several nodes only.
    int whole_size;
    OneUser user{"team"};
    std::unique_ptr<WideTeam> wide; ///< Null: all ranks are on one node.

private:
    using Program = team::Program<team::Env>;

    /// Asks the user's hook, where it wants to be asked often.
    struct Visitor final : channel::Watch {
        explicit Visitor(Member& asking) noexcept : member(&asking) {}
        [[nodiscard]] bool is_lost() noexcept override { return member->is_interrupted(); }
        Member* member;
    };

    /// Breaks the team when the token of the limits says so; called by the thread that requests the
    /// stop.
    struct OnStop {
        Member* member;
        void operator()() const noexcept { member->interrupt(" was told to stop"); }
    };

    [[nodiscard]] bool is_lost() noexcept override;
    [[nodiscard]] bool is_interrupted() noexcept;
    bool interrupt(const char* why) noexcept;
    [[nodiscard]] std::int64_t deadline_ns() const noexcept;
    [[nodiscard]] std::optional<team::Failure> contradiction();
    void choose_barrier();
    void let_root_leave_first() noexcept;
    template <class Make>
    void make_first(const Make& make, Program& program);
    void perform(PreparedCall& prepared);
    void begin(team::CallTerms terms);
    [[noreturn]] void refuse(team::CallTerms terms);
    void tell(const team::CallTerms& terms);
    void execute(const team::CallTerms& terms, Program& program, team::Operands& operands,
                 const team::PlanKey& key);
    void end();
    [[nodiscard]] bool may_give_up() const noexcept;
    void fail_by_exception();
    [[noreturn]] void fail(const team::PlanKey& key, std::size_t step);
    [[nodiscard]] team::Failure reason(const team::PlanKey& key, std::size_t step);

    Visitor visitor_{*this};
    channel::WaitLadder ladder_;
    team::Engine<team::Env, channel::WaitLadder> engine_;
    int exceptions_before_;        ///< Exceptions on their way when the handle was made.
    std::uint64_t operations_ = 0; ///< Begun by this rank on this team.
    team::CallDigest digest_;      ///< Digest of the terms of all operations begun.
    WaitDoubts doubts_;
    std::uint64_t long_waits_ = 0; ///< Looks of the watch, each after a look at the awaited word.
    team::PlanKey barrier_key_;
    Program* barrier_ = nullptr; ///< The program of `barrier_key_`; null: not looked for yet.
    team::Operands nothing_;     ///< Operands of barriers.
    LaneEnd lane_;
    RecentCalls recent_calls_;
    std::vector<std::byte> scratch_;
    std::unique_ptr<Pending> pending_; ///< Made when first needed.
    CallLimits limits_;
    /// The callback of `limits_`; ends before the rest.
    std::optional<std::stop_callback<OnStop>> on_stop_;
};

/// Ends a handle: waits for a call that another thread is in. A parent process's members are left
/// alone.
void let_go(Member* member) noexcept;

} // namespace corymb::detail
