// SPDX-License-Identifier: Apache-2.0
// Writes the steps of plans: single steps, messages of a round, and gifts to many ranks.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace corymb {

/// How a payload travels between ranks that share memory.
struct Transport {
    Mechanism via = Mechanism::line;
    std::uint32_t blocks = 1; ///< Above 1 a child forwards block b while b + 1 is on its way.
    std::uint64_t bytes = 8;  ///< Payload that the plan is for.
};

/// A message of a round. With `own`, the receiver combines it: target = own (+) incoming, in the
/// order of the two ranks, or with the message first if it `precedes`.
struct Transfer {
    Rank from = -1;
    Rank to = -1;
    Blocks source{};
    Blocks target{};
    Blocks own{};
    bool precedes = false;
};

/// Blocks that a rank has and gives to all ranks of `members` (itself among them), to stand in
/// equal places there.
struct Gift {
    Rank from = -1;
    std::span<const Rank> members{};
    Blocks blocks{};
};

/// Appends steps to a plan. Messages between nodes take the network. Within a node, messages that
/// fit a line travel in lines, all others by the mechanism of the transport. Buffers lent by pull
/// are acknowledged by `finished`.
class PlanWriter {
public:
    /// An empty plan for parts of transport.bytes in transport.blocks blocks. `node_of_rank` must
    /// outlive the writer; empty: all ranks are on one node.
    PlanWriter(Collective op, Rank size, Rank root, const Transport& transport,
               std::string_view algorithm, std::span<const int> node_of_rank = {});

    [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
    [[nodiscard]] Rank size() const noexcept { return plan_.size(); }
    /// Makes sure that every rank has that many places of scratch.
    void need_scratch(std::uint32_t places);

    void send(Rank from, Rank to, Blocks source);
    void recv(Rank to, Rank from, Blocks target);
    /// target = own (+) the message, in the order of the two ranks.
    void fold(Rank rank, Rank from, Blocks own, Blocks target);
    void copy(Rank rank, Blocks from, Blocks to);
    void signal(Rank from, Rank to);
    void wait(Rank rank, Rank from);
    /// A signal that is awaited at once.
    void notify(Rank from, Rank to);
    /// The part of `rank` in a meeting with `peer` on one line that both write: without blocks, or
    /// with target = own (+) the peer's blocks, in the order of the two ranks.
    void meet(Rank rank, Rank peer, Blocks own = {}, Blocks target = {});
    /// Returns the publication's ordinal.
    std::uint32_t publish(Rank rank, Blocks source);
    void read(Rank rank, Rank publisher, Blocks target, std::uint32_t ordinal = 0);
    /// target = own (+) the publication, which is of a later rank than all in `own`.
    void read_fold(Rank rank, Rank publisher, Blocks own, Blocks target);
    /// Publishes the place of the source, however short it is: readers take parts of it.
    void lend(Rank rank, Blocks source);
    /// Takes the places of what `owner` has lent first that begin at `offset`.
    void take(Rank rank, Rank owner, std::uint32_t offset, Blocks target);
    /// As `take`, with target = own (+) what is taken, in the order of the two ranks.
    void take_fold(Rank rank, Rank owner, std::uint32_t offset, Blocks own, Blocks target);
    /// `writer` may write into `target` of `owner`. With `operand`, the writer combines its data
    /// with it.
    void offer(Rank owner, Rank writer, Blocks target, Blocks operand = {});
    void put(Rank rank, Rank owner, Blocks source);
    /// Writes into the target that `owner` has offered: source (+) its operand, in the order of the
    /// two ranks.
    void put_fold(Rank rank, Rank owner, Blocks source);

    /// Writes a message from rank to rank.
    void transfer(const Transfer& message);
    /// Messages at once, those between nodes first; empty ones are left out. Where messages hold
    /// their senders until the receivers come, a rank has one message after the other, in turns
    /// that keep neighbours of a chain or cycle busy and let none wait for ever.
    void round(std::span<const Transfer> messages);
    /// Each gift goes around its members, all at once: by a store that they read if the transport
    /// is pull, otherwise down binomial trees. In a barrier, gifts are notifications.
    void give(std::span<const Gift> gifts);
    /// Whether members of gifts that they read at once begin with different ones, each with those
    /// whose givers stand nearest before it among the members.
    void let_readers_begin_apart(bool apart) noexcept { readers_begin_apart_ = apart; }
    /// None of the members goes on before all of them have come here (dissemination). Acknowledges
    /// for all at once.
    void barrier(std::span<const Rank> members);
    void barrier(); ///< A barrier of all ranks.

    /// The plan, with an acknowledgement for every buffer that is lent by pull and not surely given
    /// back.
    [[nodiscard]] Plan finished() &&;

private:
    void add(Rank rank, const Step& step) {
        plan_.steps[static_cast<std::size_t>(rank)].push_back(step);
    }
    [[nodiscard]] bool is_far(Rank from, Rank to) const noexcept {
        return !node_of_rank_.empty() && node_of_rank_[static_cast<std::size_t>(from)] !=
                                             node_of_rank_[static_cast<std::size_t>(to)];
    }
    [[nodiscard]] bool fits_line(std::uint32_t places) const noexcept;
    [[nodiscard]] Mechanism via(Rank from, Rank to, std::uint32_t places) const noexcept;
    [[nodiscard]] Mechanism via_publication(std::uint32_t places) const noexcept;
    /// Whether the sender has to wait until the receiver comes: the message is longer than a cell,
    /// or its elements may be so long that it fills more cells than a channel surely has.
    [[nodiscard]] bool holds_sender(const Transfer& message) const noexcept;
    void receive(const Transfer& message);
    void store(std::span<const Gift> gifts);
    void pass_down(const Gift& gift);

    Plan plan_;
    Mechanism via_;
    std::span<const int> node_of_rank_;
    std::vector<std::uint32_t> publications_; // by rank, so far
    bool readers_begin_apart_ = false;
};

/// Places of a buffer, from `first` on.
[[nodiscard]] constexpr Blocks places(Buffer buffer, Rank first, Rank count = 1) noexcept {
    return {buffer, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)};
}

} // namespace corymb
