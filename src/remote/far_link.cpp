// SPDX-License-Identifier: Apache-2.0
#include "remote/far_link.hpp"

#include "base/wait_clock.hpp"
#include "cluster/attic.hpp"
#include "remote/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace corymb::detail {

namespace {

constexpr int mark_most = 32'767;

enum Kind : std::uint32_t { message, room, leaving };

} // namespace

FarLink::FarLink(Carrier& carrier, Rank own, int size, std::span<const Rank> near,
                 std::size_t window)
    : carrier_(&carrier), own_(own), window_(window), peers_(static_cast<std::size_t>(size)),
      incoming_(Carrier::notice_bytes_most) {
    for (const Rank rank : near) {
        peers_[index(rank)].is_far = false;
    }
    if (const int descriptor = carrier.wait_descriptor(); descriptor >= 0) {
        watch_.emplace(descriptor);
    }
    begin_receive();
}

FarLink::~FarLink() {
    try {
        leave();
    } catch (...) { // The carrier fails: the others hear of that.
    }
    if (receive_) {
        carrier_->abandon(*receive_);
    }
    for (const Sent& one : sent_) {
        carrier_->abandon(one.ticket);
    }
    if (!sent_.empty()) {
        cluster::keep_for_good(std::move(sent_));
    }
}

void FarLink::leave() {
    if (failure_ != nullptr) {
        return;
    }
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        if (peers_[rank].is_far && !peers_[rank].has_left) {
            push(static_cast<Rank>(rank), leaving, 0);
        }
    }
    for (WaitClock clock; !sent_.empty() && clock.waited_ns() < remote::tuning::farewell_ns;) {
        let_go_of_sent();
        if (!sent_.empty()) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(remote::tuning::nap_ns));
        }
    }
}

std::span<std::byte> FarLink::begin(std::size_t bytes) {
    if (outgoing_.empty() && !spare_.empty()) {
        outgoing_ = std::move(spare_.back());
        spare_.pop_back();
    }
    outgoing_.resize(sizeof(Header) + bytes);
    return std::span(outgoing_).subspan(sizeof(Header));
}

void FarLink::send(Rank to, std::size_t bytes) {
    push(to, message, bytes);
    ++peers_[index(to)].under_way;
}

void FarLink::push(Rank to, std::uint32_t kind, std::size_t bytes) {
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
    if (kind != message) {
        static_cast<void>(begin(bytes));
    }
    outgoing_.resize(sizeof(Header) + bytes);
    const Header header{own_, kind};
    std::memcpy(outgoing_.data(), &header, sizeof header);
    Peer& peer = peers_[index(to)];
    const auto given = std::min<std::uint32_t>(peer.owed, mark_most);
    Sent& sent = sent_.emplace_back();
    sent.bytes = std::move(outgoing_);
    outgoing_.clear();
    try {
        sent.ticket = carrier_->send(sent.bytes.data(), sent.bytes.size(), to,
                                     Carrier::Channel::notices, static_cast<int>(given));
    } catch (...) {
        failure_ = std::current_exception();
        sent_.pop_back();
        throw;
    }
    peer.owed -= given;
    let_go_of_sent();
}

void FarLink::let_go_of_sent() {
    Carrier::Arrival none;
    while (!sent_.empty() && carrier_->test(sent_.front().ticket, none)) {
        spare_.push_back(std::move(sent_.front().bytes));
        sent_.pop_front();
    }
}

void FarLink::begin_receive() {
    receive_ = carrier_->receive(incoming_.data(), incoming_.size(), Carrier::any_rank,
                                 Carrier::Channel::notices);
}

bool FarLink::take(Taken& taken) noexcept {
    if (failure_ != nullptr) {
        return false;
    }
    try {
        let_go_of_sent();
        Carrier::Arrival arrival;
        if (!carrier_->test(*receive_, arrival)) {
            return false;
        }
        receive_.reset();
        taken_.resize(incoming_.size());
        std::swap(taken_, incoming_);
        begin_receive();
        understand(arrival, taken);
        return true;
    } catch (...) {
        failure_ = std::current_exception();
        return false;
    }
}

void FarLink::understand(const Carrier::Arrival& arrival, Taken& taken) {
    Header header;
    taken = {};
    if (arrival.bytes < sizeof header || arrival.bytes > taken_.size()) {
        return; // Somebody else uses the carrier, too.
    }
    std::memcpy(&header, taken_.data(), sizeof header);
    if (header.from < 0 || index(header.from) >= peers_.size()) {
        return;
    }
    Peer& peer = peers_[index(header.from)];
    peer.under_way -= std::min(peer.under_way, static_cast<std::uint32_t>(arrival.mark));
    peer.has_left = peer.has_left || header.kind == leaving;
    taken.from = header.from;
    taken.is_message = header.kind == message;
    if (taken.is_message) {
        taken.message = std::span(taken_).first(arrival.bytes).subspan(sizeof header);
        ++peer.owed;
        if (2 * std::size_t{peer.owed} >= window_ && !peer.has_left) {
            push(header.from, room, 0);
        }
    }
}

} // namespace corymb::detail
