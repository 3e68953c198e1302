// SPDX-License-Identifier: Apache-2.0
// Broadcast rings.
#include "c/give_back.hpp"
#include "c/held.hpp"
#include "c/known_options.hpp"
#include "c/lists.hpp"
#include "c/numbers.hpp"
#include "c/of_rank.hpp"

#include <corymb.h>
#include <corymb/broadcast_ring.hpp>

struct corymb_broadcast_ring : corymb::c::Holder<corymb_broadcast_ring, corymb::BroadcastRing> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620008;
    static constexpr const char* name = "the broadcast ring";
};

struct corymb_broadcast_publisher
    : corymb::c::Holder<corymb_broadcast_publisher, corymb::BroadcastPublisher> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620009;
    static constexpr const char* name = "the publisher";
};

struct corymb_broadcast_reader
    : corymb::c::Holder<corymb_broadcast_reader, corymb::c::OfRank<corymb::BroadcastReader>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000A;
    static constexpr const char* name = "the reader";
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

BroadcastStart start_of(corymb_broadcast_start given) {
    switch (given) {
    case CORYMB_BROADCAST_NEXT: return BroadcastStart::next;
    case CORYMB_BROADCAST_LAST: return BroadcastStart::last;
    default: break;
    }
    refuse("there is no start " + std::to_string(static_cast<int>(given)) +
           "; use a value of corymb_broadcast_start");
}

BroadcastOptions broadcast_options(const corymb_broadcast_options* given) {
    BroadcastOptions options;
    if (given != nullptr) {
        const auto known = as_known(*given, "corymb_broadcast_options_init");
        options.message_bytes = known.message_bytes;
        options.slots = known.slots;
        options.readers = known.readers;
        options.between_processes = known.between_processes != 0;
        options.name = known.name == nullptr ? std::string_view() : known.name;
        options.deadline = time_of(known.deadline_ns, "deadline_ns");
        options.wait = wait_policy(known.wait);
    }
    return options;
}

corymb_broadcast_reader_info info_of(const BroadcastReaderInfo& info) {
    return {info.reader,
            info.pid,
            static_cast<corymb_broadcast_policy>(info.policy),
            info.is_dropped ? 1 : 0,
            info.has_ended ? 1 : 0,
            info.last,
            info.lag};
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_broadcast_ring_create(const corymb_broadcast_options* options,
                                           corymb_broadcast_ring** ring) noexcept {
    return c::give_handle(ring, "corymb_broadcast_ring_create: ring",
                          [&] { return BroadcastRing(c::broadcast_options(options)); });
}

corymb_status corymb_broadcast_ring_open(int descriptor, corymb_broadcast_ring** ring) noexcept {
    return c::give_handle(ring, "corymb_broadcast_ring_open: ring",
                          [&] { return BroadcastRing::open(descriptor); });
}

corymb_status corymb_broadcast_ring_publisher(corymb_broadcast_ring* ring,
                                              corymb_broadcast_publisher** publisher) noexcept {
    return c::give_handle(publisher, "corymb_broadcast_ring_publisher: publisher",
                          [&] { return c::held(ring).publisher(); });
}

corymb_status corymb_broadcast_ring_reader(corymb_broadcast_ring* ring,
                                           corymb_broadcast_policy policy,
                                           corymb_broadcast_start start,
                                           corymb_broadcast_reader** reader) noexcept {
    return c::give_handle(reader, "corymb_broadcast_ring_reader: reader", [&] {
        return c::OfRank(c::held(ring).reader(c::policy_of(policy), c::start_of(start)));
    });
}

corymb_status corymb_broadcast_ring_readers(const corymb_broadcast_ring* ring,
                                            corymb_broadcast_reader_info* infos, size_t room,
                                            size_t* count) noexcept {
    return c::guarded(
        [&] { c::give_list(c::held(ring).readers(), infos, room, count, c::info_of); });
}

std::size_t c::memory_of(const corymb_broadcast_ring* ring) {
    return held(ring).memory();
}

int c::descriptor_of(const corymb_broadcast_ring* ring) {
    return held(ring).make_descriptor();
}

void c::give_back(corymb_broadcast_ring*& ring) {
    c::free_held(ring);
}

corymb_status corymb_broadcast_publish(corymb_broadcast_publisher* publisher, const void* data,
                                       size_t bytes, int64_t limit_ns) noexcept {
    return c::guarded(
        [&] { c::held(publisher).publish(data, bytes, c::time_of(limit_ns, "limit_ns")); });
}

corymb_status corymb_broadcast_try_publish(corymb_broadcast_publisher* publisher, const void* data,
                                           size_t bytes, int* published) noexcept {
    return c::give_value(published, "corymb_broadcast_try_publish: published", 0,
                         [&] { return c::held(publisher).try_publish(data, bytes); });
}

corymb_status corymb_broadcast_drop(corymb_broadcast_publisher* publisher, int reader) noexcept {
    return c::guarded([&] { c::held(publisher).drop(reader); });
}

corymb_status corymb_broadcast_take_dropped(corymb_broadcast_publisher* publisher,
                                            corymb_broadcast_reader_info* infos, size_t room,
                                            size_t* count) noexcept {
    return c::guarded(
        [&] { c::give_list(c::held(publisher).take_dropped(), infos, room, count, c::info_of); });
}

std::int64_t c::number_of(const corymb_broadcast_publisher* publisher, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    return is_live(publisher) && number == CORYMB_NUMBER_MESSAGE
               ? static_cast<std::int64_t>(publisher->held->published())
               : otherwise;
}

void c::give_back(corymb_broadcast_publisher*& publisher) {
    c::free_held(publisher);
}

corymb_status corymb_broadcast_probe(corymb_broadcast_reader* reader,
                                     corymb_broadcast_handler handler, void* context, size_t most,
                                     size_t* count) noexcept {
    size_t done = 0;
    const corymb_status status = c::use(reader, [&](BroadcastReader& own) {
        c::require(handler, "corymb_broadcast_probe: handler");
        static_cast<void>(own.probe(
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
    return c::give_value(ready, "corymb_broadcast_wait: ready", 0, [&] {
        return c::held(reader).object.wait(c::time_of(limit_ns, "limit_ns"));
    });
}

corymb_status corymb_broadcast_at_end(corymb_broadcast_reader* reader, int* at_end) noexcept {
    return c::give_value(at_end, "corymb_broadcast_at_end: at_end", 0,
                         [&] { return c::held(reader).object.at_end(); });
}

std::int64_t c::number_of(const corymb_broadcast_reader* reader, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(reader)) {
        return otherwise;
    }
    const BroadcastReader& own = reader->held->object;
    return number == CORYMB_NUMBER_RANK      ? own.number()
           : number == CORYMB_NUMBER_MESSAGE ? static_cast<std::int64_t>(own.last())
                                             : otherwise;
}

void c::give_back(corymb_broadcast_reader*& reader) {
    c::free_unused(reader);
}
