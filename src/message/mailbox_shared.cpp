// SPDX-License-Identifier: Apache-2.0
#include "message/mailbox_shared.hpp"

#include "base/common_memory.hpp"

#include <corymb/error.hpp>

#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace corymb::detail {

using message::Box;

namespace {

/// Teams and broadcast rings keep their own things in such memory under other identities.
constexpr ArenaKey head_key{0, 0, -1, -1, 0x786f'626c'6961'6d68}; // "hmailbox"

MailboxHead& make_head(Arena& arena, int members, const MailboxOptions& with) {
    using Entry = MailboxHead::Entry;
    const auto entries = static_cast<std::size_t>(members);
    const bool full_fences = common::make_fences(arena.memory().reach());
    return *arena.find_or_make_sized<MailboxHead>(
        head_key, sizeof(MailboxHead) + entries * sizeof(Entry), [&](void* place) {
            auto* const made = new (place) MailboxHead{members, full_fences, with};
            for (Rank rank = 0; rank < members; ++rank) {
                new (&made->entry(rank)) Entry{};
            }
        });
}

MailboxHead& find_head(const Arena& arena) {
    const std::lock_guard lock(arena.memory());
    MailboxHead* const head = find_mailboxes(arena);
    if (head == nullptr) {
        throw Error(Errc::invalid_argument,
                    "the descriptor is not that of a group of mailboxes; take one of "
                    "MailboxGroup::make_descriptor");
    }
    common::join_fences(head->full_fences);
    return *head;
}

} // namespace

MailboxHead* find_mailboxes(const Arena& arena) noexcept {
    std::byte* const found = arena.root() == 0 ? nullptr : arena.find(head_key);
    return found == nullptr ? nullptr : std::launder(reinterpret_cast<MailboxHead*>(found));
}

MailboxShared::MailboxShared(int members, const MailboxOptions& with,
                             std::shared_ptr<SharedMemory> to)
    : file(std::move(to)), memory(file ? static_cast<Memory&>(*file) : heap), arena(memory),
      head(make_head(arena, members, with)), size(members), options(with),
      cpus(channel::WaiterCpus::of(arena)), post(arena, members, with) {
    if (file) {
        file->set_root(arena.root());
    }
}

MailboxShared::MailboxShared(std::shared_ptr<SharedMemory> with)
    : file(std::move(with)), memory(*file), arena(memory, file->root()), head(find_head(arena)),
      size(head.size), options(head.options), cpus(channel::WaiterCpus::of(arena)),
      post(arena, size, options) {}

std::vector<Rank> MailboxShared::look_after() {
    std::vector<Rank> ended;
    if (!is_machine_wide()) {
        return ended;
    }
    const std::lock_guard lock(memory);
    for (Rank rank = 0; rank < size; ++rank) {
        if (const auto& entry = head.entry(rank); entry.pid != 0 && entry.has_ended == 0) {
            watch_.add(entry.pid);
        }
    }
    watch_.look();
    std::vector<std::uint32_t> gone;
    for (Rank rank = 0; rank < size; ++rank) {
        auto& entry = head.entry(rank);
        const std::uint32_t pid = entry.pid;
        if (pid != 0 && entry.has_ended == 0 && watch_.has_ended(pid)) {
            Box* const box = post.find_box(rank);
            if (box != nullptr && box->state.load(std::memory_order_relaxed) == Box::open) {
                box->state.store(Box::ended, std::memory_order_relaxed);
                entry.has_ended = 1;
            } else {
                entry.pid = 0; // The member had closed its mailbox.
            }
            gone.push_back(pid);
        }
        if (entry.has_ended != 0) {
            ended.push_back(rank);
        }
    }
    for (const std::uint32_t pid : gone) {
        watch_.forget(pid);
    }
    return ended;
}

std::string MailboxShared::name_of(Rank rank) {
    const std::lock_guard lock(memory);
    return "rank " + std::to_string(rank) + " (pid " + std::to_string(head.entry(rank).pid) + ")";
}

} // namespace corymb::detail
