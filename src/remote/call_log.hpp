// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::detail {

/// When the last calls of a rank have begun and ended.
class CallLog {
public:
    struct Entry {
        Rank to = -1;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0; ///< 0: it has not ended.
    };
    /// Throws std::bad_alloc.
    CallLog() : entries_(entries_most) {}

    /// Returns the number of the call in this log.
    [[nodiscard]] std::uint32_t begin(Rank to) noexcept {
        entries_[count_ % entries_most] = {to, now_ns(), 0};
        return count_++;
    }
    /// The first end counts: a call that nobody waits for has ended.
    void end(std::uint32_t number) noexcept {
        Entry& entry = entries_[number % entries_most];
        if (count_ - number <= entries_most && entry.end_ns == 0) { // Else another has its place.
            entry.end_ns = now_ns();
        }
    }
    /// From the oldest on.
    void for_each(const auto& see) const {
        for (std::uint32_t i = 0; i < entries_most; ++i) {
            if (const Entry& entry = entries_[(count_ + i) % entries_most]; entry.to >= 0) {
                see(entry);
            }
        }
    }

private:
    /// The last calls, which are kept in 96 KiB: more than a timeline can show. A power of two, as
    /// `count_` goes around.
    static constexpr std::uint32_t entries_most = 4096;
    std::vector<Entry> entries_;
    std::uint32_t count_ = 0;
};

} // namespace corymb::detail
