// SPDX-License-Identifier: Apache-2.0
// One rank's private end of a lane: its counts of all edges of the lane, and its programs on them.
#pragma once

#include "team/compile.hpp"
#include "team/team_shared.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace corymb::team {

enum class Direction : std::uint8_t { send, receive };

/// Identifies this rank's half of a message between two ranks.
struct PairKey {
    Rank peer = -1;
    Direction direction = Direction::send;
    Mechanism via = Mechanism::line;

    auto operator<=>(const PairKey&) const = default;
};

} // namespace corymb::team

namespace corymb::detail {

class LaneEnd {
public:
    using Program = team::Program<team::Env>;

    LaneEnd(TeamShared& shared, Rank rank, team::LaneId lane)
        : shared_(&shared), rank_(rank), lane_(lane), deadline_ns_(shared.deadline_ns) {}
    LaneEnd(const LaneEnd&) = delete;
    LaneEnd& operator=(const LaneEnd&) = delete;

    /// Longest wait for a plan that another rank makes; at first the team's deadline.
    void set_deadline(std::int64_t deadline_ns) noexcept { deadline_ns_ = deadline_ns; }
    /// How long the last search for a plan has taken, or the wait for it; then 0 until the next.
    [[nodiscard]] std::int64_t take_planning_ns() noexcept {
        return std::exchange(planning_ns_, 0);
    }
    /// The program of the lane's next call of a key, which counts. Compiles on first use, and when
    /// all ranks go over to a better plan at this call; programs stay where they are. Throws what
    /// the plan source or check_plan throws.
    Program& program_for(const team::PlanKey& key) {
        if (last_ != nullptr && key == last_key_ && counts(*last_)) [[likely]] {
            CORYMB_DEBUG_ASSERT(last_ == programs_[key].all.back().get());
            return *last_;
        }
        return find_or_compile(key);
    }
    /// Whether the next call may have the program, too, which counts then; else `program_for` says.
    [[nodiscard]] static bool counts(Program& program) noexcept {
        if (program.calls_left == 0) {
            return false;
        }
        --program.calls_left;
        return true;
    }
    /// From the next call of a key on ranks have the best plan that a search finds; the caller
    /// waits for it.
    void take_best(const team::PlanKey& key);
    /// The plan that the last call of a key has run with; null before there was one.
    [[nodiscard]] const Plan* plan_in_use(const team::PlanKey& key) const {
        const auto found = programs_.find(key);
        const bool is_known = found != programs_.end() && found->second.plan != nullptr;
        return is_known ? found->second.plan->plan.get() : nullptr;
    }
    /// For one message to or from a peer; the input or output is one block.
    Program& pair_program(const team::PairKey& key);
    [[nodiscard]] team::LaneId id() const noexcept { return lane_; }

private:
    /// The programs of a key, the one in use last.
    struct Programs {
        std::vector<std::unique_ptr<Program>> all;
        const team::SharedPlan* plan = nullptr; ///< Source of the program in use.
        unsigned turn = 0;                      ///< Questions that were asked.
        bool is_last = false;                   ///< No question is left.
        std::int64_t asked_ns = 0;              ///< When the last question was.
    };
    Program& find_or_compile(const team::PlanKey& key);
    void ask(const team::PlanKey& key, Programs& programs, bool for_best);
    Program compile(const team::SharedPlan& shared);

    TeamShared* shared_;
    Rank rank_;
    team::LaneId lane_;
    std::int64_t deadline_ns_;
    std::int64_t planning_ns_ = 0;
    team::PlanKey last_key_; ///< The key of `last_`: repeated calls find their program at once.
    Program* last_ = nullptr;
    team::Compiler<team::Env>::Peers peers_;
    std::map<team::PlanKey, Programs> programs_;
    std::map<team::PairKey, std::unique_ptr<Program>> pair_programs_;
};

} // namespace corymb::detail
