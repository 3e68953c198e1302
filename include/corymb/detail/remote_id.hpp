// SPDX-License-Identifier: Apache-2.0
// What names objects of a group, and the parts of objects.
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/rank.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace corymb::detail {

/// Names an object of one group, once: no other object has it later. Or a part of one.
struct RemoteId {
    Rank rank = -1; ///< Where it was made; -1: none.
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint32_t group = 0; ///< A mark of the group.
    std::uint64_t offset =
        0; ///< Where the part begins, in bytes; 0: the object, or its first part.
    /// In the generation: the object has a name, `slot` is the hash of the name, and the rest of
    /// the generation counts the objects that the rank has given this name.
    static constexpr std::uint32_t named = 0x8000'0000;
    [[nodiscard]] bool is_named() const noexcept { return (generation & named) != 0; }
    friend auto operator<=>(const RemoteId&, const RemoteId&) = default;

    [[nodiscard]] std::size_t hash() const noexcept {
        const std::uint64_t words[] = {static_cast<std::uint64_t>(rank) << 32U | slot,
                                       static_cast<std::uint64_t>(group) << 32U | generation,
                                       offset};
        std::uint64_t sum = 0;
        for (const std::uint64_t word : words) {
            sum = (sum ^ word) * 0x9e37'79b9'7f4a'7c15U; // The golden ratio: Knuth, 6.4.
            sum ^= sum >> 32U;
        }
        return static_cast<std::size_t>(sum);
    }
};

/// The object of a call. Travels without the offset if that is 0.
struct CalledObject {
    RemoteId id;
};

} // namespace corymb::detail

template <>
struct corymb::RemoteCodec<corymb::detail::CalledObject> {
    using Called = detail::CalledObject;
    static std::size_t size(const Called& of) noexcept {
        return 4 * sizeof(std::uint32_t) + (of.id.offset == 0 ? 0 : sizeof of.id.offset);
    }
    static void write(RemoteWriter& to, const Called& of) {
        const std::uint32_t marked =
            static_cast<std::uint32_t>(of.id.rank) << 1U | (of.id.offset == 0 ? 0U : 1U);
        detail::write_all(to, marked, of.id.slot, of.id.generation, of.id.group);
        if (of.id.offset != 0) {
            RemoteCodec<std::uint64_t>::write(to, of.id.offset);
        }
    }
    static Called read(RemoteReader& from) {
        Called of;
        const auto marked = RemoteCodec<std::uint32_t>::read(from);
        of.id.rank = static_cast<Rank>(marked >> 1U);
        of.id.slot = RemoteCodec<std::uint32_t>::read(from);
        of.id.generation = RemoteCodec<std::uint32_t>::read(from);
        of.id.group = RemoteCodec<std::uint32_t>::read(from);
        of.id.offset = (marked & 1U) == 0 ? 0 : RemoteCodec<std::uint64_t>::read(from);
        return of;
    }
};
