// SPDX-License-Identifier: Apache-2.0
// The data of a group beside its core (core.hpp), in the heap or in a file of several processes:
// its options, the holders of its places, and records of its calls. Offsets only.
#pragma once

#include "base/arena.hpp"
#include "channel/env.hpp"
#include "multicast/shape.hpp"

#include <corymb/multicast.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::multicast {

/// A rank's. Read and written with the memory's lock held.
struct Place {
    std::uint32_t pid = 0;      ///< Process of the holder.
    std::uint32_t lost_pid = 0; ///< Process of the last holder that ended while it was one.
    std::uint64_t start = 0;    ///< When the holder's process began, see `process_start`.
};

/// The data of a call beside its slot in the core.
struct CallRecord {
    template <class T>
    using Atomic = channel::StandardEnv::Atomic<T>;
    enum Trouble : std::uint32_t { none, being_written, written };
    static constexpr std::int32_t foreign = -1;

    // Read by observers.
    Atomic<Rank> initiator{-1};
    Atomic<std::int64_t> begin_ns{0};
    /// The first exception out of the call. The member that brings it from `none` to
    /// `being_written` writes the rest; all of it comes before that member's acknowledgement.
    Atomic<std::uint32_t> trouble{none};
    std::int32_t code = foreign; ///< An Errc, or `foreign`.
    Rank by = -1;
    char text[228] = {};
};

/// Fixed but for the places and calls.
class Board {
public:
    struct Settings {
        std::int64_t deadline_ns = 0;
        WaitPolicy wait_policy = WaitPolicy::ladder;
        bool full_fences = false;
        std::string reason; ///< Reason for the topology; at most as long as there is room.
    };

    /// A new one in an arena.
    static Board make(Arena& arena, const Shape& shape, const Preorder& order,
                      const Settings& settings);
    /// The board in an arena. Call it with the lock held, or on memory that no process changes.
    /// Throws Errc::invalid_argument.
    static Board find(const Arena& arena);
    /// Whether `find` would find one.
    [[nodiscard]] static bool is_in(const Arena& arena);

    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] Settings settings() const;
    [[nodiscard]] Shape shape() const;
    [[nodiscard]] Preorder order() const;
    [[nodiscard]] Place& place(Rank rank) const noexcept;
    [[nodiscard]] CallRecord& call(std::uint32_t slot) const noexcept;
    /// Memory of the core, which is made there by the maker of the board.
    [[nodiscard]] std::byte* core() const noexcept { return core_; }

private:
    struct Head;
    Board(Head* head, std::byte* core) noexcept : head_(head), core_(core) {}
    [[nodiscard]] static std::size_t bytes(const Shape& shape) noexcept;
    [[nodiscard]] std::byte* behind_head() const noexcept;
    [[nodiscard]] std::uint32_t* numbers() const noexcept;

    Head* head_;
    std::byte* core_;
};

} // namespace corymb::multicast
