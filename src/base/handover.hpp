// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/copy_bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace corymb {

/// Copies as `copy_bytes`, but writes whole lines of the target to memory, where the processor can,
/// without fetching them before. A release store that follows comes after all of the copy.
void copy_past_caches(void* to, const void* from, std::size_t count) noexcept;

/// Decides how one thread copies into memory that another core has read before and will read again:
/// as ever, or past the caches. It decides by the time that copies take. A core that writes a line
/// that another has read must ask for it. Between cores that share a cache that is soon done;
/// between others it takes several times as long as writing the lines to memory, where the reader
/// then finds them. The decision is repeated again and again, because virtual processors move. Not
/// thread-safe.
class Handover {
public:
    /// Shorter copies are made as ever.
    static constexpr std::size_t least_bytes = 2048;

    /// A release store that follows comes after all of it.
    void copy(void* to, const void* from, std::size_t count) noexcept {
        if (count < least_bytes) {
            copy_bytes(to, from, count);
        } else {
            copy_long(to, from, count);
        }
    }

private:
    /// Between two that are timed; of the others a look takes a small part.
    static constexpr std::uint32_t looks_apart = 8;
    static constexpr std::uint32_t looks_apart_past_caches = 64;

    void copy_long(void* to, const void* from, std::size_t count) noexcept;
    void look(void* to, const void* from, std::size_t count) noexcept;

    std::uint32_t until_look_ = looks_apart; ///< The first copies touch fresh memory.
    bool is_past_caches_ = false;
};

} // namespace corymb
