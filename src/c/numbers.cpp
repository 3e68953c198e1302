// SPDX-License-Identifier: Apache-2.0
#include "c/numbers.hpp"

#include "c/held.hpp"

#include <string>

namespace corymb::c {

namespace {

std::size_t memory_by_kind(corymb_handle_kind kind, const void* handle) {
    switch (kind) {
    case CORYMB_HANDLE_TEAM: return memory_of(static_cast<const corymb_team*>(handle));
    case CORYMB_HANDLE_MAILBOX_GROUP:
        return memory_of(static_cast<const corymb_mailbox_group*>(handle));
    case CORYMB_HANDLE_BROADCAST_RING:
        return memory_of(static_cast<const corymb_broadcast_ring*>(handle));
    default: break;
    }
    refuse("handles of kind " + std::to_string(static_cast<int>(kind)) +
           " do not tell their memory: ask a team, a mailbox group or a broadcast ring");
}

int descriptor_by_kind(corymb_handle_kind kind, const void* handle) {
    switch (kind) {
    case CORYMB_HANDLE_MAILBOX_GROUP:
        return descriptor_of(static_cast<const corymb_mailbox_group*>(handle));
    case CORYMB_HANDLE_BROADCAST_RING:
        return descriptor_of(static_cast<const corymb_broadcast_ring*>(handle));
    case CORYMB_HANDLE_MULTICAST_GROUP:
        return descriptor_of(static_cast<const corymb_multicast_group*>(handle));
    case CORYMB_HANDLE_REMOTE_GROUP:
        return descriptor_of(static_cast<const corymb_remote_group*>(handle));
    default: break;
    }
    refuse("handles of kind " + std::to_string(static_cast<int>(kind)) +
           " have no descriptor: ask a mailbox group, a broadcast ring, a multicast group or a "
           "remote group; for a team call corymb_make_team_descriptor");
}

template <class Handle>
std::int64_t number_as(const void* handle, corymb_number_kind number,
                       std::int64_t otherwise) noexcept {
    return number_of(static_cast<const Handle*>(handle), number, otherwise);
}

} // namespace

} // namespace corymb::c

using namespace corymb;

int64_t corymb_number(corymb_handle_kind kind, const void* handle, corymb_number_kind number,
                      int64_t otherwise) noexcept {
    switch (kind) {
    case CORYMB_HANDLE_TEAM: return c::number_as<corymb_team>(handle, number, otherwise);
    case CORYMB_HANDLE_MAILBOX: return c::number_as<corymb_mailbox>(handle, number, otherwise);
    case CORYMB_HANDLE_BROADCAST_PUBLISHER:
        return c::number_as<corymb_broadcast_publisher>(handle, number, otherwise);
    case CORYMB_HANDLE_BROADCAST_READER:
        return c::number_as<corymb_broadcast_reader>(handle, number, otherwise);
    case CORYMB_HANDLE_MULTICAST_GROUP:
        return c::number_as<corymb_multicast_group>(handle, number, otherwise);
    case CORYMB_HANDLE_MULTICAST: return c::number_as<corymb_multicast>(handle, number, otherwise);
    case CORYMB_HANDLE_MULTICAST_TOKEN:
        return c::number_as<corymb_multicast_token>(handle, number, otherwise);
    case CORYMB_HANDLE_REMOTE: return c::number_as<corymb_remote>(handle, number, otherwise);
    default: return otherwise;
    }
}

corymb_status corymb_memory(corymb_handle_kind kind, const void* handle, size_t* bytes) noexcept {
    return c::give_value(bytes, "corymb_memory: bytes", size_t{0},
                         [&] { return c::memory_by_kind(kind, handle); });
}

corymb_status corymb_make_descriptor(corymb_handle_kind kind, const void* handle,
                                     int* descriptor) noexcept {
    return c::give_value(descriptor, "corymb_make_descriptor: descriptor", -1,
                         [&] { return c::descriptor_by_kind(kind, handle); });
}
