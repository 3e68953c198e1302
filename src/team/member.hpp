// SPDX-License-Identifier: Apache-2.0
// What one rank of a thread team holds: its engine, its compiled programs, its waiting state.
#pragma once

#include "channel/wait_ladder.hpp"
#include "team/compile.hpp"
#include "team/engine.hpp"
#include "team/team_shared.hpp"

#include <corymb/team.hpp>

#include <map>
#include <memory>
#include <vector>

namespace corymb::detail {

struct Member {
    Member(std::shared_ptr<TeamShared> team, Rank own_rank);

    /// Runs one operation: finds or compiles its program, then executes it. Throws as Team says.
    void run(const team::PlanKey& key, team::Operands operands);
    /// The barrier's own, shorter way to the engine.
    void barrier();

    std::shared_ptr<TeamShared> shared;
    Rank rank;

private:
    using Program = team::Program<team::Env>;

    void execute(Program& program, const team::Operands& operands, const team::PlanKey& key);
    Program& program_for(const team::PlanKey& key);
    [[noreturn]] void fail(const team::PlanKey& key, const Program& program, std::size_t step);

    channel::WaitLadder ladder_;
    team::Engine<team::Env, channel::WaitLadder> engine_;
    std::uint64_t operations_ = 0; ///< Begun by this rank on this team.
    Program* barrier_ = nullptr;
    team::PlanKey last_key_; ///< Of `last_`: repeated calls find their program at once.
    Program* last_ = nullptr;
    team::Compiler<team::Env>::Peers peers_;
    std::map<team::PlanKey, std::unique_ptr<Program>> programs_;
    std::vector<std::byte> scratch_;
};

} // namespace corymb::detail
