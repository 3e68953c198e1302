// SPDX-License-Identifier: Apache-2.0
// One call of a vector operation over several nodes: the lengths of the parts in scratch, and
// buffers whose parts lie side by side where a message takes several of them.
#pragma once

#include "cluster/node_program.hpp"
#include "cluster/vector_plan.hpp"
#include "team/program.hpp"

#include <cstddef>
#include <vector>

namespace corymb::cluster {

class VectorRun {
public:
    /// Of a call with these operands. All of them outlive it.
    VectorRun(const VectorPlan& plan, const Home& home, Rank rank, const team::Operands& call);

    [[nodiscard]] bool tells() const noexcept { return plan_->tells; }
    /// What goes around when the ranks of the node tell each other lengths; valid while this is.
    [[nodiscard]] team::Operands told(channel::Signature signature);
    /// After that: sets places, layouts and scratch of `operands`, which are a copy of the call's.
    /// All that is not the caller's lies in `memory`, which it makes longer if need be.
    void lay_out(team::Operands& operands, std::vector<std::byte>& memory);
    /// At the end: puts parts of the output where the caller wants them.
    void hand_out() const noexcept;

private:
    /// A buffer of the caller's that has several parts.
    struct Side {
        const std::byte* data = nullptr;
        team::Layout layout{};
        std::size_t parts = 0;
        bool is_copied = false;
        std::byte* copy = nullptr;
        std::vector<std::size_t> offsets; ///< Of parts that lie side by side, in their order.
    };
    [[nodiscard]] Side side_of(Buffer buffer, const std::byte* data, const team::Layout& layout,
                               bool has_runs) const;
    void note_own_lengths();
    [[nodiscard]] std::size_t length_of(plan::PartName part) const noexcept;
    /// Where the told lengths of a rank of the node begin.
    [[nodiscard]] const std::size_t* told_by(Rank rank) const noexcept;
    void lay_out_scratch();

    const VectorPlan* plan_;
    const Home* home_;
    Rank rank_;
    const team::Operands* call_;
    Side input_, output_;
    std::size_t entries_ = 0;       ///< Lengths that each rank of the node tells.
    std::vector<std::size_t> own_;  ///< What this rank tells.
    std::vector<std::size_t> told_; ///< What all of the node do.
    std::vector<std::size_t> scratch_offsets_, scratch_lengths_;
};

} // namespace corymb::cluster
