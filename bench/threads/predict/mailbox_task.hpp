// SPDX-License-Identifier: Apache-2.0
// A round trip of a message between two mailboxes, whose ends look for it all the time.
#pragma once

#include "../case.hpp"
#include "../worker/tasks.hpp"
#include "../worker/time.hpp"

#include <corymb/mailbox.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

namespace corymb::bench {

class MailboxTask {
public:
    class Group {
    public:
        Group(const Case& /*what*/, MailboxProtocol protocol, std::size_t bytes)
            : bytes_(bytes), group_(2, {.protocol = protocol, .message_bytes = bytes}) {}
        MailboxTask enter(int rank) { return {bytes_, group_.join(rank)}; }

    private:
        std::size_t bytes_;
        MailboxGroup group_;
    };

    /// Whether the message that came back, or came, is right.
    bool step() {
        const double value = value_of(call_++);
        if (box_.rank() == 0) {
            send(value);
            return take(value + 1);
        }
        const bool is_right = take(value);
        send(value + 1);
        return is_right;
    }
    bool verify() { return step(); }

private:
    MailboxTask(std::size_t bytes, Mailbox box)
        : box_(std::move(box)), message_(bytes / sizeof(double)) {}

    void send(double value) {
        message_.fill(value);
        if (!box_.send(1 - box_.rank(), std::as_bytes(message_.span()))) {
            throw std::runtime_error("a mailbox is full in the middle of round trips");
        }
    }
    bool take(double value) {
        constexpr std::int64_t limit_ns = 20'000'000'000;
        constexpr int looks_per_clock = 1 << 16;
        bool is_right = false;
        const auto look = [&](Rank, std::span<const std::byte> bytes) {
            std::memcpy(message_.span().data(), bytes.data(), bytes.size());
            is_right = bytes.size() == message_.span().size_bytes() && message_.is_all(value);
        };
        const std::int64_t begin = wall_ns();
        for (int looks = 1; box_.probe(look, 1) == 0; ++looks) {
            if (looks % looks_per_clock == 0 && wall_ns() - begin > limit_ns) {
                throw std::runtime_error("no message has come for 20 s");
            }
        }
        return is_right;
    }

    Mailbox box_;
    Payload message_;
    std::uint64_t call_ = 0;
};

} // namespace corymb::bench
