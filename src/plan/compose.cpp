// SPDX-License-Identifier: Apache-2.0
#include "plan/compose.hpp"

#include "plan/limits.hpp"
#include "plan/step_kind.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace corymb {

namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "composition: " + what);
}

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// A rank of a phase in the whole plan, and where the phase's input and output are for it. Places
/// of scratch begin behind `scratch`.
struct Role {
    Rank rank = -1;
    Buffer input = Buffer::input;
    Buffer output = Buffer::output;
};

/// Appends phases to a plan.
class Composition {
public:
    Composition(Plan& plan, std::uint32_t reserved_scratch)
        : plan_(plan), reserved_(reserved_scratch) {}

    void append(const Plan& phase, std::span<const Role> roles) {
        const std::uint32_t factor =
            phase.block_count == 0 ? 1 : plan_.block_count / phase.block_count;
        if (phase.scratch_blocks > 0 && plan_.op != Collective::barrier) {
            plan_.scratch_blocks =
                std::max(plan_.scratch_blocks, reserved_ + phase.scratch_blocks * factor);
        }
        for (Rank rank = 0; rank < phase.size(); ++rank) {
            const Role& role = roles[at(rank)];
            for (Step step : phase.steps[at(rank)]) {
                if (plan_.op == Collective::barrier && !notified(step)) {
                    continue;
                }
                if (step.peer >= 0) {
                    step.peer = roles[at(step.peer)].rank;
                }
                place(step.from, role, factor);
                place(step.to, role, factor);
                step.offset *= factor;
                if (step.kind == StepKind::copy && step.from == step.to) {
                    continue; // The result of a phase is the input of the next.
                }
                plan_.steps[at(role.rank)].push_back(step);
            }
        }
    }

private:
    /// Reduces a step to its notification, when no data moves. False: nothing is left of it.
    static bool notified(Step& step) {
        if (step.kind == StepKind::copy) {
            return false;
        }
        if (plan::is_sending(step.kind) || plan::is_receiving(step.kind)) {
            const bool exchanged = step.via == Mechanism::exchange;
            step.kind = plan::is_sending(step.kind) ? StepKind::signal : StepKind::wait;
            step.via = exchanged ? Mechanism::exchange : Mechanism::none;
        } else {
            step.kind = plan::is_reading(step.kind) ? StepKind::read : step.kind;
            step.via = Mechanism::none;
        }
        step.from = {};
        step.to = {};
        step.offset = 0;
        step.incoming_first = false;
        return true;
    }

    void place(Blocks& blocks, const Role& role, std::uint32_t factor) const {
        if (blocks.count == 0) {
            return;
        }
        blocks.first *= factor;
        blocks.count *= factor;
        if (blocks.buffer == Buffer::scratch) {
            blocks.first += reserved_;
        } else {
            blocks.buffer = blocks.buffer == Buffer::input ? role.input : role.output;
        }
    }

    Plan& plan_;
    std::uint32_t reserved_;
};

void check_groups(Collective op, std::span<const RankGroup> groups, const Plan& leaders) {
    if (op > Collective::allreduce) {
        refuse(std::string(to_string(op)) + " is not composed of groups");
    }
    if (leaders.op != op || at(leaders.size()) != groups.size()) {
        refuse("the leaders need a plan of the operation for one rank a group");
    }
    for (const RankGroup& group : groups) {
        const auto size = static_cast<Rank>(group.members.size());
        if (group.leader < 0 || group.leader >= size) {
            refuse("a group has no leader");
        }
        const auto fits = [&](const Plan& plan, Collective wanted) {
            return size == 1 ||
                   (plan.op == wanted && plan.size() == size && plan.root == group.leader);
        };
        if ((op != Collective::broadcast && !fits(group.up, Collective::reduce)) ||
            (op != Collective::reduce && !fits(group.down, Collective::broadcast))) {
            refuse("the plans of a group are not for its size and leader");
        }
    }
}

/// Visits every plan of the composition that is used.
template <class Visit>
void for_each_phase(Collective op, std::span<const RankGroup> groups, const Plan& leaders,
                    Visit visit) {
    visit(leaders);
    for (const RankGroup& group : groups) {
        if (group.members.size() > 1 && op != Collective::broadcast) {
            visit(group.up);
        }
        if (group.members.size() > 1 && op != Collective::reduce) {
            visit(group.down);
        }
    }
}

/// Size, blocks and payload of the whole.
Plan start(Collective op, std::span<const RankGroup> groups, const Plan& leaders,
           std::string_view algorithm) {
    Plan plan;
    plan.op = op;
    plan.algorithm = algorithm;
    std::size_t size = 0;
    for (const RankGroup& group : groups) {
        size += group.members.size();
    }
    std::vector<bool> taken(size, false);
    for (const RankGroup& group : groups) {
        for (const Rank rank : group.members) {
            if (rank < 0 || at(rank) >= size || taken[at(rank)]) {
                refuse("the groups do not have every rank once");
            }
            taken[at(rank)] = true;
        }
    }
    plan.steps.resize(size);
    const RankGroup& first = groups[at(leaders.root)];
    plan.root = first.members[at(first.leader)];
    if (op == Collective::barrier) {
        return plan;
    }
    std::uint64_t blocks = 1;
    plan.bytes_max = leaders.bytes_max;
    for_each_phase(op, groups, leaders, [&](const Plan& phase) {
        blocks = std::lcm(blocks, std::uint64_t{phase.block_count});
        if (blocks > plan::block_count_max) {
            refuse("the plans cut the payload too differently");
        }
        plan.bytes_max = std::min(plan.bytes_max, phase.bytes_max);
    });
    plan.block_count = static_cast<std::uint32_t>(blocks);
    return plan;
}

std::vector<Role> roles_of(const RankGroup& group, Buffer leaders_output) {
    std::vector<Role> roles;
    for (const Rank rank : group.members) {
        roles.push_back({rank, Buffer::input, Buffer::output});
    }
    roles[at(group.leader)].output = leaders_output;
    return roles;
}

} // namespace

Plan compose(Collective op, std::span<const RankGroup> groups, const Plan& leaders,
             std::string_view algorithm) {
    check_groups(op, groups, leaders);
    Plan plan = start(op, groups, leaders, algorithm);
    // A leader that need not have an output keeps its group's partial result in scratch.
    const bool aside = op == Collective::reduce;
    Composition composition(plan, aside ? plan.block_count : 0);
    std::vector<Role> leading;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const RankGroup& group = groups[g];
        const bool is_root = static_cast<Rank>(g) == leaders.root;
        const Buffer partial = aside && !is_root ? Buffer::scratch : Buffer::output;
        Role role{group.members[at(group.leader)], Buffer::input, Buffer::output};
        if (group.members.size() > 1 && op != Collective::broadcast) {
            composition.append(group.up, roles_of(group, partial));
            role.input = partial;
            if (partial == Buffer::scratch) {
                plan.scratch_blocks = std::max(plan.scratch_blocks, plan.block_count);
            }
        }
        leading.push_back(role);
    }
    composition.append(leaders, leading);
    for (const RankGroup& group : groups) {
        if (group.members.size() > 1 && op != Collective::reduce) {
            composition.append(group.down, roles_of(group, Buffer::output));
        }
    }
    return plan;
}

} // namespace corymb
