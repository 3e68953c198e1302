// SPDX-License-Identifier: Apache-2.0
// Broadcast rings.
#include "c/known_options.hpp"
#include "c/slots.hpp"

#include <corymb.h>
#include <corymb/broadcast_ring.hpp>

#include <algorithm>
#include <optional>
#include <vector>

struct corymb_broadcast_ring : corymb::c::SlotBase<corymb_broadcast_ring> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620008;
    static constexpr const char* name = "the broadcast ring";
    mutable std::optional<corymb::BroadcastRing> ring;
};

struct corymb_broadcast_publisher : corymb::c::SlotBase<corymb_broadcast_publisher> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620009;
    static constexpr const char* name = "the publisher";
    corymb::BroadcastPublisher end;
};

struct corymb_broadcast_reader : corymb::c::SlotBase<corymb_broadcast_reader> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000A;
    static constexpr const char* name = "the reader";
    corymb::BroadcastReader end;
};

namespace corymb::c {

namespace {

BroadcastPolicy policy_of(corymb_broadcast_policy given) {
    switch (given) {
    case CORYMB_BROADCAST_BLOCK: return BroadcastPolicy::block;
    case CORYMB_BROADCAST_DROP: return BroadcastPolicy::drop;
    case CORYMB_BROADCAST_OVERRUN: return BroadcastPolicy::overrun;
    default: break;
    }
    refuse("there is no policy " + std::to_string(static_cast<int>(given)) +
           "; use a value of corymb_broadcast_policy");
}

BroadcastOptions broadcast_options(const corymb_broadcast_options* given) {
    BroadcastOptions options;
    if (given != nullptr) {
        const auto known = as_known(*given, "corymb_broadcast_options_init");
        options.message_bytes = known.message_bytes;
        options.slots = known.slots;
        options.readers = known.readers;
        options.between_processes = known.between_processes != 0;
        options.deadline = time_of(known.deadline_ns, "deadline_ns");
        options.wait = wait_policy(known.wait);
    }
    return options;
}

corymb_broadcast_ring* new_ring(BroadcastRing&& made) {
    corymb_broadcast_ring& handle = AllSlots<corymb_broadcast_ring>::take();
    handle.ring.emplace(std::move(made));
    return &handle;
}

/// An end of a ring in a handle of its own.
template <class Handle, class End>
Handle* new_end(End&& made) {
    Handle& handle = AllSlots<Handle>::take();
    handle.end = std::forward<End>(made);
    return &handle;
}

template <class Handle>
corymb_status free_end(Handle** end, const char* what) noexcept {
    return guarded([&] {
        require(end, what);
        if (*end == nullptr) {
            return;
        }
        Handle& handle = live(*end);
        *end = nullptr;
        handle.end = {};
        AllSlots<Handle>::give_back(handle);
    });
}

void give_infos(const std::vector<BroadcastReaderInfo>& found, corymb_broadcast_reader_info* infos,
                size_t room, size_t* count) {
    require(count, "count");
    if (room != 0) {
        require(infos, "room is not 0, but infos");
    }
    for (size_t i = 0; i < std::min(room, found.size()); ++i) {
        const BroadcastReaderInfo& info = found[i];
        infos[i] = {info.reader,
                    info.pid,
                    static_cast<corymb_broadcast_policy>(info.policy),
                    info.is_dropped ? 1 : 0,
                    info.has_ended ? 1 : 0,
                    info.last,
                    info.lag};
    }
    *count = found.size();
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_broadcast_ring_create(const corymb_broadcast_options* options,
                                           corymb_broadcast_ring** ring) noexcept {
    return c::guarded([&] {
        c::require(ring, "corymb_broadcast_ring_create: ring");
        *ring = nullptr;
        *ring = c::new_ring(BroadcastRing(c::broadcast_options(options)));
    });
}

corymb_status corymb_broadcast_ring_attach(int descriptor, corymb_broadcast_ring** ring) noexcept {
    return c::guarded([&] {
        c::require(ring, "corymb_broadcast_ring_attach: ring");
        *ring = nullptr;
        *ring = c::new_ring(BroadcastRing::attach(descriptor));
    });
}

corymb_status corymb_broadcast_ring_make_descriptor(const corymb_broadcast_ring* ring,
                                                    int* descriptor) noexcept {
    return c::guarded([&] {
        c::require(descriptor, "corymb_broadcast_ring_make_descriptor: descriptor");
        *descriptor = -1;
        *descriptor = c::live(ring).ring->make_descriptor();
    });
}

corymb_status corymb_broadcast_ring_publisher(corymb_broadcast_ring* ring,
                                              corymb_broadcast_publisher** publisher) noexcept {
    return c::guarded([&] {
        c::require(publisher, "corymb_broadcast_ring_publisher: publisher");
        *publisher = nullptr;
        *publisher = c::new_end<corymb_broadcast_publisher>(c::live(ring).ring->publisher());
    });
}

corymb_status corymb_broadcast_ring_reader(corymb_broadcast_ring* ring,
                                           corymb_broadcast_policy policy,
                                           corymb_broadcast_reader** reader) noexcept {
    return c::guarded([&] {
        c::require(reader, "corymb_broadcast_ring_reader: reader");
        *reader = nullptr;
        *reader =
            c::new_end<corymb_broadcast_reader>(c::live(ring).ring->reader(c::policy_of(policy)));
    });
}

corymb_status corymb_broadcast_ring_readers(const corymb_broadcast_ring* ring,
                                            corymb_broadcast_reader_info* infos, size_t room,
                                            size_t* count) noexcept {
    return c::guarded([&] { c::give_infos(c::live(ring).ring->readers(), infos, room, count); });
}

corymb_status corymb_broadcast_ring_memory(const corymb_broadcast_ring* ring,
                                           size_t* bytes) noexcept {
    return c::guarded([&] {
        c::require(bytes, "corymb_broadcast_ring_memory: bytes");
        *bytes = c::live(ring).ring->memory();
    });
}

corymb_status corymb_broadcast_ring_free(corymb_broadcast_ring** ring) noexcept {
    return c::guarded([&] {
        c::require(ring, "corymb_broadcast_ring_free: ring");
        if (*ring == nullptr) {
            return;
        }
        corymb_broadcast_ring& handle = c::live(*ring);
        *ring = nullptr;
        handle.ring.reset();
        c::AllSlots<corymb_broadcast_ring>::give_back(handle);
    });
}

corymb_status corymb_broadcast_publish(corymb_broadcast_publisher* publisher, const void* data,
                                       size_t bytes, int64_t limit_ns) noexcept {
    return c::guarded(
        [&] { c::live(publisher).end.publish(data, bytes, c::time_of(limit_ns, "limit_ns")); });
}

corymb_status corymb_broadcast_try_publish(corymb_broadcast_publisher* publisher, const void* data,
                                           size_t bytes, int* published) noexcept {
    return c::guarded([&] {
        c::require(published, "corymb_broadcast_try_publish: published");
        *published = 0;
        *published = c::live(publisher).end.try_publish(data, bytes) ? 1 : 0;
    });
}

uint64_t corymb_broadcast_published(const corymb_broadcast_publisher* publisher) noexcept {
    return c::is_live(publisher) ? publisher->end.published() : 0;
}

corymb_status corymb_broadcast_drop(corymb_broadcast_publisher* publisher, int reader) noexcept {
    return c::guarded([&] { c::live(publisher).end.drop(reader); });
}

corymb_status corymb_broadcast_take_dropped(corymb_broadcast_publisher* publisher,
                                            corymb_broadcast_reader_info* infos, size_t room,
                                            size_t* count) noexcept {
    return c::guarded(
        [&] { c::give_infos(c::live(publisher).end.take_dropped(), infos, room, count); });
}

corymb_status corymb_broadcast_publisher_free(corymb_broadcast_publisher** publisher) noexcept {
    return c::free_end(publisher, "corymb_broadcast_publisher_free: publisher");
}

int corymb_broadcast_reader_number(const corymb_broadcast_reader* reader) noexcept {
    return c::is_live(reader) ? reader->end.number() : -1;
}

corymb_status corymb_broadcast_probe(corymb_broadcast_reader* reader,
                                     corymb_broadcast_handler handler, void* context, size_t most,
                                     size_t* count) noexcept {
    size_t done = 0;
    const corymb_status status = c::guarded([&] {
        c::require(handler, "corymb_broadcast_probe: handler");
        static_cast<void>(c::live(reader).end.probe(
            [&](const BroadcastMessage& message) {
                ++done;
                const corymb_broadcast_message given = {message.bytes.data(), message.bytes.size(),
                                                        message.number, message.missed};
                c::check_handler(handler(&given, context));
            },
            most));
    });
    if (count != nullptr) {
        *count = done;
    }
    return status;
}

corymb_status corymb_broadcast_wait(corymb_broadcast_reader* reader, int64_t limit_ns,
                                    int* ready) noexcept {
    return c::guarded([&] {
        c::require(ready, "corymb_broadcast_wait: ready");
        *ready = 0;
        *ready = c::live(reader).end.wait(c::time_of(limit_ns, "limit_ns")) ? 1 : 0;
    });
}

corymb_status corymb_broadcast_at_end(corymb_broadcast_reader* reader, int* at_end) noexcept {
    return c::guarded([&] {
        c::require(at_end, "corymb_broadcast_at_end: at_end");
        *at_end = 0;
        *at_end = c::live(reader).end.at_end() ? 1 : 0;
    });
}

uint64_t corymb_broadcast_last(const corymb_broadcast_reader* reader) noexcept {
    return c::is_live(reader) ? reader->end.last() : 0;
}

corymb_status corymb_broadcast_reader_free(corymb_broadcast_reader** reader) noexcept {
    return c::free_end(reader, "corymb_broadcast_reader_free: reader");
}
