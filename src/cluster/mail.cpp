// SPDX-License-Identifier: Apache-2.0
#include "cluster/mail.hpp"

#include "base/make_room.hpp"
#include "cluster/attic.hpp"
#include "cluster/station.hpp"
#include "team/operand_bytes.hpp"

#include <algorithm>
#include <utility>

namespace corymb::cluster {

namespace {

/// Longer messages go in pieces: an MPI counts in ints.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

struct Bytes {
    std::byte* data;
    std::size_t count;
};

/// Parts of different lengths are of one block.
Bytes bytes_of(const team::Operands& operands, const team::Places& places) {
    if (places.first_part == places.end_part && places.first_block == places.end_block) {
        return {nullptr, 0};
    }
    const team::Address bytes = team::bytes_of(operands, places, 1);
    // Only buffers other than `input` are written (check_plan).
    return {const_cast<std::byte*>(bytes.data), bytes.bytes};
}

/// Combines a message into the place that a fold names.
void combine(const FarStep& step, const team::Operands& operands, std::byte* to,
             const std::byte* own, const std::vector<std::byte>& incoming) {
    const std::size_t count = incoming.size() / operands.element_bytes;
    const std::byte* left = step.incoming_first ? incoming.data() : own;
    const std::byte* right = step.incoming_first ? own : incoming.data();
    operands.combine(left, right, to, count, operands.context);
}

} // namespace

Mail::Mail(Station& station, int lane)
    : station_(&station), carrier_(station.carrier), carried_(&station.carried),
      tallies_(&station.tallies[lane]), lane_(lane) {}

bool Mail::perform(std::size_t number, const team::Operands& operands) {
    const FarStep& step = steps_[number];
    awaited_ = step.peer;
    if (!is_receive(step.kind)) {
        station_->shared->throw_if_broken();
        send(step, operands);
        return true;
    }
    if (posted_.empty()) {
        const std::span rest = steps_.subspan(number);
        post(rest.first(group_size(rest)), operands);
    }
    Carrier::Arrival arrival;
    if (!test_next(arrival)) {
        return false;
    }
    if (!Station::is_of_call(arrival, bytes_of(operands, step.to).count, mark_)) {
        throw ForeignMessage{step.peer};
    }
    take(step, operands);
    return true;
}

void Mail::send(const FarStep& step, const team::Operands& operands) {
    ++carried_->messages_out;
    if (step.kind == StepKind::signal) {
        send(nullptr, 0, step.peer, mark_, Carrier::Channel::notifications);
        return;
    }
    const Bytes from = bytes_of(operands, step.from);
    carried_->bytes_out += from.count;
    std::size_t at = 0;
    for (; from.count - at > piece_bytes; at += piece_bytes) {
        send(from.data + at, piece_bytes, step.peer, mark_);
    }
    send(from.data + at, from.count - at, step.peer, mark_);
}

void Mail::send(const void* data, std::size_t bytes, Rank to, int mark) {
    send(data, bytes, to, mark, Carrier::Channel::data);
}

void Mail::send(const void* data, std::size_t bytes, Rank to, int mark, Carrier::Channel kind) {
    // Room first: a message that was handed over must be recorded.
    make_room(sent_, sent_.size() + 1);
    Tally& tally = tallies_->of(to, kind);
    sent_.push_back({carrier_->send(data, bytes, to, channel(kind), mark), to, kind});
    ++tally.sent;
}

void Mail::post(std::span<const FarStep> group, const team::Operands& operands) {
    posted_.reserve(group.size());
    for (const FarStep& step : group) {
        const Bytes to = bytes_of(operands, step.to);
        auto kind = Carrier::Channel::data;
        std::byte* data = to.data;
        std::vector<std::byte> incoming;
        if (step.kind == StepKind::wait) {
            kind = Carrier::Channel::notifications;
        } else if (step.kind == StepKind::fold) {
            incoming.resize(to.count);
            data = incoming.data();
        }
        post(data, to.count, step.peer, kind, std::move(incoming));
    }
}

void Mail::post(std::byte* data, std::size_t bytes, Rank from, Carrier::Channel kind,
                std::vector<std::byte> incoming) {
    // Recorded first: a receive that was handed over must be known.
    Posted& made = posted_.emplace_back();
    made.from = from;
    made.kind = kind;
    made.incoming = std::move(incoming);
    made.pieces.reserve(1 + bytes / piece_bytes);
    std::size_t at = 0;
    do {
        const std::size_t room = std::min(bytes - at, piece_bytes);
        made.pieces.push_back(carrier_->receive(data + at, room, from, channel(kind)));
        at += room;
    } while (at < bytes);
}

void Mail::post(void* data, std::size_t bytes, Rank from) {
    post(static_cast<std::byte*>(data), bytes, from, Carrier::Channel::data, {});
}

bool Mail::test_next(Carrier::Arrival& arrival) {
    Posted& posted = posted_[taken_];
    while (carrier_->test(posted.pieces[posted.next], arrival)) {
        ++tallies_->of(posted.from, posted.kind).got;
        posted.bytes += arrival.bytes;
        const bool is_whole = arrival.bytes == piece_bytes; // A shorter piece is the last one.
        if (++posted.next == posted.pieces.size() || !is_whole) {
            arrival.bytes = posted.bytes;
            return true;
        }
    }
    return false;
}

void Mail::take() {
    if (++taken_ == posted_.size()) {
        posted_.clear();
        taken_ = 0;
    }
}

void Mail::take(const FarStep& step, const team::Operands& operands) {
    const Bytes to = bytes_of(operands, step.to);
    ++carried_->messages_in;
    carried_->bytes_in += to.count;
    if (step.kind == StepKind::fold) {
        combine(step, operands, to.data, bytes_of(operands, step.from).data,
                posted_[taken_].incoming);
    }
    take();
    if (posted_.empty()) {
        ++carried_->rounds;
    }
}

bool Mail::are_sent() {
    Carrier::Arrival nothing;
    for (std::size_t i = 0; i < sent_.size();) {
        const Sent sent = std::exchange(sent_[i], sent_.back());
        sent_.pop_back(); // A ticket whose test throws is used up.
        if (!carrier_->test(sent.ticket, nothing)) {
            sent_.push_back(sent);
            std::swap(sent_[i++], sent_.back());
        }
    }
    return sent_.empty();
}

std::optional<Mail::Wait> Mail::wait() const {
    if (taken_ < posted_.size()) {
        const Posted& next = posted_[taken_];
        return Wait{next.from, channel(next.kind), false, tallies_->of(next.from, next.kind).got};
    }
    if (!sent_.empty()) {
        const Sent& last = sent_.back();
        return Wait{last.to, channel(last.kind), true, tallies_->of(last.to, last.kind).sent};
    }
    return std::nullopt;
}

bool Mail::abandon_all() noexcept {
    const bool had_some = !sent_.empty() || !posted_.empty();
    for (const Sent& sent : sent_) {
        carrier_->abandon(sent.ticket);
    }
    for (std::size_t i = taken_; i < posted_.size(); ++i) {
        for (std::size_t piece = posted_[i].next; piece < posted_[i].pieces.size(); ++piece) {
            carrier_->abandon(posted_[i].pieces[piece]);
        }
        keep_for_good(std::move(posted_[i].incoming));
    }
    sent_.clear();
    posted_.clear();
    taken_ = 0;
    return had_some;
}

} // namespace corymb::cluster
