// SPDX-License-Identifier: Apache-2.0
// The objects that the members of a group of mailboxes share, in the heap or in a file of several
// processes.
#pragma once

#include "base/shared_memory.hpp"
#include "channel/waiter_cpus.hpp"
#include "group/group.hpp"
#include "message/post.hpp"

#include <corymb/mailbox.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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

    /// A member whose process has ended without closing its mailbox.
    struct Ended {
        Rank rank;
        std::uint32_t pid;
        bool is_away; ///< Nobody has taken its place since.

        friend bool operator<(const Ended& a, const Ended& b) noexcept {
            return std::pair(a.rank, a.pid) < std::pair(b.rank, b.pid);
        }
    };
    /// Looks after the processes of all members. Returns the last one of each rank that has ended
    /// without closing its mailbox, by rank.
    std::vector<Ended> look_after();

    const int size;
    const MailboxOptions options;
    channel::WaiterCpus& cpus;
    message::Post post;
    std::string reason; ///< Reason for the protocol, for people.
};

} // namespace corymb::detail
