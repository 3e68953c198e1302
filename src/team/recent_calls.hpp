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

    /// The call for `operation`, valid until the next one is asked for. Throws as collective_call.
    PreparedCall& call_for(const Member& member, const CollectiveOperation& operation) {
        Entry* next = last_->follower;
        if (!next->call.is_for(operation)) {
            next = last_->follower = &entry_for(member, operation);
        }
        last_ = next;
        next->call.set_buffers(operation.input, operation.output);
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
    [[nodiscard]] static std::size_t index_of(const CollectiveOperation& operation) noexcept {
        return (static_cast<std::size_t>(operation.op) * 3 +
                static_cast<std::size_t>(operation.root) + operation.count) %
               entry_count;
    }

    /// Apart: programs repeat the same calls in the same order.
    [[gnu::noinline]] Entry& entry_for(const Member& member, const CollectiveOperation& operation) {
        Entry& entry = entries_[index_of(operation)];
        if (!entry.call.is_for(operation)) {
            entry.call.prepare(member, operation);
        }
        return entry;
    }

    static constexpr std::size_t entry_count = 8;
    std::array<Entry, entry_count> entries_;
    Entry* last_ = entries_.data(); ///< The entry of the last call.
};

} // namespace corymb::detail
