// SPDX-License-Identifier: Apache-2.0
// The objects that the members of a group of mailboxes share, in the heap or in a file of several
// processes.
#pragma once

#include "base/fork_count.hpp"
#include "base/peer_watch.hpp"
#include "base/shared_memory.hpp"
#include "channel/waiter_cpus.hpp"
#include "message/post.hpp"

#include <corymb/mailbox.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corymb::detail {

/// Beside the channels; one entry a member follows it. All but `entry` is fixed.
struct MailboxHead {
    struct Entry {
        std::uint32_t pid; ///< 0: has not joined. Read and written with the lock.
        /// The process has ended with the mailbox open. Read and written with the lock.
        std::uint32_t has_ended;
    };
    int size = 0;
    bool full_fences = false;
    MailboxOptions options; ///< Invariant: the protocol is not automatic.

    [[nodiscard]] Entry& entry(Rank rank) noexcept {
        return reinterpret_cast<Entry*>(this + 1)[rank];
    }
};

/// The mailboxes in an arena; null when the arena holds something else. Call it with the lock, or
/// on memory that is only looked at.
[[nodiscard]] MailboxHead* find_mailboxes(const Arena& arena) noexcept;

struct MailboxShared {
    /// `to` is null for threads of this process.
    MailboxShared(int members, const MailboxOptions& with, std::shared_ptr<SharedMemory> to);
    /// Opens the memory of another process. Throws as MailboxGroup::attach.
    explicit MailboxShared(std::shared_ptr<SharedMemory> with);

    [[nodiscard]] bool is_machine_wide() const noexcept { return file != nullptr; }
    /// Looks after the processes of all members. Returns the members that have ever ended without
    /// closing their mailbox.
    std::vector<Rank> look_after();
    /// The name of a member that has ended, with its process.
    [[nodiscard]] std::string name_of(Rank rank);

    const std::shared_ptr<SharedMemory> file;
    HeapMemory heap;
    Memory& memory;
    Arena arena;
    MailboxHead& head;
    const int size;
    const MailboxOptions options;
    channel::WaiterCpus& cpus;
    message::Post post;
    const std::uint32_t fork_count_then = fork_count();
    std::string reason; ///< Reason for the protocol, for people.

private:
    PeerWatch watch_;
};

} // namespace corymb::detail
