// SPDX-License-Identifier: Apache-2.0
// The end of a handle of each kind.
#pragma once

#include <corymb.h>

namespace corymb::c {

// Ends the object and the handle, which is not null, and sets it to null. Throws
// Errc::invalid_argument for what is no handle of this kind (any more), and errors of the end.
void give_back(corymb_team*& handle);
void give_back(corymb_request*& handle);
void give_back(corymb_thread_team*& handle);
void give_back(corymb_process_team*& handle);
void give_back(corymb_call*& handle);
void give_back(corymb_mailbox_group*& handle);
void give_back(corymb_mailbox*& handle);
void give_back(corymb_broadcast_ring*& handle);
void give_back(corymb_broadcast_publisher*& handle);
void give_back(corymb_broadcast_reader*& handle);
void give_back(corymb_multicast_group*& handle);
void give_back(corymb_multicast*& handle);
void give_back(corymb_multicast_token*& handle);
void give_back(corymb_remote_group*& handle);
void give_back(corymb_remote*& handle);
void give_back(corymb_remote_call*& handle);
void give_back(corymb_remote_reply*& handle);

} // namespace corymb::c
