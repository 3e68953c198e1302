// SPDX-License-Identifier: Apache-2.0
#include "remote/outgoing.hpp"

#include "remote/call_header.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace corymb::detail {

/// One message of the transport; whether there was room. A long message is cut: its first part says
/// how long it is, and the others are what is left of it.
bool Outgoing::send_first(Transport& transport, Rank to, Queue& queue) {
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
