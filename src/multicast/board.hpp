// SPDX-License-Identifier: Apache-2.0
// The data of a group beside its core (core.hpp), in the heap or in a file of several processes:
// its options, and records of its calls. Offsets only.
#pragma once

#include "base/arena.hpp"
#include "channel/env.hpp"
#include "multicast/shape.hpp"

#include <corymb/multicast.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::multicast {

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

/// Fixed but for the calls.
class Board {
public:
    struct Settings {
        std::int64_t deadline_ns = 0;
        WaitPolicy wait_policy = WaitPolicy::ladder;
        std::string reason; ///< Reason for the topology; at most as long as there is room.
    };

    /// A new one in an arena.
    static Board make(Arena& arena, const Shape& shape, const Preorder& order,
                      const Settings& settings);
    /// The board in an arena; nothing when the arena holds something else. Call it with the lock
    /// held, or on memory that is only looked at.
    [[nodiscard]] static std::optional<Board> find(const Arena& arena);

    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] Settings settings() const;
    [[nodiscard]] Shape shape() const;
    [[nodiscard]] Preorder order() const;
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
