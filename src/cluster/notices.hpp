// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other when an operation does not go on as it should: the waits that have
// taken long, and why a team is broken. Notices have a channel of the carrier for themselves. A
// rank takes them in long waits only, so operations that go on pay nothing for them.
#pragma once

#include "team/call_terms.hpp"
#include "team/failure.hpp"

#include <corymb/carrier.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <variant>
#include <vector>

namespace corymb::cluster {

/// The calls of a rank up to one of a sequence.
struct FarCalls {
    /// Calls are counted in sequences: 0 are blocking ones, from 1 on nonblocking ones of a lane,
    /// and each persistent operation has a sequence, in which its making is call 1. These are the
    /// numbers of the carrier's pairs of channels. That of notices stands for the makings of all
    /// persistent operations.
    int sequence = 0;
    std::uint64_t number = 0; ///< Number of the call in its sequence.
    Rank rank = -1;           ///< The rank whose calls these are.
    std::uint64_t digest = 0; ///< Digest of the calls of the sequence up to this one.
    std::uint64_t blocking_begun = 0;
    std::uint64_t nonblocking_started = 0;
    std::vector<team::CallTerms> last{}; ///< The last calls of the sequence, up to this one.

    bool operator==(const FarCalls&) const = default;
};

/// A wait in a call that has taken long, as the waiting rank tells it to the awaited one.
struct FarWait : FarCalls {
    Rank peer = -1; ///< The awaited rank.
    /// The channel on which it waits; none: the rank waits within its node, in shared memory.
    std::optional<Carrier::Channel> channel{};
    bool sends = false;      ///< It waits until `peer` has taken a message.
    bool is_foreign = false; ///< A message of `peer` has come that belongs to another call.
    bool is_only = false;    ///< The rank does nothing else before this call is over.
    /// Messages from `peer` that have come on this channel, or, with `sends`, all to it.
    std::uint64_t messages = 0;

    bool operator==(const FarWait&) const = default;
};

/// All calls of a sequence, of a rank that calls nothing more.
struct Farewell : FarCalls {
    bool is_last = false; ///< The rank has no further sequences.
};
/// All ranks have said farewell.
struct Release {};
/// A rank has taken the last wait that it was told of.
struct Taken {
    Rank rank = -1;
};

/// A notice of any kind.
using Notice = std::variant<FarWait, team::Failure, Farewell, Release, Taken>;

/// The notices of one rank. No function waits.
class Notices {
public:
    explicit Notices(Carrier& carrier) noexcept;
    Notices(const Notices&) = delete;
    Notices& operator=(const Notices&) = delete;
    ~Notices();

    /// Whether the carrier has a channel for them. Without one nothing is sent and none comes.
    [[nodiscard]] bool are_carried() const noexcept { return is_carried_; }
    void tell(Rank to, const Notice& notice);
    /// The next notice that has come.
    [[nodiscard]] std::optional<Notice> next();

private:
    struct Sent {
        Carrier::Ticket ticket = 0;
        std::vector<std::byte> bytes;
    };
    void let_go_of_sent();

    Carrier* carrier_;
    bool is_carried_;
    std::optional<Carrier::Ticket> receive_;
    std::vector<std::byte> incoming_; ///< While `receive_` is there.
    std::list<Sent> sent_;
};

} // namespace corymb::cluster
