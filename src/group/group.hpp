// SPDX-License-Identifier: Apache-2.0
// The part of a group that does not depend on what its members do: memory in the heap or in a file
// of several processes, places that processes hold, and the notice of processes that have ended.
// The kinds of groups keep objects of their own beside it, in the same arena.
//
// A process may be killed between any two instructions, also with the lock held. Whoever takes the
// lock next finds each place either held by a process that has ended, or free.
#pragma once

#include "base/arena.hpp"
#include "base/fork_count.hpp"
#include "base/memory.hpp"
#include "base/peer_watch.hpp"
#include "base/shared_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

namespace corymb::group {

/// Time between looks of a waiting thread after processes that may have ended.
inline constexpr std::int64_t look_every_ns = 20'000'000;

enum class Kind : std::uint32_t { mailboxes = 1, broadcast, multicast, team };

/// Names of a kind for people.
struct Words {
    const char* name;  ///< What a group is called.
    const char* maker; ///< Function that gives its descriptor.
};
[[nodiscard]] Words words_of(Kind kind) noexcept;

class NameMeeting; // name_meeting.hpp

/// A place that one process may hold at a time. Read and written with the memory's lock.
struct Place {
    std::uint32_t pid;      ///< Process of the holder; 0: there is none.
    std::uint32_t lost_pid; ///< Process of the last holder that ended while it was one; 0: none.
    std::uint64_t start;    ///< When the holder's process began, see `process_start`.
};

/// In the arena, with the places behind it. All but the places is fixed.
struct Head {
    Kind kind;
    std::uint32_t full_fences; ///< The maker's process has no membarrier.
    std::uint64_t places;

    [[nodiscard]] Place& place(std::size_t number) noexcept {
        return reinterpret_cast<Place*>(this + 1)[number];
    }
};

/// Makes the head of a group in an arena. For teams, which have no Group: their ranks sign in to a
/// roster.
Head& make_head(Arena& arena, Kind kind, std::size_t places, bool full_fences);
/// The head in an arena that another process has made. Call it with the lock. Throws
/// Errc::invalid_argument, which says what the arena holds instead.
[[nodiscard]] Head& require_head(const Arena& arena, Kind kind);
/// The head in an arena; null when the arena holds something else. Call it with the lock, or on
/// memory that is only looked at.
[[nodiscard]] Head* find(const Arena& arena, Kind kind) noexcept;

class Group {
public:
    /// A new group; `to` is null for threads of this process. Its kind makes its objects in the
    /// arena, and calls `publish` then. Throws Error (io).
    Group(Kind kind, std::size_t places, std::shared_ptr<SharedMemory> to);
    /// The group in the memory of another process. Throws Error: invalid_argument (something else),
    /// unsupported (this process lacks a system call that the others have).
    Group(Kind kind, std::shared_ptr<SharedMemory> with);
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() = default;

    [[nodiscard]] bool is_machine_wide() const noexcept { return file_ != nullptr; }
    /// How long a thread waits before it looks after the other processes; for `wait_in_slices`.
    [[nodiscard]] std::int64_t slice_ns() const noexcept {
        return is_machine_wide() ? look_every_ns : std::numeric_limits<std::int64_t>::max();
    }
    [[nodiscard]] Memory& memory() const noexcept { return memory_; }
    [[nodiscard]] Arena& arena() noexcept { return arena_; }
    [[nodiscard]] std::size_t places() const noexcept { return head_.places; }
    /// All is made: other processes may open the group.
    void publish() noexcept;
    /// Holds the name of the group for as long as this object lives.
    void keep(std::unique_ptr<NameMeeting> name);
    /// A descriptor that child processes inherit and the caller closes. Throws
    /// Errc::invalid_argument for a group of threads; Errc::io.
    [[nodiscard]] int make_descriptor() const;
    /// Throws Errc::invalid_argument in a process that was forked since.
    void check_not_forked() const;

    // Call these with the lock.
    [[nodiscard]] const Place& place(std::size_t number) const noexcept {
        return head_.place(number);
    }
    /// This process holds a free place from now on.
    void take(std::size_t number);
    void give_back(std::size_t number) noexcept;
    /// Looks after the processes that hold places from `first` to before `end`. Calls
    /// `bury(number)` for each place whose process has ended, and frees the place. `bury` returns
    /// whether the holder had not left: only then it counts as lost.
    void bury_ended(std::size_t first, std::size_t end,
                    const std::function<bool(std::size_t number)>& bury);

    /// The holder of a place or, if there is none, the last one that was lost; 0: there was none.
    [[nodiscard]] std::uint32_t process_of(std::size_t number) const noexcept;

private:
    void prune();

    const std::shared_ptr<SharedMemory> file_;
    HeapMemory heap_;
    Memory& memory_;
    Arena arena_;
    Head& head_;
    PeerWatch watch_;
    std::shared_ptr<NameMeeting> name_; ///< Null: this process holds no name of the group.
    const std::uint32_t fork_count_ = fork_count();
};

} // namespace corymb::group
