// SPDX-License-Identifier: Apache-2.0
// One rank's private end of a lane: its counts of all edges of the lane, and its programs on them.
#pragma once

#include "team/compile.hpp"
#include "team/team_shared.hpp"

#include <map>
#include <memory>

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
        : shared_(&shared), rank_(rank), lane_(lane) {}
    LaneEnd(const LaneEnd&) = delete;
    LaneEnd& operator=(const LaneEnd&) = delete;

    /// Compiles on first use. Throws what the plan source or check_plan throws.
    Program& program_for(const team::PlanKey& key) {
        if (last_ != nullptr && key == last_key_) [[likely]] {
            return *last_;
        }
        return find_or_compile(key);
    }
    /// For one message to or from a peer; the input or output is one block.
    Program& pair_program(const team::PairKey& key);
    [[nodiscard]] team::LaneId id() const noexcept { return lane_; }

private:
    Program& find_or_compile(const team::PlanKey& key);
    Program compile(const Plan& plan, std::uint64_t number, const team::Readers& readers);

    TeamShared* shared_;
    Rank rank_;
    team::LaneId lane_;
    team::PlanKey last_key_; ///< Of `last_`: repeated calls find their program at once.
    Program* last_ = nullptr;
    team::Compiler<team::Env>::Peers peers_;
    std::map<team::PlanKey, std::unique_ptr<Program>> programs_;
    std::map<team::PairKey, std::unique_ptr<Program>> pair_programs_;
};

} // namespace corymb::detail
