// SPDX-License-Identifier: Apache-2.0
// The last calls of a rank. Programs repeat a few calls, with the same or other buffers:
// checking and preparing each anew would take a good part of a small operation.
#pragma once

#include "team/known_call.hpp"

#include <array>
#include <cstddef>

namespace corymb::detail {

class RecentCalls {
public:
    RecentCalls() noexcept {
        for (Entry& entry : entries_) {
            entry.follower = &entry;
        }
    }
    RecentCalls(const RecentCalls&) = delete;
    RecentCalls& operator=(const RecentCalls&) = delete;

    /// The call for `wish`, valid until the next one is asked for. Throws as collective_call.
    PreparedCall& call_for(const Member& member, const Wish& wish) {
        Entry* next = last_->follower;
        if (!next->call.is_for(wish)) {
            next = last_->follower = &entry_for(member, wish);
        }
        last_ = next;
        next->call.set_buffers(wish.input, wish.output);
        return next->call.prepared();
    }

    /// The ranks of the team are others from now on.
    void forget() {
        for (Entry& entry : entries_) {
            entry.call.expect({});
        }
    }

private:
    struct Entry {
        KnownCall call;
        Entry* follower = nullptr; ///< The call that followed this one the last time.
    };

    /// Operation, root and count are what differs between the calls of a program.
    [[nodiscard]] static std::size_t index_of(const Wish& wish) noexcept {
        return (static_cast<std::size_t>(wish.op) * 3 + static_cast<std::size_t>(wish.root) +
                wish.count) %
               entry_count;
    }

    /// Apart: programs repeat the same calls in the same order.
    [[gnu::noinline]] Entry& entry_for(const Member& member, const Wish& wish) {
        Entry& entry = entries_[index_of(wish)];
        if (!entry.call.is_for(wish)) {
            entry.call.prepare(member, wish);
        }
        return entry;
    }

    static constexpr std::size_t entry_count = 8;
    std::array<Entry, entry_count> entries_;
    Entry* last_ = entries_.data(); ///< The entry of the last call.
};

} // namespace corymb::detail
