// SPDX-License-Identifier: Apache-2.0
#include "plan/part_names.hpp"

#include "plan/matching.hpp"
#include "plan/refuse.hpp"
#include "plan/step_kind.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace corymb::plan {

namespace {

/// The end of the scratch that a rank's steps name.
std::size_t scratch_end(const std::vector<Step>& steps) {
    std::size_t end = 0;
    for (const Step& step : steps) {
        for (const Blocks& blocks : {step.from, step.to}) {
            if (blocks.buffer == Buffer::scratch) {
                end = std::max(end, std::size_t{blocks.first} + blocks.count);
            }
        }
    }
    return end;
}

} // namespace

PartName part_of(const Plan& plan, Rank rank, Buffer buffer, std::uint32_t place) {
    const auto own = static_cast<PartName>(rank);
    const auto ranks = static_cast<PartName>(plan.size());
    const bool is_input = buffer == Buffer::input;
    switch (plan.op) {
    case Collective::alltoall: return is_input ? own * ranks + place : place * ranks + own;
    case Collective::scatter:
    case Collective::reduce_scatter: return is_input ? place : own;
    default: return is_input ? own : place;
    }
}

PartNames::PartNames(const Plan& plan) : plan_(&plan) {
    if (!has_parts(plan.op) || plan.block_count != 1) {
        throw Error(Errc::invalid_plan,
                    "plan " + plan.algorithm +
                        ": parts of different lengths need an operation that has parts, and plans "
                        "with one block a part");
    }
    first_.push_back(0);
    for (const auto& steps : plan.steps) {
        first_.push_back(first_.back() + scratch_end(steps));
    }
    parent_.resize(first_.back());
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    name_.assign(parent_.size(), no_part);
    const Matching matching(plan);
    matching_ = &matching;
    for (StepNumber number = 0; number < matching.step_count(); ++number) {
        follow(number);
    }
    matching_ = nullptr;
}

std::vector<PartName> PartNames::in_scratch(Rank rank) const {
    std::vector<PartName> names;
    const auto own = static_cast<std::size_t>(rank);
    for (std::size_t place = first_[own]; place < first_[own + 1]; ++place) {
        names.push_back(name_[root_of(place)]);
    }
    return names;
}

/// Follows a step: moved parts have one name at both ends, combined parts one name in all three
/// places.
void PartNames::follow(StepNumber number) {
    const Matching& matching = *matching_;
    const Step& step = matching.step(number);
    const Rank own = matching.rank_of(number);
    if (step.kind == StepKind::copy) {
        equate(number, {own, step.from}, {own, step.to});
        return;
    }
    if (!has_source(step.kind) || step.kind == StepKind::wait) {
        return;
    }
    const StepNumber partner = matching.partner(number);
    const Step& other = matching.step(partner);
    const Rank there = matching.rank_of(partner);
    if (is_putting(step.kind)) {
        equate(number, {own, step.from}, {there, other.to});
        if (is_folding(step.kind)) {
            equate(number, {there, other.from}, {there, other.to});
        }
        return;
    }
    if (is_reading(step.kind) && step.to.count != other.from.count) {
        plan::refuse(*plan_, own, matching.index_of(number),
                     "takes a part of a publication; where parts differ in length, its reader does "
                     "not know where that part begins");
    }
    equate(number, {there, other.from}, {own, step.to});
    if (is_folding(step.kind)) {
        equate(number, {own, step.from}, {own, step.to});
    }
}

void PartNames::equate(StepNumber number, const Place& one, const Place& other) {
    const bool first_is_scratch = one.blocks.buffer == Buffer::scratch;
    const bool second_is_scratch = other.blocks.buffer == Buffer::scratch;
    for (std::uint32_t i = 0; i < one.blocks.count; ++i) {
        const std::uint32_t here = one.blocks.first + i;
        const std::uint32_t there = other.blocks.first + i;
        if (first_is_scratch && second_is_scratch) {
            unite(number, scratch_place(one.rank, here), scratch_place(other.rank, there));
        } else if (first_is_scratch) {
            name(number, scratch_place(one.rank, here),
                 part_of(*plan_, other.rank, other.blocks.buffer, there));
        } else if (second_is_scratch) {
            name(number, scratch_place(other.rank, there),
                 part_of(*plan_, one.rank, one.blocks.buffer, here));
        } else if (part_of(*plan_, one.rank, one.blocks.buffer, here) !=
                   part_of(*plan_, other.rank, other.blocks.buffer, there)) {
            refuse(number);
        }
    }
}

std::size_t PartNames::scratch_place(Rank rank, std::uint32_t place) const {
    return first_[static_cast<std::size_t>(rank)] + place;
}

std::size_t PartNames::root_of(std::size_t place) const noexcept {
    while (parent_[place] != place) {
        parent_[place] = parent_[parent_[place]];
        place = parent_[place];
    }
    return place;
}

void PartNames::name(StepNumber number, std::size_t place, PartName part) {
    PartName& known = name_[root_of(place)];
    if (known != no_part && known != part) {
        refuse(number);
    }
    known = part;
}

void PartNames::unite(StepNumber number, std::size_t one, std::size_t other) {
    const std::size_t root = root_of(one);
    const std::size_t joining = root_of(other);
    if (name_[joining] != no_part) {
        name(number, root, name_[joining]);
    }
    parent_[joining] = root;
}

void PartNames::refuse(StepNumber number) const {
    plan::refuse(*plan_, matching_->rank_of(number), matching_->index_of(number),
                 "puts parts into one place that may differ in length");
}

} // namespace corymb::plan
