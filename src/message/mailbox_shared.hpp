// SPDX-License-Identifier: Apache-2.0
// The objects that the members of a group of mailboxes share, in the heap or in a file of several
// processes.
#pragma once

#include "base/shared_memory.hpp"
#include "channel/waiter_cpus.hpp"
#include "group/group.hpp"
#include "message/post.hpp"

#include <corymb/mailbox.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corymb::detail {

/// The options of the mailboxes in an arena; null when the arena holds something else. The protocol
/// is not automatic. Call it with the lock, or on memory that is only looked at.
[[nodiscard]] const MailboxOptions* find_mailboxes(const Arena& arena) noexcept;

struct MailboxShared : group::Group {
    /// `to` is null for threads of this process.
    MailboxShared(int members, const MailboxOptions& with, std::shared_ptr<SharedMemory> to);
    /// Opens the memory of another process. Throws as MailboxGroup::open.
    explicit MailboxShared(std::shared_ptr<SharedMemory> with);

    /// Looks after the processes of all members. Returns the members that have ever ended without
    /// closing their mailbox.
    std::vector<Rank> look_after();

    const int size;
    const MailboxOptions options;
    channel::WaiterCpus& cpus;
    message::Post post;
    std::string reason; ///< Reason for the protocol, for people.
};

} // namespace corymb::detail
