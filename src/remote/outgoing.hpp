// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/call_header.hpp"

#include <corymb/detail/remote_call.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace corymb::detail {

/// Messages of a rank that have found no room, or are longer than one message of the transport, by
/// receiver.
class Outgoing {
public:
    struct Message {
        std::vector<std::byte> bytes; ///< With the header.
        PostAwait* waits = nullptr;   ///< Whom to tell that it is on its way.
        std::size_t sent = 0;
    };

    [[nodiscard]] bool is_empty() const noexcept { return queues_.empty(); }
    [[nodiscard]] bool has(Rank to) const noexcept {
        return !queues_.empty() && queues_.contains(to);
    }
    void push(Rank to, Message message) { queues_[to].push_back(std::move(message)); }
    /// Sends what there is room for. `lose(rank, exception)` for a rank that takes nothing more,
    /// which drops what is for it.
    ///
    /// A Transport, or what stands for one where this is explored: it has message_bytes(rank) and
    /// send_in_place(rank, bytes, fill).
    template <class Link, class Lose>
    void flush(Link& transport, const Lose& lose) {
        for (auto queue = queues_.begin(); queue != queues_.end();) {
            std::exception_ptr why;
            try {
                while (!queue->second.empty() &&
                       send_first(transport, queue->first, queue->second)) {
                }
            } catch (...) {
                why = std::current_exception();
            }
            if (why != nullptr) {
                const Rank to = queue->first;
                ++queue;
                lose(to, why);
            } else {
                queue = queue->second.empty() ? queues_.erase(queue) : std::next(queue);
            }
        }
    }
    /// Calls `see(rank, messages)` for those that have messages waiting.
    void for_each_receiver(const auto& see) const {
        for (const auto& [to, queue] : queues_) {
            see(to, queue.size());
        }
    }
    /// Drops what is for this rank.
    void drop(Rank to, const std::exception_ptr& why) noexcept;
    /// Nobody waits for that message any more. True: nothing of it was on its way, it is dropped.
    bool stop(const PostAwait& waits) noexcept;

private:
    using Queue = std::deque<Message>;
    template <class Link>
    static bool send_first(Link& transport, Rank to, Queue& queue);
    static void drop(Queue& queue, const std::exception_ptr& why) noexcept;
    std::map<Rank, Queue> queues_;
};

/// One message of the transport; whether there was room. A long message is cut: its first part says
/// how long it is, and the others are what is left of it.
template <class Link>
bool Outgoing::send_first(Link& transport, Rank to, Queue& queue) {
    Message& first = queue.front();
    const std::size_t most = transport.message_bytes(to);
    const std::span<const std::byte> all(first.bytes);
    std::size_t taken = 0;
    const auto fill = [&](std::span<std::byte> room) {
        std::size_t used = 0;
        if (first.sent == 0 && all.size() > most) {
            CallHeader header;
            std::memcpy(&header, all.data(), sizeof header);
            header.is_long = 1;
            const std::uint64_t length = all.size();
            std::memcpy(room.data(), &header, sizeof header);
            std::memcpy(room.data() + sizeof header, &length, sizeof length);
            used = sizeof header + sizeof length;
            taken = sizeof header;
        }
        const std::size_t count = std::min(room.size() - used, all.size() - first.sent - taken);
        std::memcpy(room.data() + used, all.data() + first.sent + taken, count);
        taken += count;
        return used + count;
    };
    const std::size_t longest = std::min(most, all.size() - first.sent + CallHeader::long_bytes);
    if (!transport.send_in_place(to, longest, fill)) {
        return false;
    }
    first.sent += taken;
    if (first.sent == all.size()) {
        PostAwait* const waits = first.waits;
        queue.pop_front();
        if (waits != nullptr) {
            waits->settle(nullptr);
        }
    }
    return true;
}

} // namespace corymb::detail
