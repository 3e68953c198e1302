// SPDX-License-Identifier: Apache-2.0
#include "c/give_back.hpp"

#include "c/status.hpp"

#include <string>

namespace corymb::c {

namespace {

template <class Handle>
void as(void*& given) {
    auto* handle = static_cast<Handle*>(given);
    try {
        give_back(handle);
    } catch (...) {
        given = handle;
        throw;
    }
    given = handle;
}

void give_back_as(corymb_handle_kind kind, void*& handle) {
    switch (kind) {
    case CORYMB_HANDLE_TEAM: return as<corymb_team>(handle);
    case CORYMB_HANDLE_REQUEST: return as<corymb_request>(handle);
    case CORYMB_HANDLE_THREAD_TEAM: return as<corymb_thread_team>(handle);
    case CORYMB_HANDLE_PROCESS_TEAM: return as<corymb_process_team>(handle);
    case CORYMB_HANDLE_CALL: return as<corymb_call>(handle);
    case CORYMB_HANDLE_MAILBOX_GROUP: return as<corymb_mailbox_group>(handle);
    case CORYMB_HANDLE_MAILBOX: return as<corymb_mailbox>(handle);
    case CORYMB_HANDLE_BROADCAST_RING: return as<corymb_broadcast_ring>(handle);
    case CORYMB_HANDLE_BROADCAST_PUBLISHER: return as<corymb_broadcast_publisher>(handle);
    case CORYMB_HANDLE_BROADCAST_READER: return as<corymb_broadcast_reader>(handle);
    case CORYMB_HANDLE_MULTICAST_GROUP: return as<corymb_multicast_group>(handle);
    case CORYMB_HANDLE_MULTICAST: return as<corymb_multicast>(handle);
    case CORYMB_HANDLE_MULTICAST_TOKEN: return as<corymb_multicast_token>(handle);
    case CORYMB_HANDLE_REMOTE_GROUP: return as<corymb_remote_group>(handle);
    case CORYMB_HANDLE_REMOTE: return as<corymb_remote>(handle);
    case CORYMB_HANDLE_REMOTE_CALL: return as<corymb_remote_call>(handle);
    case CORYMB_HANDLE_REMOTE_REPLY: return as<corymb_remote_reply>(handle);
    case CORYMB_HANDLE_MAX: break;
    }
    refuse("there is no kind of handle " + std::to_string(static_cast<int>(kind)));
}

} // namespace

} // namespace corymb::c

corymb_status corymb_give_back(corymb_handle_kind kind, void** handle) noexcept {
    return corymb::c::guarded([&] {
        corymb::c::require(handle, "the pointer to the handle");
        if (*handle != nullptr) {
            corymb::c::give_back_as(kind, *handle);
        }
    });
}
