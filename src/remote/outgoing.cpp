// SPDX-License-Identifier: Apache-2.0
#include "remote/outgoing.hpp"

#include <utility>

namespace corymb::detail {

void Outgoing::drop(Queue& queue, const std::exception_ptr& why) noexcept {
    for (Message& message : std::exchange(queue, {})) {
        if (message.waits != nullptr) {
            message.waits->settle(why);
        }
    }
}

void Outgoing::drop(Rank to, const std::exception_ptr& why) noexcept {
    if (const auto found = queues_.find(to); found != queues_.end()) {
        drop(found->second, why);
        queues_.erase(found);
    }
}

bool Outgoing::stop(const PostAwait& waits) noexcept {
    for (auto& [to, queue] : queues_) {
        for (auto message = queue.begin(); message != queue.end(); ++message) {
            if (message->waits != &waits) {
                continue;
            }
            message->waits = nullptr;
            const bool is_here = message->sent == 0;
            if (is_here) {
                queue.erase(message);
            }
            return is_here;
        }
    }
    return false;
}

} // namespace corymb::detail
