// SPDX-License-Identifier: Apache-2.0
// A call of a vector operation over several nodes: the lengths of the parts in scratch, and buffers
// whose parts lie side by side where a message takes several of them.
#pragma once

#include "cluster/node_program.hpp"
#include "cluster/vector_plan.hpp"
#include "team/program.hpp"

#include <cstddef>
#include <vector>

namespace corymb::cluster {

class VectorRun {
public:
    /// Prepares a call with these operands. All of them outlive this object.
    VectorRun(const VectorPlan& plan, const Home& home, Rank rank, const team::Operands& call);

    [[nodiscard]] bool tells() const noexcept { return plan_->tells; }
    /// Operands of the exchange of lengths among the ranks of the node; valid while this object is.
    [[nodiscard]] team::Operands told(channel::Signature signature);
    /// After the exchange: sets places, layouts and scratch of `operands`, which are a copy of the
    /// call's. Memory that is not the caller's lies in `memory`, which is made longer if need be.
    void lay_out(team::Operands& operands, std::vector<std::byte>& memory);
    /// At the end: puts parts of the output into the caller's places.
    void hand_out() const noexcept;

private:
    /// A buffer of the caller's that has several parts.
    struct Side {
        const std::byte* data = nullptr;
        team::Layout layout{};
        std::size_t parts = 0;
        bool is_copied = false;
        std::byte* copy = nullptr;
        /// Offsets of parts that lie side by side, in their order.
        std::vector<std::size_t> offsets;
    };
    [[nodiscard]] Side side_of(Buffer buffer, const std::byte* data, const team::Layout& layout,
                               bool has_runs) const;
    void note_own_lengths();
    [[nodiscard]] std::size_t length_of(plan::PartName part) const noexcept;
    /// The lengths that a rank of the node has told.
    [[nodiscard]] const std::size_t* told_by(Rank rank) const noexcept;
    void lay_out_scratch();

    const VectorPlan* plan_;
    const Home* home_;
    Rank rank_;
    const team::Operands* call_;
    Side input_, output_;
    std::size_t entries_ = 0;       ///< Lengths that each rank of the node tells.
    std::vector<std::size_t> own_;  ///< Lengths that this rank tells.
    std::vector<std::size_t> told_; ///< Lengths that all ranks of the node tell.
    std::vector<std::size_t> scratch_offsets_, scratch_lengths_;
};

} // namespace corymb::cluster
