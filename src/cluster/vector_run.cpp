// SPDX-License-Identifier: Apache-2.0
#include "cluster/vector_run.hpp"

#include "base/copy_bytes.hpp"
#include "plan/places.hpp"

#include <numeric>

namespace corymb::cluster {

namespace {

std::size_t sum_of(const std::size_t* lengths, std::size_t parts) {
    return std::accumulate(lengths, lengths + parts, std::size_t{0});
}

/// The offsets of parts that lie side by side from `first` on.
std::vector<std::size_t> offsets_of(const std::size_t* lengths, std::size_t parts,
                                    std::size_t first) {
    std::vector<std::size_t> offsets(parts);
    std::exclusive_scan(lengths, lengths + parts, offsets.begin(), first);
    return offsets;
}

/// Parts that are empty may be anywhere.
bool lie_so(const team::Layout& layout, const std::vector<std::size_t>& offsets) {
    for (std::size_t part = 0; part < offsets.size(); ++part) {
        if (layout.lengths[part] != 0 && layout.offsets[part] != offsets[part]) {
            return false;
        }
    }
    return true;
}

std::size_t first_offset(const team::Layout& layout, std::size_t parts) {
    for (std::size_t part = 0; part < parts; ++part) {
        if (layout.lengths[part] != 0) {
            return layout.offsets[part];
        }
    }
    return 0;
}

} // namespace

VectorRun::VectorRun(const VectorPlan& plan, const Home& home, Rank rank,
                     const team::Operands& call)
    : plan_(&plan), home_(&home), rank_(rank), call_(&call),
      input_(side_of(Buffer::input, call.input, call.input_layout, plan.has_runs_of_input)),
      output_(side_of(Buffer::output, call.output, call.output_layout, plan.has_runs_of_output)) {
    note_own_lengths();
}

VectorRun::Side VectorRun::side_of(Buffer buffer, const std::byte* data, const team::Layout& layout,
                                   bool has_runs) const {
    Side side;
    side.data = data;
    side.layout = layout;
    side.parts = plan::parts_of(plan_->op, static_cast<std::uint32_t>(home_->node_of_rank.size()),
                                plan_->root, rank_, buffer);
    if (has_runs) {
        side.offsets = offsets_of(layout.lengths, side.parts, first_offset(layout, side.parts));
        side.is_copied = !lie_so(layout, side.offsets);
        if (side.is_copied) {
            side.offsets = offsets_of(layout.lengths, side.parts, 0);
        }
    }
    return side;
}

// Lengths
// -------------------------------------------------------------------------------------------------

/// Notes the lengths that this rank knows. In an alltoall these are the lengths of its parts for
/// each rank, then of each rank's parts for it. In a gather or scatter they are all ranks' lengths
/// on the root's node, where the root tells them; elsewhere the rank's own.
void VectorRun::note_own_lengths() {
    if (plan::knows_all_lengths(plan_->op)) {
        return;
    }
    const std::size_t size = home_->node_of_rank.size();
    if (plan_->op == Collective::alltoall) {
        entries_ = 2 * size;
        own_.assign(input_.layout.lengths, input_.layout.lengths + size);
        own_.insert(own_.end(), output_.layout.lengths, output_.layout.lengths + size);
    } else {
        const Side& one = plan_->op == Collective::gather ? input_ : output_;
        const Side& all = plan_->op == Collective::gather ? output_ : input_;
        const bool is_home = !home_->is_far(plan_->root);
        entries_ = is_home ? size : 1;
        own_.assign(entries_, 0);
        if (rank_ == plan_->root) {
            own_.assign(all.layout.lengths, all.layout.lengths + size);
        } else {
            own_[is_home ? static_cast<std::size_t>(rank_) : 0] = one.layout.lengths[0];
        }
    }
    if (!plan_->tells) {
        told_ = own_; // The rank is alone on its node, or no rank needs to know.
    }
}

team::Operands VectorRun::told(channel::Signature signature) {
    told_.resize(entries_ * home_->members.size());
    team::Operands operands;
    operands.input = reinterpret_cast<const std::byte*>(own_.data());
    operands.output = reinterpret_cast<std::byte*>(told_.data());
    operands.bytes = entries_ * sizeof(std::size_t);
    operands.block_bytes = operands.bytes;
    operands.signature = signature;
    return operands;
}

const std::size_t* VectorRun::told_by(Rank rank) const noexcept {
    const auto place = static_cast<std::size_t>(home_->local_rank[static_cast<std::size_t>(rank)]);
    return told_.data() + (plan_->tells ? place * entries_ : 0);
}

std::size_t VectorRun::length_of(plan::PartName part) const noexcept {
    if (part == plan::no_part) {
        return 0;
    }
    if (plan::knows_all_lengths(plan_->op)) {
        return (plan_->op == Collective::allgather ? output_ : input_).layout.lengths[part];
    }
    if (plan_->op != Collective::alltoall) {
        return home_->is_far(plan_->root) ? told_by(static_cast<Rank>(part))[0]
                                          : told_by(plan_->root)[part];
    }
    const std::size_t size = home_->node_of_rank.size();
    const std::size_t from = part / size;
    const std::size_t to = part % size;
    const auto sender = static_cast<Rank>(from);
    return home_->is_far(sender) ? told_by(static_cast<Rank>(to))[size + from]
                                 : told_by(sender)[to];
}

// Places
// -------------------------------------------------------------------------------------------------

void VectorRun::lay_out_scratch() {
    scratch_lengths_.clear();
    for (const plan::PartName part : plan_->scratch) {
        scratch_lengths_.push_back(length_of(part));
    }
    scratch_offsets_ = offsets_of(scratch_lengths_.data(), scratch_lengths_.size(), 0);
}

void VectorRun::lay_out(team::Operands& operands, std::vector<std::byte>& memory) {
    lay_out_scratch();
    const std::size_t scratch = sum_of(scratch_lengths_.data(), scratch_lengths_.size());
    const auto copied = [](const Side& side) {
        return side.is_copied ? sum_of(side.layout.lengths, side.parts) : 0;
    };
    const std::size_t need = scratch + copied(input_) + copied(output_);
    if (need > memory.size()) {
        memory.resize(need);
    }
    operands.scratch = memory.data();
    operands.scratch_layout = {scratch_offsets_.data(), scratch_lengths_.data()};
    if (!input_.offsets.empty()) {
        operands.input_layout.offsets = input_.offsets.data();
    }
    if (!output_.offsets.empty()) {
        operands.output_layout.offsets = output_.offsets.data();
    }
    if (input_.is_copied) {
        input_.copy = memory.data() + scratch;
        for (std::size_t part = 0; part < input_.parts; ++part) {
            copy_bytes(input_.copy + input_.offsets[part],
                       input_.data + input_.layout.offsets[part], input_.layout.lengths[part]);
        }
        operands.input = input_.copy;
    }
    if (output_.is_copied) {
        output_.copy = memory.data() + scratch + copied(input_);
        operands.output = output_.copy;
    }
}

void VectorRun::hand_out() const noexcept {
    if (!output_.is_copied) {
        return;
    }
    for (std::size_t part = 0; part < output_.parts; ++part) {
        copy_bytes(call_->output + output_.layout.offsets[part],
                   output_.copy + output_.offsets[part], output_.layout.lengths[part]);
    }
}

} // namespace corymb::cluster
