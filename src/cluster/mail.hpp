// SPDX-License-Identifier: Apache-2.0
// The messages to and from other nodes that one operation of a rank has under way.
#pragma once

#include "cluster/node_program.hpp"

#include <corymb/carrier.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace corymb::cluster {

/// The messages of one rank on one lane. No function waits. Exceptions of a carrier go through;
/// then call `abandon_all`, while the memory of the messages is still there.
class Mail {
public:
    /// `lane` 0 is the lane of blocking operations; other lanes have channels of the carrier of
    /// their own.
    Mail(Carrier& carrier, Carried& carried, int lane) noexcept
        : carrier_(&carrier), carried_(&carried), lane_(lane) {}

    void send(const FarStep& step, const team::Operands& operands, int mark);
    /// Posts the receives of these steps at once; none is posted yet.
    void post(std::span<const FarStep> group, const team::Operands& operands);
    /// Looks whether the first receive that was not taken yet is done; then `arrival` is filled in.
    [[nodiscard]] bool test_next(Carrier::Arrival& arrival);
    /// Puts the message of that receive, of `step`, into its place.
    void take(const FarStep& step, const team::Operands& operands);
    /// Whether receives are posted that were not taken.
    [[nodiscard]] bool has_posted() const noexcept { return !posted_.empty(); }

    // Messages that are not counted: of ranks that agree on a plan.
    void send(const void* data, std::size_t bytes, Rank to, int mark);
    void post(void* data, std::size_t bytes, Rank from);
    void take();

    /// Counts somewhere else from now on.
    void count_in(Carried& carried) noexcept { carried_ = &carried; }

    /// Looks at the messages sent: whether all of their memory is free.
    [[nodiscard]] bool are_sent();
    /// A receiver that has not taken its message; there must be one.
    [[nodiscard]] Rank last_receiver() const noexcept { return sent_.back().second; }
    /// Whether there were messages under way: then their source memory may still be read.
    bool abandon_all() noexcept;

    /// The bytes that a step has to receive.
    [[nodiscard]] static std::size_t size_of(const FarStep& step, const team::Operands& operands);

private:
    struct Posted {
        std::vector<Carrier::Ticket> pieces;
        std::vector<std::byte> incoming; ///< Data to be folded.
        std::size_t next = 0;            ///< The first piece that has not come.
        std::size_t bytes = 0;           ///< Bytes that have come.
    };
    void post(std::byte* data, std::size_t bytes, Rank from, Carrier::Channel kind,
              std::vector<std::byte> incoming);
    [[nodiscard]] Carrier::Channel channel(Carrier::Channel kind) const noexcept {
        return static_cast<Carrier::Channel>(2 * lane_ + static_cast<int>(kind));
    }

    Carrier* carrier_;
    Carried* carried_;
    int lane_;
    std::vector<std::pair<Carrier::Ticket, Rank>> sent_;
    std::vector<Posted> posted_;
    std::size_t taken_ = 0; ///< Entries of `posted_` that were taken.
};

} // namespace corymb::cluster
