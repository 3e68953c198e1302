// SPDX-License-Identifier: Apache-2.0
// The messages to and from other nodes that one operation of a rank has under way.
#pragma once

#include "cluster/node_program.hpp"
#include "team/far_messages.hpp"

#include <corymb/carrier.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace corymb::cluster {

struct Station;
class Tallies;

/// The messages of one rank on one lane. No function waits. Exceptions of a carrier go through;
/// then call `abandon_all`, while the memory of the messages is still there.
class Mail final : public team::FarMessages {
public:
    /// `lane` 0 is the lane of blocking operations; other lanes have channels of the carrier of
    /// their own.
    Mail(Station& station, int lane);

    /// The messages that follow are those of an operation with these far steps, which outlive it.
    /// Each has the mark.
    void begin(std::span<const FarStep> steps, int mark) noexcept {
        steps_ = steps;
        mark_ = mark;
    }
    /// Throws ForeignMessage, and Error if the team is broken: a message must not carry data that
    /// an operator has not combined.
    [[nodiscard]] bool perform(std::size_t step, const team::Operands& operands) override;
    /// The rank whose message the last `perform` has missed.
    [[nodiscard]] Rank awaited() const noexcept { return awaited_; }

    /// The next message that is waited for.
    struct Wait {
        Rank peer;
        Carrier::Channel channel;
        bool sends;             ///< It is one to `peer`.
        std::uint64_t messages; ///< All to `peer` on this channel, or those that have come from it.
    };
    [[nodiscard]] std::optional<Wait> wait() const;
    /// The number of the pair of channels.
    [[nodiscard]] int lane() const noexcept { return lane_; }

    // Receives that were posted.

    /// Looks whether the first receive that was not taken yet is done; then `arrival` is filled in.
    [[nodiscard]] bool test_next(Carrier::Arrival& arrival);

    // Messages that are not counted: of ranks that agree on a plan.
    void send(const void* data, std::size_t bytes, Rank to, int mark);
    void post(void* data, std::size_t bytes, Rank from);
    void take();

    /// Counts somewhere else from now on.
    void count_in(Carried& carried) noexcept { carried_ = &carried; }

    /// Looks at the messages sent: whether all of their memory is free.
    [[nodiscard]] bool are_sent();
    /// Whether there are messages that `are_sent` has not seen done.
    [[nodiscard]] bool has_sent() const noexcept { return !sent_.empty(); }
    /// A receiver that has not taken its message; there must be one.
    [[nodiscard]] Rank last_receiver() const noexcept { return sent_.back().to; }
    /// Whether there were messages under way: then their source memory may still be read.
    bool abandon_all() noexcept;

private:
    struct Sent {
        Carrier::Ticket ticket;
        Rank to;
        Carrier::Channel kind;
    };
    struct Posted {
        Rank from = -1;
        Carrier::Channel kind = Carrier::Channel::data;
        std::vector<Carrier::Ticket> pieces;
        std::vector<std::byte> incoming; ///< Data to be folded.
        std::size_t next = 0;            ///< The first piece that has not come.
        std::size_t bytes = 0;           ///< Bytes that have come.
    };
    void send(const FarStep& step, const team::Operands& operands);
    void post(std::span<const FarStep> group, const team::Operands& operands);
    void take(const FarStep& step, const team::Operands& operands);
    void post(std::byte* data, std::size_t bytes, Rank from, Carrier::Channel kind,
              std::vector<std::byte> incoming);
    void send(const void* data, std::size_t bytes, Rank to, int mark, Carrier::Channel kind);
    [[nodiscard]] Carrier::Channel channel(Carrier::Channel kind) const noexcept {
        return static_cast<Carrier::Channel>(2 * lane_ + static_cast<int>(kind));
    }

    Station* station_;
    Carrier* carrier_;
    Carried* carried_;
    Tallies* tallies_;
    int lane_;
    std::span<const FarStep> steps_;
    int mark_ = 0;
    Rank awaited_ = -1;
    std::vector<Sent> sent_;
    std::vector<Posted> posted_;
    std::size_t taken_ = 0; ///< Entries of `posted_` that were taken.
};

} // namespace corymb::cluster
