// SPDX-License-Identifier: Apache-2.0
// How a rank waits for other nodes: it lets the carrier go on, sees whether its own node still
// stands, and gives its CPU away the longer the wait takes.
#include "base/clock.hpp"
#include "cluster/cluster_member.hpp"
#include "team/disagreement.hpp"

#include <chrono>
#include <exception>
#include <thread>

namespace corymb::cluster {

namespace {

using namespace std::chrono_literals;

/// Looks without a pause, where every rank of the node has a CPU.
constexpr int looks_at_once = 200;
/// Then yields for so long; a message within a rack takes less.
constexpr std::int64_t yield_for_ns = 1'000'000;
constexpr auto nap = 20us;
constexpr std::int64_t watch_every_ns = 20'000'000;

} // namespace

Carrier::Arrival ClusterMember::receive_one(void* data, std::size_t bytes, Rank from) {
    posted_.push_back({carrier_->receive(data, bytes, from, Carrier::Channel::data), {}});
    const Carrier::Arrival arrival = await(posted_.back().ticket, from);
    posted_.pop_back();
    return arrival;
}

Carrier::Arrival ClusterMember::await(Ticket ticket, Rank peer) {
    try {
        return look_until_here(ticket, peer);
    } catch (...) {
        abandon_all();
        throw;
    }
}

void ClusterMember::abandon_all() noexcept {
    for (const auto& [ticket, peer] : sent_) {
        carrier_->abandon(ticket);
    }
    for (const Posted& posted : posted_) {
        carrier_->abandon(posted.ticket);
    }
    sent_.clear();
    posted_.clear();
}

Carrier::Arrival ClusterMember::look_until_here(Ticket ticket, Rank peer) {
    Carrier::Arrival arrival;
    for (int look = shared_->oversubscribed ? looks_at_once - 1 : 0; look < looks_at_once; ++look) {
        if (carrier_->test(ticket, arrival)) {
            return arrival;
        }
    }
    const std::int64_t since = now_ns();
    std::int64_t watched = since;
    while (!carrier_->test(ticket, arrival)) {
        const std::int64_t now = now_ns();
        if (shared_->is_broken()) {
            shared_->throw_failure();
        }
        if (now - since >= shared_->deadline_ns) {
            fail({Errc::timeout,
                  name_of(rank_) + " waited in vain for " + name_of(peer) + " on another node",
                  {peer}});
        }
        if (now - watched >= watch_every_ns) {
            watched = now;
            if (is_lost()) {
                fail(local_failure());
            }
        }
        if (now - since < yield_for_ns) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(nap);
        }
    }
    return arrival;
}

void ClusterMember::await_sent(std::vector<std::pair<Ticket, Rank>>& sent) {
    while (!sent.empty()) {
        static_cast<void>(await(sent.back().first, sent.back().second));
        sent.pop_back();
    }
}

void ClusterMember::check_mark(const Carrier::Arrival& arrival, std::size_t bytes, Rank peer) {
    const int expected = mark_of(digest_.signature());
    if (arrival.mark != expected || arrival.bytes != bytes) {
        fail({Errc::mismatch,
              name_of(rank_) + " and " + name_of(peer) +
                  ", which is on another node, call different operations, or with different "
                  "sizes; all ranks must call the same",
              {rank_, peer}});
    }
}

std::string ClusterMember::name_of(Rank rank) const {
    return "rank " + std::to_string(rank) + " (node " +
           std::to_string(home_.node_of_rank[static_cast<std::size_t>(rank)]) + ")";
}

/// Why a wait for the own node has ended. Ranks of the node in the team's count.
team::Failure ClusterMember::local_failure() {
    if (shared_->is_broken()) {
        shared_->throw_failure();
    }
    team::Failure failure;
    if (auto differ = detail::disagreement(*shared_, 0, operations_)) {
        failure = *differ;
    } else if (engine_.met_other_call()) {
        failure = detail::foreign_message(*shared_, own_);
    } else {
        failure.ranks = shared_->lost(operations_);
        if (failure.ranks.empty()) {
            failure.code = Errc::timeout;
            failure.ranks = shared_->missing(operations_);
        }
        failure.text = failure.code != Errc::timeout ? "ended without finishing an operation:"
                       : failure.ranks.empty()
                           ? "all have come, but one still waits, perhaps for another node"
                           : "did not arrive within the deadline:";
        for (const Rank rank : failure.ranks) {
            failure.text += " " + shared_->name_of(rank);
        }
    }
    failure.text =
        "among the ranks of " + name_of(rank_) + ", which count from 0 here: " + failure.text;
    for (int& rank : failure.ranks) {
        rank = home_.members[static_cast<std::size_t>(rank)];
    }
    return failure;
}

void ClusterMember::fail(const team::Failure& failure) {
    if (!shared_->is_broken()) {
        shared_->fail(failure);
    }
    shared_->wait_for_copies(); // The caller may free its buffers now.
    shared_->throw_failure();
}

bool ClusterMember::is_interrupted() noexcept {
    try {
        if (!shared_->options.interrupted || !shared_->options.interrupted()) {
            return false;
        }
        shared_->fail({Errc::interrupted, name_of(rank_) + " was interrupted", {rank_}});
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

bool ClusterMember::visit() noexcept {
    try {
        std::erase_if(sent_, [this](const std::pair<Ticket, Rank>& sent) {
            Carrier::Arrival nothing;
            return carrier_->test(sent.first, nothing);
        });
    } catch (const std::exception&) {
        return true; // Whoever waits for the message learns of it, too.
    }
    return shared_->options.interrupted_every.count() > 0 && is_interrupted();
}

bool ClusterMember::is_lost() noexcept {
    try {
        return is_interrupted() || !shared_->lost(operations_).empty() ||
               detail::disagreement(*shared_, 0, operations_).has_value();
    } catch (const std::exception&) {
        return false; // No memory to find out; the deadline is still there.
    }
}

} // namespace corymb::cluster
