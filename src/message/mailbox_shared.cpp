// SPDX-License-Identifier: Apache-2.0
#include "message/mailbox_shared.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace corymb::detail {

using message::Box;

namespace {

constexpr ArenaKey options_key{0, 0, -1, -1, 0x786f'626c'6961'6d68}; // "hmailbox"

const MailboxOptions& options_in(group::Group& group) {
    const std::lock_guard lock(group.memory());
    return *find_mailboxes(group.arena());
}

} // namespace

const MailboxOptions* find_mailboxes(const Arena& arena) noexcept {
    return group::find(arena, group::Kind::mailboxes) == nullptr
               ? nullptr
               : std::launder(reinterpret_cast<const MailboxOptions*>(arena.find(options_key)));
}

MailboxShared::MailboxShared(int members, const MailboxOptions& with,
                             std::shared_ptr<SharedMemory> to)
    : Group(group::Kind::mailboxes, static_cast<std::size_t>(members), std::move(to)),
      size(members), options(arena().find_or_make<MailboxOptions>(options_key, with)),
      cpus(channel::WaiterCpus::of(arena())), post(arena(), members, with) {
    publish();
}

MailboxShared::MailboxShared(std::shared_ptr<SharedMemory> with)
    : Group(group::Kind::mailboxes, std::move(with)), size(static_cast<int>(places())),
      options(options_in(*this)), cpus(channel::WaiterCpus::of(arena())),
      post(arena(), size, options) {}

std::vector<MailboxShared::Ended> MailboxShared::look_after() {
    std::vector<Ended> ended;
    if (!is_machine_wide()) {
        return ended;
    }
    const std::lock_guard lock(memory());
    bury_ended(0, places(), [this](std::size_t number) {
        Box* const box = post.find_box(static_cast<Rank>(number));
        const bool was_open =
            box != nullptr && box->state.load(std::memory_order_relaxed) == Box::open;
        if (was_open) {
            box->state.store(Box::ended, std::memory_order_relaxed);
        }
        return was_open;
    });
    for (Rank rank = 0; rank < size; ++rank) {
        const group::Place& held = place(static_cast<std::size_t>(rank));
        if (held.lost_pid != 0) {
            ended.push_back({rank, held.lost_pid, held.pid == 0});
        }
    }
    return ended;
}

} // namespace corymb::detail
