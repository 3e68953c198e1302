// SPDX-License-Identifier: Apache-2.0
// Writes plans message by message: both ends of a message are appended at once, so that any
// sequence of messages is free of deadlock.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corymb::bench {

class PlanBuilder {
public:
    PlanBuilder(Collective op, int ranks, Rank root, std::uint64_t bytes, std::uint32_t blocks) {
        plan_.op = op;
        plan_.root = root;
        plan_.block_count = op == Collective::barrier ? 0 : blocks;
        plan_.bytes_max = bytes;
        plan_.steps.resize(static_cast<std::size_t>(ranks));
    }

    void signal(Rank from, Rank to) {
        append(from, StepKind::signal, Mechanism::none, to);
        append(to, StepKind::wait, Mechanism::none, from);
    }

    /// Sends one block in place; `pull` is acknowledged at once.
    void block(Rank from, Rank to, std::uint32_t index, Mechanism via) {
        const Blocks place{Buffer::output, index, 1};
        append(from, StepKind::send, via, to).from = place;
        append(to, StepKind::recv, via, from).to = place;
        if (via == Mechanism::pull) {
            signal(to, from);
        }
    }

    /// Everybody hears of everybody: ceil(log2 n) rounds of signals.
    void dissemination() {
        const int ranks = plan_.size();
        for (int distance = 1; distance < ranks; distance *= 2) {
            for (Rank rank = 0; rank < ranks; ++rank) {
                append(rank, StepKind::signal, Mechanism::none, (rank + distance) % ranks);
            }
            for (Rank rank = 0; rank < ranks; ++rank) {
                append(rank, StepKind::wait, Mechanism::none, (rank + ranks - distance) % ranks);
            }
        }
    }

    [[nodiscard]] Plan finish(const std::string& name) {
        plan_.algorithm = name;
        return std::move(plan_);
    }
    [[nodiscard]] int ranks() const noexcept { return plan_.size(); }

private:
    Step& append(Rank rank, StepKind kind, Mechanism via, Rank peer) {
        auto& steps = plan_.steps[static_cast<std::size_t>(rank)];
        Step& step = steps.emplace_back();
        step.kind = kind;
        step.via = via;
        step.peer = peer;
        return step;
    }

    Plan plan_;
};

} // namespace corymb::bench
