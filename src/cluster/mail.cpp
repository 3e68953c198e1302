// SPDX-License-Identifier: Apache-2.0
#include "cluster/mail.hpp"

#include "base/make_room.hpp"
#include "cluster/attic.hpp"

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

const team::Layout& layout_of(const team::Operands& operands, Buffer buffer) {
    return buffer == Buffer::input    ? operands.input_layout
           : buffer == Buffer::output ? operands.output_layout
                                      : operands.scratch_layout;
}

/// Bytes of places as the engine counts them (engine.hpp); parts of different lengths are of one
/// block.
Bytes bytes_of(const team::Operands& operands, const team::Places& places) {
    const team::Layout& layout = layout_of(operands, places.buffer);
    const std::size_t bytes = operands.bytes;
    const std::size_t block = operands.block_bytes;
    std::size_t begin = places.first_part * bytes + std::min(bytes, places.first_block * block);
    std::size_t end = places.end_part * bytes + std::min(bytes, places.end_block * block);
    if (layout.lengths != nullptr && places.end_part > places.first_part) {
        const std::size_t last = places.end_part - 1;
        begin = layout.offsets[places.first_part];
        end = layout.offsets[last] + layout.lengths[last];
    }
    // Only buffers other than `input` are written (check_plan).
    std::byte* const base = places.buffer == Buffer::input ? const_cast<std::byte*>(operands.input)
                            : places.buffer == Buffer::output ? operands.output
                                                              : operands.scratch;
    return {end > begin ? base + begin : nullptr, end - begin};
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

std::size_t Mail::size_of(const FarStep& step, const team::Operands& operands) {
    return bytes_of(operands, step.to).count;
}

void Mail::send(const FarStep& step, const team::Operands& operands, int mark) {
    ++carried_->messages_out;
    if (step.kind == StepKind::signal) {
        // Room first: a message that was handed over must be recorded.
        make_room(sent_, sent_.size() + 1);
        sent_.emplace_back(
            carrier_->send(nullptr, 0, step.peer, channel(Carrier::Channel::notifications), mark),
            step.peer);
        return;
    }
    const Bytes from = bytes_of(operands, step.from);
    carried_->bytes_out += from.count;
    std::size_t at = 0;
    for (; from.count - at > piece_bytes; at += piece_bytes) {
        send(from.data + at, piece_bytes, step.peer, mark);
    }
    send(from.data + at, from.count - at, step.peer, mark);
}

void Mail::send(const void* data, std::size_t bytes, Rank to, int mark) {
    make_room(sent_, sent_.size() + 1);
    sent_.emplace_back(carrier_->send(data, bytes, to, channel(Carrier::Channel::data), mark), to);
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
        const auto sent = std::exchange(sent_[i], sent_.back());
        sent_.pop_back(); // A ticket whose test throws is used up.
        if (!carrier_->test(sent.first, nothing)) {
            sent_.push_back(sent);
            std::swap(sent_[i++], sent_.back());
        }
    }
    return sent_.empty();
}

bool Mail::abandon_all() noexcept {
    const bool had_some = !sent_.empty() || !posted_.empty();
    for (const auto& [ticket, peer] : sent_) {
        carrier_->abandon(ticket);
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
