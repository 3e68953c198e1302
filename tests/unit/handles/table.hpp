// SPDX-License-Identifier: Apache-2.0
// Every public member function of the handles, as a call that is right on a handle of two ranks.
// tests/tidy/handles.py fails when one of the headers is not here.
#pragma once

#include <corymb/broadcast_ring.hpp>
#include <corymb/carrier.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/process.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_name.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/team.hpp>

#include <vector>

namespace corymb::handles {

/// What becomes of a call.
enum class Kind {
    acts,        ///< Refused on an empty handle, in a forked child and while another thread calls.
    acts_if_any, ///< The same, but an empty handle has an answer.
    any_thread,  ///< Refused on an empty handle and in a forked child.
    any_thread_if_any, ///< Refused in a forked child.
    looks,             ///< Refused on an empty handle.
    asks,              ///< Always has an answer.
};

template <class Handle>
struct Call {
    const char* name; ///< "Team::barrier"; a word in brackets tells overloads apart.
    Kind kind;
    void (*call)(Handle& handle);
};
template <class Handle>
using Calls = std::vector<Call<Handle>>;

[[nodiscard]] const Calls<Team>& team_calls();
[[nodiscard]] const Calls<ThreadTeam>& thread_team_calls();
[[nodiscard]] const Calls<ProcessTeam>& process_team_calls();
/// A persistent one that is not active.
[[nodiscard]] const Calls<Request>& request_calls();
[[nodiscard]] const Calls<Mailbox>& mailbox_calls();
[[nodiscard]] const Calls<MailboxGroup>& mailbox_group_calls();
[[nodiscard]] const Calls<BroadcastPublisher>& publisher_calls();
[[nodiscard]] const Calls<BroadcastReader>& reader_calls();
[[nodiscard]] const Calls<BroadcastRing>& ring_calls();
[[nodiscard]] const Calls<Multicast>& multicast_calls();
[[nodiscard]] const Calls<MulticastToken>& token_calls();
[[nodiscard]] const Calls<MulticastGroup>& multicast_group_calls();
[[nodiscard]] const Calls<Scheduler>& scheduler_calls();
[[nodiscard]] const Calls<RemoteRank>& remote_rank_calls();
[[nodiscard]] const Calls<RemoteGroup>& remote_group_calls();
[[nodiscard]] const Calls<NamedCall>& named_call_calls();
[[nodiscard]] const Calls<NamedReply>& named_reply_calls();

} // namespace corymb::handles
