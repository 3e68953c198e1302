// SPDX-License-Identifier: Apache-2.0
#include "message/broadcast_state.hpp"

#include "base/process_state.hpp"

#include <corymb/error.hpp>

#include <mutex>
#include <new>
#include <utility>

namespace corymb::detail {

using channel::BroadcastKind;
using channel::BroadcastPlace;

namespace {

// Teams keep their own things in such memory under other identities.
constexpr std::uint64_t head_id = 0x6461'6568'6461'6f72; // "roadhead"
constexpr std::uint64_t ring_id = 0x676e'6972'6461'6f72; // "roadring"

ArenaKey key(std::uint64_t id) noexcept {
    return {0, 0, -1, -1, id};
}

channel::BroadcastShape shape_of(const BroadcastOptions& options) noexcept {
    return channel::BroadcastShape::of(options.slots, options.message_bytes,
                                       static_cast<std::size_t>(options.readers));
}

} // namespace

BroadcastReaderInfo reader_info(channel::BroadcastRing<BroadcastEnv>& ring, std::size_t reader,
                                std::uint32_t pid) noexcept {
    auto& line = ring.line(reader);
    const BroadcastPlace place{line.place.load(std::memory_order_relaxed)};
    const std::uint64_t published = ring.published.load(std::memory_order_relaxed);
    constexpr std::uint64_t nonsense = std::uint64_t{1} << 47U; // `published` is seen late.
    BroadcastReaderInfo info;
    info.reader = place.kind() == BroadcastKind::none ? -1 : static_cast<int>(reader);
    info.pid = pid;
    info.policy = place.kind() == BroadcastKind::block  ? BroadcastPolicy::block
                  : place.kind() == BroadcastKind::drop ? BroadcastPolicy::drop
                                                        : BroadcastPolicy::overrun;
    info.lag = place.lag(published) < nonsense ? place.lag(published) : 0;
    info.last = published - info.lag;
    info.is_dropped = line.dropped.load(std::memory_order_relaxed) == place.tag();
    return info;
}

std::optional<BroadcastFound> find_broadcast(const Arena& arena) {
    if (group::find(arena, group::Kind::broadcast) == nullptr) {
        return std::nullopt;
    }
    BroadcastFound found;
    found.head = std::launder(reinterpret_cast<BroadcastHead*>(arena.find(key(head_id))));
    found.ring = std::launder(reinterpret_cast<BroadcastShared::Ring*>(arena.find(key(ring_id))));
    found.shape = shape_of(found.head->options);
    return found;
}

BroadcastShared::BroadcastShared(const BroadcastOptions& options, std::shared_ptr<SharedMemory> to)
    : Group(group::Kind::broadcast, static_cast<std::size_t>(options.readers) + 1, std::move(to)),
      shape(shape_of(options)) {
    ring = arena().find_or_make_sized<Ring>(key(ring_id), Ring::bytes(shape),
                                            [this](void* place) { new (place) Ring(shape); });
    head = &arena().find_or_make<BroadcastHead>(key(head_id), options, memory().reach());
    cpus = &channel::WaiterCpus::of(arena());
    publish();
}

BroadcastShared::BroadcastShared(std::shared_ptr<SharedMemory> with)
    : Group(group::Kind::broadcast, std::move(with)) {
    {
        const std::lock_guard lock(memory());
        const auto found = find_broadcast(arena());
        head = found->head;
        ring = found->ring;
        shape = found->shape;
    }
    cpus = &channel::WaiterCpus::of(arena());
}

std::size_t BroadcastShared::take_line(BroadcastPolicy policy,
                                       channel::BroadcastReceiver<BroadcastEnv>& receiver) {
    constexpr BroadcastKind kinds[] = {BroadcastKind::block, BroadcastKind::drop,
                                       BroadcastKind::overrun};
    const std::lock_guard lock(memory());
    for (int attempt = 0; attempt < 2; ++attempt) {
        for (std::size_t line = 0; line < lines(); ++line) {
            const BroadcastPlace place{ring->line(line).place.load(std::memory_order_relaxed)};
            if (place.kind() == BroadcastKind::none) {
                take(line);
                receiver = {*ring, shape, line, kinds[static_cast<std::size_t>(policy)]};
                return line;
            }
        }
        if (attempt == 0 && reclaim_locked().empty()) {
            break;
        }
    }
    throw Error(Errc::invalid_argument,
                "the ring has its " + std::to_string(lines()) +
                    " readers; make it with BroadcastOptions::readers of more");
}

BroadcastReaderInfo BroadcastShared::info(std::size_t reader) noexcept {
    return reader_info(*ring, reader, place(reader).pid);
}

std::vector<BroadcastReaderInfo> BroadcastShared::reclaim() {
    const std::lock_guard lock(memory());
    return reclaim_locked();
}

std::vector<BroadcastReaderInfo> BroadcastShared::reclaim_locked() {
    std::vector<BroadcastReaderInfo> ended;
    bury_ended(0, lines(), [&](std::size_t line) {
        BroadcastReaderInfo reader = info(line);
        if (reader.reader < 0) {
            return false;
        }
        Ring::leave(ring->line(line));
        reader.has_ended = true;
        ended.push_back(reader);
        return true;
    });
    return ended;
}

std::uint32_t BroadcastShared::lost_publisher() {
    if (!is_machine_wide()) {
        return 0;
    }
    const std::lock_guard lock(memory());
    const auto is_open = [this] {
        return head->state.load(std::memory_order_relaxed) == BroadcastHead::open;
    };
    bury_ended(publishing(), places(), [&](std::size_t) { return is_open(); });
    const group::Place& of = place(publishing());
    return is_open() && of.pid == 0 ? of.lost_pid : 0;
}

BroadcastHead::State BroadcastShared::state() const {
    const std::lock_guard lock(memory()); // A reader that sees the ring closed sees all messages.
    return static_cast<BroadcastHead::State>(head->state.load(std::memory_order_relaxed));
}

std::string name_of(const BroadcastShared& shared, const BroadcastReaderInfo& reader) {
    std::string text = "reader " + std::to_string(reader.reader);
    if (shared.is_machine_wide()) {
        text += " (pid " + std::to_string(reader.pid) + process_state(reader.pid) + ")";
    }
    return text;
}

} // namespace corymb::detail
