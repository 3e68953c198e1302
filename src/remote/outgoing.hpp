// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/transport.hpp"

#include <corymb/detail/remote_call.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <map>
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
    template <class Lose>
    void flush(Transport& transport, const Lose& lose) {
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
    /// Those that have messages waiting.
    void for_each_receiver(const auto& see) const {
        for (const auto& [to, queue] : queues_) {
            see(to);
        }
    }
    /// Drops what is for this rank.
    void drop(Rank to, const std::exception_ptr& why) noexcept;
    /// Nobody waits for that message any more. True: nothing of it was on its way, it is dropped.
    bool stop(const PostAwait& waits) noexcept;

private:
    using Queue = std::deque<Message>;
    static bool send_first(Transport& transport, Rank to, Queue& queue);
    static void drop(Queue& queue, const std::exception_ptr& why) noexcept;
    std::map<Rank, Queue> queues_;
};

} // namespace corymb::detail
