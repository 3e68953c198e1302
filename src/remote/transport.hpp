// SPDX-License-Identifier: Apache-2.0
// How a rank reaches the others of its group: those of its own node by a mailbox, those of other
// nodes by a carrier.
#pragma once

#include "channel/waiter_cpus.hpp"
#include "message/mailbox_state.hpp"
#include "remote/far_link.hpp"
#include "remote/source.hpp"

#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace corymb::detail {

class Transport {
public:
    /// All ranks share the memory of the mailboxes.
    explicit Transport(Mailbox near) noexcept;
    /// The members of the mailboxes are these ranks, in order.
    Transport(Mailbox near, std::vector<Rank> near_ranks, std::vector<int> node_of_rank,
              std::unique_ptr<FarLink> far);

    [[nodiscard]] Rank rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }
    /// The longest message to a rank.
    [[nodiscard]] std::size_t message_bytes(Rank to) const noexcept {
        return is_far(to) ? FarLink::message_bytes : near_bytes_;
    }
    /// Messages from one rank that may be there at once.
    [[nodiscard]] std::size_t capacity() noexcept;
    /// Another had this rank before.
    [[nodiscard]] bool is_successor() noexcept;

    /// As Mailbox::send_in_place.
    template <class Fill>
    [[nodiscard]] bool send_in_place(Rank to, std::size_t bytes, const Fill& fill) {
        if (far_ == nullptr) [[likely]] {
            return near_.send_in_place(to, bytes, fill);
        }
        if (is_far(to)) {
            if (far_->has_left(to)) {
                std::rethrow_exception(departure(to));
            }
            if (!far_->has_room(to)) {
                return false;
            }
            far_->send(to, fill(far_->begin(bytes)));
            return true;
        }
        try {
            return near_.send_in_place(near_of(to), bytes, fill);
        } catch (const Error& error) {
            rethrow_named(error, to);
        }
    }
    /// As Mailbox::probe.
    template <class Callback>
    std::size_t probe(const Callback& callback, std::size_t most) {
        if (far_ == nullptr) [[likely]] {
            return near_.probe(callback, most);
        }
        const auto named = [&](Rank from, std::span<const std::byte> message) {
            callback(near_ranks_[static_cast<std::size_t>(from)], message);
        };
        return near_.probe(named, most) + far_->probe(callback, most);
    }
    /// As Mailbox::has_left.
    [[nodiscard]] bool has_left(Rank rank);
    /// Ranks whose processes have ended since the last call, with what says so.
    using Ended = std::vector<std::pair<Rank, std::exception_ptr>>;
    [[nodiscard]] Ended ended();
    /// What says that a rank has left, and why.
    [[nodiscard]] std::exception_ptr departure(Rank gone) const;

    /// Empty: there is one node.
    [[nodiscard]] std::span<const int> node_of_rank() const noexcept { return node_of_rank_; }
    /// Whether this rank and that one reach the memory of one group of mailboxes.
    [[nodiscard]] bool shares_memory(Rank with) const noexcept { return !is_far(with); }
    [[nodiscard]] const std::shared_ptr<MailboxShared>& near_group() noexcept {
        return MailboxAccess::state(near_).group;
    }
    /// This rank's number in that group.
    [[nodiscard]] Rank near_number() const noexcept { return near_.rank(); }

    /// As Source::add_events, for messages.
    [[nodiscard]] std::int64_t add_events(Source::Events& to);
    /// As Source::add_events, for room for messages to a rank. Throws as Mailbox::send.
    void add_room(Source::Events& to, Rank receiver);
    [[nodiscard]] channel::WaiterCpus* cpus() noexcept;

private:
    [[nodiscard]] bool is_far(Rank rank) const noexcept {
        return far_ != nullptr && near_of(rank) < 0;
    }
    [[nodiscard]] Rank near_of(Rank rank) const noexcept {
        return near_of_[static_cast<std::size_t>(rank)];
    }
    /// The error of a mailbox, which counts the ranks of this node, about this rank.
    [[noreturn]] static void rethrow_named(const Error& error, Rank about);

    Mailbox near_;
    std::size_t near_bytes_;
    Rank rank_;
    int size_;
    std::unique_ptr<FarLink> far_; ///< Null: there is one node.
    // With several nodes:
    std::vector<Rank> near_ranks_; ///< By member of the mailboxes.
    std::vector<Rank> near_of_;    ///< By rank: its number among the mailboxes; -1: far.
    std::vector<int> node_of_rank_;
};

} // namespace corymb::detail
