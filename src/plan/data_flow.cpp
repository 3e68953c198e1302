// SPDX-License-Identifier: Apache-2.0
#include "plan/data_flow.hpp"

#include "plan/refuse.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <string>

namespace corymb::plan {

namespace {

/// 512 MiB of ranges in messages: no plan that makes sense comes near.
constexpr std::size_t message_range_count_max = std::size_t{1} << 25;

} // namespace

DataFlow::DataFlow(const Matching& matching, bool ordered)
    : matching_(matching), plan_(matching.plan()), ordered_(ordered), contributions_(plan_.size()),
      contents_(plan_.steps.size()), message_(matching.step_count()) {
    for (Rank rank = 0; rank < plan_.size(); ++rank) {
        const bool at_root = plan_.op == Collective::broadcast && rank == plan_.root;
        const Buffer buffer = at_root ? Buffer::output : Buffer::input;
        const auto from = contributions_.single(is_reduction(plan_.op) ? rank : 0);
        contents(rank, buffer)
            .assign(0, places_of(plan_, rank, buffer), Content{first_item(plan_, rank), from});
    }
}

/// The name of an item in messages to people.
std::string DataFlow::name_of(Item item) const {
    const std::string block = "block " + std::to_string(item % plan_.block_count);
    if (!has_parts(plan_.op)) {
        return block;
    }
    const Item part = item / plan_.block_count;
    if (plan_.op == Collective::alltoall) {
        return block + " from rank " + std::to_string(part / plan_.parts()) + " for rank " +
               std::to_string(part % plan_.parts());
    }
    return block + " of part " + std::to_string(part);
}

void DataFlow::refuse(StepNumber number, const std::string& what) const {
    plan::refuse(plan_, matching_.rank_of(number), matching_.index_of(number), what);
}

void DataFlow::perform(StepNumber number) {
    const Step& step = matching_.step(number);
    if (step.kind == StepKind::send || step.kind == StepKind::publish ||
        step.kind == StepKind::offer) {
        message_[number].offset = message_ranges_.size();
        collect(number, step.from, message_ranges_);
        message_[number].count = message_ranges_.size() - message_[number].offset;
        if (message_ranges_.size() > message_range_count_max) {
            refuse(number, "the plan is cut so finely that it cannot be checked in reasonable "
                           "memory");
        }
        if (step.kind == StepKind::offer) {
            give_room(number);
        }
        return;
    }
    if (step.kind == StepKind::copy || step.kind == StepKind::put) {
        local_.clear();
        collect(number, step.from, local_);
        deposit(number, local_);
        return;
    }
    if (!has_source(step.kind) || (!is_putting(step.kind) && step.to.count == 0)) {
        return;
    }
    const Extent message = message_[matching_.partner(number)];
    std::span incoming =
        std::span<const Range>(message_ranges_).subspan(message.offset, message.count);
    if (is_reading(step.kind)) {
        incoming = taken(step, incoming);
    }
    if (is_folding(step.kind)) {
        fold(number, incoming);
    } else {
        deposit(number, incoming);
    }
}

/// Appends the contents of the blocks, as ranges that count from 0.
void DataFlow::collect(StepNumber number, const Blocks& blocks, std::vector<Range>& into) const {
    std::uint32_t next = blocks.first;
    const auto refuse_gap = [&](std::uint32_t block) {
        refuse(number, "reads block " + std::to_string(block) + " of " +
                           std::string(to_string(blocks.buffer)) +
                           (blocks.buffer == Buffer::input
                                ? " after writing that of output, which may be the same memory"
                                : ", which holds nothing yet"));
    };
    contents(matching_.rank_of(number), blocks.buffer)
        .for_each(blocks.first, blocks.count, [&](const Range& range) {
            if (range.first != next) {
                refuse_gap(next);
            }
            next = range.end;
            into.push_back({range.first - blocks.first, range.end - blocks.first, range.value});
        });
    if (next != blocks.first + blocks.count) {
        refuse_gap(next);
    }
}

/// The ranges of a publication that a read takes, which count from 0 again. They are valid until
/// the next call.
std::span<const DataFlow::Range> DataFlow::taken(const Step& read, std::span<const Range> all) {
    const std::uint32_t begin = read.offset;
    const std::uint32_t end = begin + read.to.count;
    if (begin == 0 && (all.empty() || all.back().end == end)) {
        return all;
    }
    taken_.clear();
    auto range = std::ranges::upper_bound(all, begin, std::ranges::less{}, &Range::end);
    for (; range != all.end() && range->first < end; ++range) {
        const std::uint32_t first = std::max(range->first, begin);
        taken_.push_back({first - begin, std::min(range->end, end) - begin,
                          range->value.advanced(first - range->first)});
    }
    return taken_;
}

/// Clears the offered blocks: from an offer until the put their contents are unknown.
void DataFlow::give_room(StepNumber offer) {
    const Rank rank = matching_.rank_of(offer);
    const Blocks& to = matching_.step(offer).to;
    contents(rank, to.buffer).erase(to.first, to.count);
    if (to.buffer == Buffer::output) {
        overwrite_input(rank, to.first, to.count);
    }
}

/// Stores ranges that count from 0 into the step's `to`, or into the blocks that a peer has
/// offered.
void DataFlow::deposit(StepNumber number, std::span<const Range> ranges) {
    const StepNumber target =
        is_putting(matching_.step(number).kind) ? matching_.partner(number) : number;
    const Rank rank = matching_.rank_of(target);
    const Blocks& to = matching_.step(target).to;
    for (const Range& range : ranges) {
        const std::uint32_t first = to.first + range.first;
        const std::uint32_t count = range.end - range.first;
        // A place has the length of the block that it stands for.
        if (range.value.item % plan_.block_count != first % plan_.block_count) {
            refuse(number, "puts " + name_of(range.value.item) + " where block " +
                               std::to_string(first % plan_.block_count) + " belongs, into " +
                               std::string(to_string(to.buffer)) + " " + std::to_string(first));
        }
        if (to.buffer == Buffer::output) {
            overwrite_input(rank, first, count);
            stays_in_place_ = stays_in_place_ && range.value.item == goal_item(plan_, rank, first);
        }
        contents(rank, to.buffer).assign(first, count, range.value);
    }
}

/// Clears places of input that may be the same memory as these places of output.
void DataFlow::overwrite_input(Rank rank, std::uint32_t first, std::uint32_t count) {
    const std::uint32_t output = memory_offset(plan_, rank, Buffer::output);
    const std::uint32_t input = memory_offset(plan_, rank, Buffer::input);
    const std::uint32_t begin = std::max(first + output, input);
    const std::uint32_t end =
        std::min(first + count + output, input + places_of(plan_, rank, Buffer::input));
    if (begin < end) {
        contents(rank, Buffer::input).erase(begin - input, end - begin);
    }
}

/// Walks through the local and the incoming ranges side by side.
void DataFlow::fold(StepNumber number, std::span<const Range> incoming) {
    local_.clear();
    result_.clear();
    collect(number, matching_.step(number).from, local_);
    std::size_t l = 0;
    std::size_t i = 0;
    std::uint32_t first = 0;
    while (l < local_.size()) {
        const std::uint32_t end = std::min(local_[l].end, incoming[i].end);
        const auto part = [first, end](const Range& range) {
            return Range{first, end, range.value.advanced(first - range.first)};
        };
        result_.push_back(combined(number, part(local_[l]), part(incoming[i])));
        l += local_[l].end == end ? 1u : 0u;
        i += incoming[i].end == end ? 1u : 0u;
        first = end;
    }
    deposit(number, result_);
}

DataFlow::Range DataFlow::combined(StepNumber number, const Range& local, const Range& incoming) {
    if (local.value.item != incoming.value.item) {
        refuse(number,
               "combines " + name_of(incoming.value.item) + " with " + name_of(local.value.item));
    }
    const bool incoming_first = matching_.step(number).incoming_first;
    const auto left = incoming_first ? incoming.value.from : local.value.from;
    const auto right = incoming_first ? local.value.from : incoming.value.from;
    const auto both = contributions_.join(left, right);
    if (!both) {
        refuse(number, "counts the contribution of rank " +
                           std::to_string(contributions_.first_common(left, right)) + " to " +
                           name_of(local.value.item) + " twice");
    }
    if (ordered_ && !contributions_.are_adjacent(left, right)) {
        refuse(number,
               "combines contributions to " + name_of(local.value.item) + " out of rank order");
    }
    return {local.first, local.end, {local.value.item, *both}};
}

void DataFlow::verify_results() const {
    for (Rank rank = 0; rank < plan_.size(); ++rank) {
        verify_result(rank);
    }
}

void DataFlow::verify_result(Rank rank) const {
    const std::uint32_t places = places_of(plan_, rank, Buffer::output);
    std::uint32_t next = 0;
    const auto missing = [&](const std::string& what) {
        plan::refuse(rank, "ends without " + what + name_of(goal_item(plan_, rank, next)) +
                               " of the result");
    };
    contents(rank, Buffer::output).for_each(0, places, [&](const Range& range) {
        if (range.first != next) {
            missing("");
        }
        for (; next < range.end; next += plan_.block_count - next % plan_.block_count) {
            if (range.value.item + (next - range.first) != goal_item(plan_, rank, next)) {
                missing("");
            }
        }
        const Rank end = goal_end(plan_, rank);
        if (is_reduction(plan_.op) && !contributions_.is_run(range.value.from, 0, end)) {
            const Rank lacking = contributions_.first_missing(range.value.from, end);
            if (lacking < 0) {
                plan::refuse(rank, "ends with the contribution of rank " +
                                       std::to_string(contributions_.last(range.value.from)) +
                                       " in its result, which is of lower ranks only");
            }
            missing("the contribution of rank " + std::to_string(lacking) + " in ");
        }
        next = range.end;
    });
    if (next != places) {
        missing("");
    }
}

} // namespace corymb::plan
