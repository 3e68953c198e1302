// SPDX-License-Identifier: Apache-2.0
// The channel that is measured: the ring of lines that teams use (channel/channels.hpp), in both
// directions, so that credits ride on the opposite traffic as they do there.
#pragma once

#include "channel/bounded_waiter.hpp"
#include "channel/channels.hpp"
#include "channel/env.hpp"
#include "machine/discover/ticks.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb::discover {

using LineRing = channel::LineRing<channel::StandardEnv>;
using LineSender = channel::SlotSender<channel::StandardEnv, LineRing>;
using LineReceiver = channel::SlotReceiver<channel::StandardEnv, LineRing>;

/// A ring there and one back.
struct Duplex {
    LineRing there;
    LineRing back;
};

using channel::BoundedWaiter;

/// One thread's end of a Duplex.
class LineEnd {
public:
    LineEnd() noexcept = default;
    LineEnd(LineRing& out, LineRing& in) noexcept : out_(out), in_(in) {}

    bool send(BoundedWaiter& waiter, std::uint64_t value) {
        return out_.send(waiter, &value, sizeof value, in_.consumed());
    }
    bool receive(BoundedWaiter& waiter, std::uint64_t& value) {
        std::uint64_t word = 0;
        const std::byte* const payload = in_.receive(waiter, sizeof value, word);
        if (payload == nullptr) {
            return false;
        }
        std::memcpy(&value, payload, sizeof value);
        out_.accept_credit(word);
        in_.release();
        return true;
    }
    bool receive(BoundedWaiter& waiter) {
        std::uint64_t ignored = 0;
        return receive(waiter, ignored);
    }

private:
    LineSender out_;
    LineReceiver in_;
};

} // namespace corymb::discover
