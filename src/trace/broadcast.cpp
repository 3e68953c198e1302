// SPDX-License-Identifier: Apache-2.0
#include "group/group.hpp"
#include "message/broadcast_state.hpp"
#include "trace/looks.hpp"

#include <string>
#include <utility>

namespace corymb::trace {

namespace {

using detail::BroadcastHead;

std::string state_of(const BroadcastReaderInfo& reader) {
    if (reader.is_dropped) {
        return "dropped";
    }
    switch (reader.policy) {
    case BroadcastPolicy::block: return "block";
    case BroadcastPolicy::drop: return "drop";
    case BroadcastPolicy::overrun: break;
    }
    return "overrun";
}

} // namespace

std::optional<TracedGroup> look_at_broadcast(const Arena& arena) {
    const auto place = detail::find_broadcast(arena);
    if (!place) {
        return std::nullopt;
    }
    const auto& [head, ring, shape] = *place;
    group::Head& places = *group::find(arena, group::Kind::broadcast);
    TracedGroup found;
    found.kind = "broadcast";
    found.size = static_cast<int>(shape.readers);
    found.sequence = ring->published.load(std::memory_order_relaxed);
    found.about = std::to_string(shape.slots.slots) + " slots of " +
                  std::to_string(head->options.message_bytes) + " B";
    const auto state = head->state.load(std::memory_order_relaxed);
    if (state != BroadcastHead::unborn) {
        const std::uint32_t pid = process_of(places.place(shape.readers));
        const bool is_closed = state == BroadcastHead::closed;
        found.members.push_back({-1, static_cast<int>(pid),
                                 is_closed                ? "closed"
                                 : head->room.is_parked() ? "sleeping"
                                                          : "publishing",
                                 process_of(pid), found.sequence, 0});
    }
    for (std::size_t line = 0; line < shape.readers; ++line) {
        const BroadcastReaderInfo info =
            detail::reader_info(*ring, line, unlocked(places.place(line).pid));
        if (info.reader >= 0) {
            found.members.push_back({info.reader, static_cast<int>(info.pid), state_of(info),
                                     process_of(info.pid), info.last, info.lag});
        }
    }
    return found;
}

} // namespace corymb::trace
