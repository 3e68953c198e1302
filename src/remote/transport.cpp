// SPDX-License-Identifier: Apache-2.0
#include "remote/transport.hpp"

#include "remote/tuning.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace corymb::detail {

Transport::Transport(Mailbox near) noexcept
    : near_(std::move(near)), near_bytes_(near_.message_bytes()), rank_(near_.rank()),
      size_(near_.size()) {}

Transport::Transport(Mailbox near, std::vector<Rank> near_ranks, std::vector<int> node_of_rank,
                     std::unique_ptr<FarLink> far)
    : near_(std::move(near)), near_bytes_(near_.message_bytes()),
      rank_(near_ranks[static_cast<std::size_t>(near_.rank())]),
      size_(static_cast<int>(node_of_rank.size())), far_(std::move(far)),
      near_ranks_(std::move(near_ranks)), near_of_(node_of_rank.size(), -1),
      node_of_rank_(std::move(node_of_rank)) {
    for (std::size_t number = 0; number < near_ranks_.size(); ++number) {
        near_of_[static_cast<std::size_t>(near_ranks_[number])] = static_cast<Rank>(number);
    }
}

std::size_t Transport::capacity() noexcept {
    return MailboxAccess::state(near_).group->options.capacity;
}

bool Transport::is_successor() noexcept {
    return MailboxAccess::state(near_).is_successor;
}

void Transport::rethrow_named(const Error& error, Rank about) {
    if (error.code() != Errc::team_broken) {
        throw error;
    }
    throw Error(Errc::team_broken, "the process of rank " + std::to_string(about) + " has ended",
                {about});
}

bool Transport::has_left(Rank rank) {
    if (far_ == nullptr) {
        return near_.has_left(rank);
    }
    return is_far(rank) ? far_->has_left(rank) : near_.has_left(near_of(rank));
}

Transport::Ended Transport::ended() {
    Ended all;
    try {
        static_cast<void>(near_.wait(std::chrono::nanoseconds(0)));
    } catch (const Error& error) {
        for (const Rank gone : error.ranks()) {
            if (far_ == nullptr) {
                all.emplace_back(gone, std::current_exception());
                continue;
            }
            const Rank named = near_ranks_[static_cast<std::size_t>(gone)];
            try {
                rethrow_named(error, named);
            } catch (...) {
                all.emplace_back(named, std::current_exception());
            }
        }
    }
    return all;
}

std::exception_ptr Transport::departure(Rank gone) const {
    std::string text = "rank " + std::to_string(gone) + " has left the group, and will not answer";
    if (is_far(gone) && far_->failure() != nullptr) {
        text = "rank " + std::to_string(gone) + " cannot be reached";
        try {
            std::rethrow_exception(far_->failure());
        } catch (const std::exception& error) {
            text += std::string(": ") + error.what();
        } catch (...) { // A carrier of somebody's own.
        }
    } else if (const std::string* const loss = is_far(gone) ? far_->loss_of(gone) : nullptr) {
        text = "rank " + std::to_string(gone) + " cannot be reached: " + *loss;
    }
    return std::make_exception_ptr(Error(Errc::team_broken, text, {gone}));
}

std::int64_t Transport::add_events(Source::Events& to) {
    to.add(MailboxAccess::state(near_).events());
    if (far_ == nullptr) {
        return Source::until_woken;
    }
    FarWatch::Event* const of_carrier = far_->event();
    if (of_carrier == nullptr) {
        return remote::tuning::nap_ns; // Nobody would wake it.
    }
    to.add(*of_carrier);
    return Source::until_woken;
}

void Transport::add_room(Source::Events& to, Rank receiver) {
    if (!is_far(receiver)) {
        to.add(MailboxAccess::state(near_).room_at(far_ == nullptr ? receiver : near_of(receiver)));
    }
}

channel::WaiterCpus* Transport::cpus() noexcept {
    return &MailboxAccess::state(near_).group->cpus;
}

} // namespace corymb::detail
