// SPDX-License-Identifier: Apache-2.0
// Writes the steps of plans whose messages carry parts: gather, alltoall, scan and similar
// operations.
#pragma once

#include "plan/generate/tree_plan.hpp"

#include <corymb/plan.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace corymb {

/// A message of a round. With `own`, the receiver combines it: target = own (+) incoming, in the
/// order of the two ranks.
struct Transfer {
    Rank from = -1;
    Rank to = -1;
    Blocks source{};
    Blocks target{};
    Blocks own{};
};

/// Appends steps to a plan. Messages that fit a line travel in lines, all others by the mechanism
/// of the request. Buffers lent by pull are acknowledged by `finished`.
class PlanWriter {
public:
    /// An empty plan for parts of transport.bytes in transport.blocks blocks.
    PlanWriter(Collective op, Rank size, Rank root, const Transport& transport,
               std::string_view algorithm);

    [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
    [[nodiscard]] Rank size() const noexcept { return plan_.size(); }
    /// How a message of so many places travels.
    [[nodiscard]] Mechanism via(std::uint32_t places) const noexcept;
    /// Whether the sender of such a message waits for its receiver.
    [[nodiscard]] bool is_long(std::uint32_t places) const noexcept;
    /// Makes sure that every rank has that many places of scratch.
    void need_scratch(std::uint32_t places);

    void send(Rank from, Rank to, Blocks source);
    void recv(Rank to, Rank from, Blocks target);
    /// target = own (+) the message, in the order of the two ranks.
    void fold(Rank rank, Rank from, Blocks own, Blocks target);
    void copy(Rank rank, Blocks from, Blocks to);
    void publish(Rank rank, Blocks source);
    void read(Rank rank, Rank publisher, Blocks target, std::uint32_t ordinal = 0);
    /// target = own (+) the publication, which is of a later rank than all in `own`.
    void read_fold(Rank rank, Rank publisher, Blocks own, Blocks target);
    /// `writer` may write into `target` of `owner`. With `operand`, the writer combines its data
    /// with it.
    void offer(Rank owner, Rank writer, Blocks target, Blocks operand = {});
    void put(Rank rank, Rank owner, Blocks source);
    /// Writes into the target that `owner` has offered: source (+) its operand, in the order of the
    /// two ranks.
    void put_fold(Rank rank, Rank owner, Blocks source);

    /// Writes a message from rank to rank.
    void transfer(const Transfer& message);
    /// Messages at once: a rank may send one and receive one. Where messages are long, ranks along
    /// a cycle send and receive first in turns, so that none waits for ever.
    void round(std::span<const Transfer> messages);
    /// Nobody goes on before everybody has come here (dissemination): acknowledges for all at once.
    void barrier();

    /// The plan, with an acknowledgement for every buffer that is lent by pull and not surely given
    /// back.
    [[nodiscard]] Plan finished() &&;

private:
    void add(Rank rank, const Step& step) {
        plan_.steps[static_cast<std::size_t>(rank)].push_back(step);
    }
    void receive(const Transfer& message);
    [[nodiscard]] Mechanism via_publication(std::uint32_t places) const noexcept;

    Plan plan_;
    Mechanism via_;
};

/// Places of a buffer, from `first` on.
[[nodiscard]] constexpr Blocks places(Buffer buffer, Rank first, Rank count = 1) noexcept {
    return {buffer, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)};
}

} // namespace corymb
