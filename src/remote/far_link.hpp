// SPDX-License-Identifier: Apache-2.0
// A rank's messages to and from ranks on other nodes, which a carrier brings.
//
// A sender may have `window` messages under way to a receiver. The receiver gives them back as it
// takes them: in the mark of its own next message, or in one of its own for half a window. Those
// need no room. So a carrier never has to keep more than a window of a pair, and a receiver that
// is slow holds up its senders and nobody else.
#pragma once

#include "remote/far_watch.hpp"

#include <corymb/carrier.hpp>
#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace corymb::detail {

class FarLink {
    /// In front of each message. Its mark is the room that is given back.
    struct Header {
        std::int32_t from = -1;
        std::uint32_t kind = 0;
    };

public:
    /// The longest message.
    static constexpr std::size_t message_bytes = Carrier::notice_bytes_most - sizeof(Header);

    /// `near` are the ranks that this one has other ways to, itself included.
    FarLink(Carrier& carrier, Rank own, int size, std::span<const Rank> near, std::size_t window);
    /// Tells the others that this rank leaves.
    ~FarLink();
    FarLink(const FarLink&) = delete;
    FarLink& operator=(const FarLink&) = delete;

    /// The memory of one message to be sent, `bytes` long.
    [[nodiscard]] std::span<std::byte> begin(std::size_t bytes);
    /// Sends the first `bytes` bytes of what `begin` gave. There must be room.
    void send(Rank to, std::size_t bytes);
    [[nodiscard]] bool has_room(Rank to) const noexcept {
        return peers_[index(to)].under_way < window_;
    }
    /// Calls callback(Rank from, std::span<const std::byte> message) for at most `most` messages
    /// that have come, and returns how many; room that was given back counts.
    template <class Callback>
    std::size_t probe(const Callback& callback, std::size_t most) {
        std::size_t count = 0;
        for (Taken taken; count < most && take(taken); ++count) {
            if (taken.is_message) {
                callback(taken.from, taken.message);
            }
        }
        if (count == 0 && watch_) {
            watch_->arm_if_parked();
        }
        return count;
    }
    /// Nothing more comes from it.
    [[nodiscard]] bool has_left(Rank rank) const noexcept {
        return peers_[index(rank)].has_left || failure_ != nullptr || loss_of(rank) != nullptr;
    }
    /// As Carrier::loss_of, for a rank that has not left.
    [[nodiscard]] const std::string* loss_of(Rank rank) const noexcept {
        return peers_[index(rank)].has_left ? nullptr : carrier_->loss_of(rank);
    }
    /// Wakes the rank when something may have come. Null: nobody does.
    [[nodiscard]] FarWatch::Event* event() noexcept { return watch_ ? &watch_->event() : nullptr; }
    /// What the carrier has thrown; null: nothing.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

private:
    struct Peer {
        bool is_far = true;
        bool has_left = false;
        std::uint32_t under_way = 0; ///< Messages to it that it has not given back.
        std::uint32_t owed = 0;      ///< Its messages that were taken and not given back.
    };
    struct Taken {
        Rank from = -1;
        bool is_message = false; ///< False: it has only given room back, or leaves.
        std::span<const std::byte> message{};
    };
    struct Sent {
        Carrier::Ticket ticket = 0;
        std::vector<std::byte> bytes;
    };
    [[nodiscard]] static std::size_t index(Rank rank) noexcept {
        return static_cast<std::size_t>(rank);
    }
    [[nodiscard]] bool take(Taken& taken) noexcept;
    void understand(const Carrier::Arrival& arrival, Taken& taken);
    void begin_receive();
    void push(Rank to, std::uint32_t kind, std::size_t bytes);
    void let_go_of_sent();
    void leave();

    Carrier* carrier_;
    Rank own_;
    std::size_t window_;
    std::vector<Peer> peers_; ///< By rank.
    std::vector<std::byte> outgoing_;
    std::vector<std::byte> incoming_;
    std::vector<std::byte> taken_;           ///< The message that `probe` shows.
    std::optional<Carrier::Ticket> receive_; ///< Into `incoming_`.
    std::deque<Sent> sent_;
    std::vector<std::vector<std::byte>> spare_; ///< Memory of messages that have gone.
    std::exception_ptr failure_;
    std::optional<FarWatch> watch_; ///< None: the carrier has no descriptor.
};

} // namespace corymb::detail
