// SPDX-License-Identifier: Apache-2.0
#include "group/group.hpp"

#include "base/commit.hpp"
#include "base/limit_text.hpp"
#include "base/membarrier.hpp"
#include "base/process_state.hpp"
#include "group/name_meeting.hpp"

#include <corymb/error.hpp>

#include <cerrno>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>

namespace corymb::group {

namespace {

/// No kind has objects with this key.
constexpr ArenaKey head_key{0, 0, -1, -1, 0x7075'6f72'675f'6c6c}; // "ll_group"

/// Prepares this process's fences for memory that it has made. Returns whether all processes need
/// full light fences.
bool make_fences(Reach reach) {
    if (reach == Reach::process || membarrier::join_machine()) {
        return false;
    }
    membarrier::use_full_light_fences();
    return true;
}

void join_fences(bool full) {
    if (!membarrier::join_machine() && !full) {
        throw Error(Errc::unsupported,
                    "this process may not call membarrier, but the one that made the memory may; "
                    "allow it here, or make the memory in a process that may not either");
    }
    if (full) {
        membarrier::use_full_light_fences();
    }
}

Head* find_any(const Arena& arena) noexcept {
    std::byte* const found = arena.root() == 0 ? nullptr : arena.find(head_key);
    return found == nullptr ? nullptr : std::launder(reinterpret_cast<Head*>(found));
}

Head& open_head(const Arena& arena, Kind kind) {
    const std::lock_guard lock(arena.memory());
    Head& head = require_head(arena, kind);
    join_fences(head.full_fences != 0);
    return head;
}

} // namespace

Head& make_head(Arena& arena, Kind kind, std::size_t places, bool full_fences) {
    return *arena.find_or_make_sized<Head>(
        head_key, sizeof(Head) + places * sizeof(Place), [&](void* at) {
            auto* const made = new (at) Head{kind, full_fences ? 1U : 0U, places};
            for (std::size_t number = 0; number < places; ++number) {
                new (&made->place(number)) Place{};
            }
        });
}

Head& require_head(const Arena& arena, Kind kind) {
    Head* const head = find_any(arena);
    if (head == nullptr || head->kind != kind) {
        const Words words = words_of(kind);
        const std::string found =
            head == nullptr ? std::string() : std::string(" but of a ") + words_of(head->kind).name;
        throw Error(Errc::invalid_argument, std::string("the descriptor is not that of a ") +
                                                words.name + found + "; take one of " +
                                                words.maker);
    }
    return *head;
}

Words words_of(Kind kind) noexcept {
    switch (kind) {
    case Kind::mailboxes: return {"group of mailboxes", "MailboxGroup::make_descriptor"};
    case Kind::broadcast: return {"broadcast ring", "BroadcastRing::make_descriptor"};
    case Kind::multicast: return {"multicast group", "MulticastGroup::make_descriptor"};
    case Kind::team: break;
    }
    return {"team", "make_team_descriptor"};
}

Head* find(const Arena& arena, Kind kind) noexcept {
    Head* const head = find_any(arena);
    return head != nullptr && head->kind == kind ? head : nullptr;
}

Group::Group(Kind kind, std::size_t places, std::shared_ptr<SharedMemory> to)
    : file_(std::move(to)), memory_(file_ ? static_cast<Memory&>(*file_) : heap_), arena_(memory_),
      head_(make_head(arena_, kind, places, make_fences(memory_.reach()))) {}

Group::Group(Kind kind, std::shared_ptr<SharedMemory> with)
    : file_(std::move(with)), memory_(*file_), arena_(memory_, file_->root()),
      head_(open_head(arena_, kind)) {}

void Group::publish() noexcept {
    if (file_) {
        file_->set_root(arena_.root());
    }
}

void Group::keep(std::unique_ptr<NameMeeting> name) {
    name_ = std::move(name);
}

int Group::make_descriptor() const {
    const std::string name = words_of(head_.kind).name;
    if (!file_) {
        throw Error(Errc::invalid_argument, "this " + name +
                                                " is for the threads of one process; make it with "
                                                "the option between_processes");
    }
    const int descriptor = ::dup(file_->descriptor()); // Without close-on-exec.
    if (descriptor < 0) {
        throw Error(Errc::io, "no descriptor for the memory of this " + name +
                                  " can be had: " + reason_with_limit(errno));
    }
    return descriptor;
}

void Group::check_not_forked() const {
    corymb::check_not_forked(fork_count_);
}

void Group::take(std::size_t number) {
    Place& place = head_.place(number);
    const auto pid = static_cast<std::uint32_t>(::getpid());
    place.start = is_machine_wide() ? process_start(pid) : 0;
    commit(place.pid, pid);
}

void Group::give_back(std::size_t number) noexcept {
    commit(head_.place(number).pid, 0U);
}

void Group::bury_ended(std::size_t first, std::size_t end,
                       const std::function<bool(std::size_t number)>& bury) {
    if (!is_machine_wide()) {
        return;
    }
    for (std::size_t number = first; number < end; ++number) {
        if (const Place& place = head_.place(number); place.pid != 0) {
            watch_.add(place.pid, place.start);
        }
    }
    watch_.look();
    for (std::size_t number = first; number < end; ++number) {
        Place& place = head_.place(number);
        if (place.pid == 0 || !watch_.has_ended(place.pid, place.start)) {
            continue;
        }
        const std::uint32_t before = std::exchange(place.lost_pid, place.pid);
        if (!bury(number)) {
            place.lost_pid = before;
        }
        commit(place.pid, 0U);
    }
    if (watch_.count() > places()) { // Else each process that ever came would keep a descriptor.
        prune();
    }
}

void Group::prune() {
    std::set<PeerWatch::Process> holders;
    for (std::size_t number = 0; number < places(); ++number) {
        const Place& place = head_.place(number);
        holders.emplace(place.pid, place.start);
    }
    watch_.keep(holders);
}

std::uint32_t Group::process_of(std::size_t number) const noexcept {
    const Place& of = place(number);
    return of.pid != 0 ? of.pid : of.lost_pid;
}

} // namespace corymb::group
