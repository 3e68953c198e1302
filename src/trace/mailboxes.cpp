// SPDX-License-Identifier: Apache-2.0
#include "group/group.hpp"
#include "message/mailbox_shared.hpp"
#include "trace/looks.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace corymb::trace {

namespace {

using message::Box;

std::string state_of(const Box& box) {
    switch (box.state.load(std::memory_order_relaxed)) {
    case Box::free: return "not joined";
    case Box::open: return box.spot.is_parked() ? "sleeping" : "open";
    case Box::closed: return "closed";
    default: return "ended";
    }
}

/// Messages in the ring behind the first `taken`: those whose words have come.
std::uint64_t waiting_in(message::Ring& ring, const channel::SlotShape& shape,
                         std::uint64_t taken) {
    const auto slots = ring.slots(shape);
    std::uint64_t count = 0;
    while (count < slots.count() &&
           static_cast<std::uint32_t>(slots.word(taken + count).load(std::memory_order_relaxed)) ==
               static_cast<std::uint32_t>(taken + count + 1)) {
        ++count;
    }
    return count;
}

} // namespace

std::optional<TracedGroup> look_at_mailboxes(const Arena& arena) {
    const MailboxOptions* const options = detail::find_mailboxes(arena);
    if (options == nullptr) {
        return std::nullopt;
    }
    group::Head& head = *group::find(arena, group::Kind::mailboxes);
    const int size = static_cast<int>(head.places);
    TracedGroup found;
    found.kind = "mailboxes";
    found.size = size;
    found.about = std::string(to_string(options->protocol)) + ", " +
                  std::to_string(options->capacity) + " messages of " +
                  std::to_string(options->message_bytes) + " B each";
    const message::Post post(arena, size, *options);
    std::vector<TracedMember> all(static_cast<std::size_t>(size));
    const auto member = [&](Rank rank) -> TracedMember& {
        return all.at(static_cast<std::size_t>(rank));
    };
    post.visit([&](const message::Post::Found& object) {
        TracedMember& to = member(object.to);
        if (object.box != nullptr) {
            to.state = state_of(*object.box);
        } else if (object.ring != nullptr) {
            const std::uint64_t taken = object.ring->consumed.load(std::memory_order_relaxed);
            to.sequence += taken;
            to.behind += waiting_in(*object.ring, post.ring_shape(), taken);
        } else if (object.shared != nullptr) {
            std::uint64_t taken = 0;
            for (int from = 0; from < size; ++from) {
                taken += object.shared->consumed(static_cast<std::size_t>(from))
                             .load(std::memory_order_relaxed);
            }
            const std::uint64_t sent = object.shared->tickets.load(std::memory_order_relaxed);
            to.sequence += taken;
            to.behind += std::max(sent, taken) - taken;
        }
    });
    for (Rank rank = 0; rank < size; ++rank) {
        TracedMember& one = member(rank);
        const std::uint32_t pid = process_of(head.place(static_cast<std::size_t>(rank)));
        if (pid != 0 || one.behind != 0) {
            one.rank = rank;
            one.pid = static_cast<int>(pid);
            one.state = one.state.empty() ? "not joined" : one.state;
            one.process = process_of(pid);
            found.sequence += one.sequence;
            found.members.push_back(std::move(one));
        }
    }
    return found;
}

} // namespace corymb::trace
