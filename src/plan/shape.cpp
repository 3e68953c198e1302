// SPDX-License-Identifier: Apache-2.0
#include "plan/shape.hpp"

#include "plan/copies.hpp"
#include "plan/limits.hpp"
#include "plan/places.hpp"
#include "plan/refuse.hpp"
#include "plan/step_kind.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>

namespace corymb::plan {

namespace {

[[noreturn]] void refuse_head(const std::string& what) {
    throw Error(Errc::invalid_plan, "plan: " + what);
}

void check_head(const Plan& plan) {
    if (plan.steps.empty() || plan.steps.size() > simulated_rank_count_max) {
        refuse_head("must have from 1 to " + std::to_string(simulated_rank_count_max) + " ranks");
    }
    if (plan.root < 0 || plan.root >= plan.size()) {
        refuse_head("root " + std::to_string(plan.root) + " is not one of its " +
                    std::to_string(plan.size()) + " ranks");
    }
    if (static_cast<std::size_t>(plan.op) >= collective_count) {
        refuse_head("has an unknown operation");
    }
    if (plan.op == Collective::barrier) {
        if (plan.block_count != 0 || plan.scratch_blocks != 0) {
            refuse_head("a barrier has no blocks");
        }
    } else if (plan.block_count == 0) {
        refuse_head("block_count must be at least 1");
    }
    if (std::uint64_t{plan.block_count} * plan.parts() > block_count_max ||
        plan.scratch_blocks > block_count_max) {
        refuse_head("has more than " + std::to_string(block_count_max) + " blocks in a buffer");
    }
    if (plan.bytes_max > payload_bytes_max) {
        refuse_head("bytes_max is too large");
    }
    if (plan.cell_slots < cell_slots_least || plan.cell_slots > cell_slots_most) {
        refuse_head("cell_slots must be from " + std::to_string(cell_slots_least) + " to " +
                    std::to_string(cell_slots_most));
    }
    std::size_t steps = 0;
    for (const auto& program : plan.steps) {
        steps += program.size();
    }
    if (steps > simulated_step_count_max) {
        refuse_head("has more than " + std::to_string(simulated_step_count_max) + " steps");
    }
}

class ShapeOfStep {
public:
    ShapeOfStep(const Plan& plan, Rank rank, std::size_t index)
        : plan_(plan), rank_(rank), index_(index),
          step_(plan.steps[static_cast<std::size_t>(rank)][index]) {}

    void check() const {
        if (step_.kind > StepKind::put_fold || step_.via > Mechanism::push) {
            refuse("unknown kind or mechanism");
        }
        check_peer();
        check_kind_belongs();
        check_unused_fields();
        check_mechanism();
        check_blocks("from", step_.from, uses_from(step_.kind));
        check_blocks("to", step_.to, uses_to(step_.kind));
        check_pair_of_ranges();
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        plan::refuse(plan_, rank_, index_, what);
    }

    void check_peer() const {
        if (!has_peer(step_.kind)) {
            if (step_.peer != -1) {
                refuse("names a peer, but this kind of step has none");
            }
        } else if (step_.peer < 0 || step_.peer >= plan_.size()) {
            refuse("peer is not one of the " + std::to_string(plan_.size()) + " ranks");
        } else if (step_.peer == rank_ && !is_reading(step_.kind)) {
            refuse("a rank cannot be its own peer, but to read what it has published");
        }
    }

    void check_kind_belongs() const {
        const bool moves_data =
            !empty_publication() && (uses_from(step_.kind) || uses_to(step_.kind));
        if (plan_.op == Collective::barrier && moves_data) {
            refuse("a barrier moves no data");
        }
        if (!is_reduction(plan_.op) && is_folding(step_.kind)) {
            refuse("this operation combines nothing");
        }
    }

    void check_unused_fields() const {
        if ((!uses_from(step_.kind) && step_.from != Blocks{}) ||
            (!uses_to(step_.kind) && step_.to != Blocks{})) {
            refuse("names blocks that this kind of step does not use");
        }
        if (!is_reading(step_.kind) && (step_.ordinal != 0 || step_.offset != 0)) {
            refuse("only read and read_fold name an ordinal, or an offset in a publication");
        }
        if (!is_folding(step_.kind) && step_.incoming_first) {
            refuse("only fold, read_fold and put_fold have an order of operands");
        }
    }

    void check_mechanism() const {
        const Mechanism via = step_.via;
        const bool local = step_.kind == StepKind::signal || step_.kind == StepKind::wait ||
                           step_.kind == StepKind::copy || empty_publication();
        const bool meets = via == Mechanism::exchange &&
                           (step_.kind == StepKind::signal || step_.kind == StepKind::wait);
        if (local && !meets && !is_acknowledgement(step_)) {
            if (via != Mechanism::none) {
                refuse("moves no bytes between ranks and so has no mechanism");
            }
            return;
        }
        if (is_acknowledgement(step_)) {
            return; // check_copies looks at them together.
        }
        const bool writes_there = step_.kind == StepKind::offer || is_putting(step_.kind);
        if (writes_there != (via == Mechanism::push)) {
            refuse(writes_there ? "an offer, and what is put there, goes via push"
                                : "only offer, put and put_fold go via push");
        }
        if (writes_there) {
            return;
        }
        const bool is_publication = step_.kind == StepKind::publish || is_reading(step_.kind);
        if (via == Mechanism::none ||
            (is_publication && via != Mechanism::line && via != Mechanism::pull)) {
            refuse(is_publication ? "a publication goes via line or pull"
                                  : "a message goes via line, cells, pull, network or exchange");
        }
        const std::uint64_t count =
            uses_from(step_.kind) && !is_folding(step_.kind) ? step_.from.count : step_.to.count;
        const std::uint64_t room =
            via == Mechanism::exchange ? exchange_payload_bytes : line_payload_bytes;
        if ((via == Mechanism::line || via == Mechanism::exchange) &&
            most_bytes_of(plan_, count) > room) {
            refuse("its blocks, cut at whole elements, may not fit the " + std::to_string(room) +
                   " bytes that a message via " + std::string(to_string(via)) +
                   " has when the payload has bytes_max = " + std::to_string(plan_.bytes_max));
        }
    }

    /// A publish or read of no blocks is a pure notification.
    [[nodiscard]] bool empty_publication() const {
        return (step_.kind == StepKind::publish && step_.from.count == 0) ||
               (step_.kind == StepKind::read && step_.to.count == 0);
    }

    void check_blocks(const std::string& field, const Blocks& blocks, bool used) const {
        if (!used) {
            return;
        }
        if (blocks.count == 0) {
            const bool only_lends_room = step_.kind == StepKind::offer && field == "from";
            if (!empty_publication() && !only_lends_room) {
                refuse(field + " has no blocks");
            }
            if (blocks != Blocks{}) {
                refuse(field + " has no blocks, but names a place");
            }
            return;
        }
        if (blocks.buffer > Buffer::scratch) {
            refuse(field + " names an unknown buffer");
        }
        const std::uint32_t available = places_of(plan_, rank_, blocks.buffer);
        if (std::uint64_t{blocks.first} + blocks.count > available) {
            refuse(field + " reaches beyond the " + std::to_string(available) + " blocks that " +
                   std::string(to_string(blocks.buffer)) + " has on this rank");
        }
        const std::uint32_t begin = blocks.first % plan_.block_count;
        const bool in_one_part = begin + std::uint64_t{blocks.count} <= plan_.block_count;
        if (!in_one_part && (begin != 0 || blocks.count % plan_.block_count != 0)) {
            refuse(field + " reaches over the end of a part without covering whole parts");
        }
        if (field == "to" && blocks.buffer == Buffer::input) {
            refuse("input is never written");
        }
    }

    void check_pair_of_ranges() const {
        if (!uses_both(step_.kind) || (step_.kind == StepKind::offer && step_.from.count == 0)) {
            return;
        }
        const Blocks& from = step_.from;
        const Blocks& to = step_.to;
        if (from.count != to.count) {
            refuse("from and to differ in their number of blocks");
        }
        // The caller may give the same memory as input and output.
        const bool same_memory = (from.buffer == Buffer::scratch) == (to.buffer == Buffer::scratch);
        const std::uint64_t begin_from =
            std::uint64_t{from.first} + memory_offset(plan_, rank_, from.buffer);
        const std::uint64_t begin_to =
            std::uint64_t{to.first} + memory_offset(plan_, rank_, to.buffer);
        const bool overlap = begin_from < begin_to + to.count && begin_to < begin_from + from.count;
        if (same_memory && overlap && begin_from != begin_to) {
            refuse("from and to overlap without being equal");
        }
        if (step_.kind == StepKind::copy && from == to) {
            refuse("copies blocks onto themselves");
        }
    }

    const Plan& plan_;
    Rank rank_;
    std::size_t index_;
    const Step& step_;
};

/// Via exchange a rank sends to a peer and takes from it in turns, beginning with sending.
void check_turns(const Plan& plan, Rank rank) {
    const auto& program = plan.steps[static_cast<std::size_t>(rank)];
    std::unordered_map<Rank, std::size_t> to_take; // peer -> step that has sent to it
    for (std::size_t index = 0; index < program.size(); ++index) {
        const Step& step = program[index];
        if (step.via != Mechanism::exchange) {
            continue;
        }
        if (is_sending(step.kind) && !to_take.emplace(step.peer, index).second) {
            refuse(plan, rank, index,
                   "sends twice via exchange without taking the peer's message between");
        }
        if (!is_sending(step.kind) && to_take.erase(step.peer) == 0) {
            refuse(plan, rank, index, "takes via exchange without having sent to the peer before");
        }
    }
    for (const auto& [peer, index] : to_take) {
        refuse(plan, rank, index, "sends via exchange and never takes the peer's message");
    }
}

/// All messages that may take a copy along have room at once, and nothing depends on an
/// acknowledgement that may be left out.
void check_copies(const Plan& plan) {
    if (!may_copy(plan)) {
        return;
    }
    if (plan.bytes_max < any_part_bytes) {
        refuse_head("only messages of plans for any length may take a copy along");
    }
    if (!holds_all_copies(plan)) {
        refuse_head("its channels do not hold all copies of " + std::to_string(plan.copied_cells) +
                    " cells at once");
    }
    const auto acknowledges = [](const Step& step) {
        return step.via != Mechanism::none || is_acknowledgement(step) ||
               (step.kind != StepKind::signal && step.kind != StepKind::wait);
    };
    const bool are_all = std::ranges::all_of(plan.steps, [&](const std::vector<Step>& steps) {
        return std::ranges::all_of(steps, acknowledges);
    });
    const bool are_none = std::ranges::none_of(plan.steps, [](const std::vector<Step>& steps) {
        return std::ranges::any_of(steps, is_acknowledgement);
    });
    if (!are_none && !(are_all && acknowledges_one_by_one(plan))) {
        refuse_head("signals via pull must acknowledge messages by pull one by one, before waits "
                    "that end their ranks");
    }
}

} // namespace

void check_shape(const Plan& plan) {
    check_head(plan);
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        const std::size_t count = plan.steps[static_cast<std::size_t>(rank)].size();
        for (std::size_t index = 0; index < count; ++index) {
            ShapeOfStep(plan, rank, index).check();
        }
        check_turns(plan, rank);
    }
    check_copies(plan);
}

} // namespace corymb::plan
