// SPDX-License-Identifier: Apache-2.0
#include "team/line_probe.hpp"

#include "base/clock.hpp"
#include "base/copy_bytes.hpp"
#include "channel/bounded_waiter.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

namespace corymb::team {

namespace {

using Ring = LineProbe::Ring;
constexpr std::size_t probe_bytes = LineProbe::message_bytes;

} // namespace

double probe_lines(LineProbe& probe, std::size_t side, std::int64_t limit_ns) {
    constexpr int messages = 8; // Handover looks for a way past the caches behind so many.
    constexpr int warm_after = 3;
    constexpr double copies = 4; // In a round trip, one after the other.
    channel::SlotSender<channel::StandardEnv, Ring> sender(probe.ring[side]);
    channel::SlotReceiver<channel::StandardEnv, Ring> receiver(probe.ring[1 - side]);
    const std::vector<std::byte> own(probe_bytes, std::byte{1});
    std::vector<std::byte> other(probe_bytes);
    std::atomic<bool> stop{false};
    channel::BoundedWaiter waiter(stop, limit_ns);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int message = 0; message < messages; ++message) {
        const std::int64_t begin = now_ns();
        std::uint64_t word = 0;
        if (!sender.send(waiter, own.data(), probe_bytes, receiver.consumed())) {
            return 0;
        }
        const std::byte* const payload = receiver.receive(waiter, probe_bytes, word);
        if (payload == nullptr) {
            return 0;
        }
        sender.accept_credit(word);
        copy_bytes(other.data(), payload, probe_bytes);
        receiver.release();
        if (message >= warm_after) {
            least = std::min(least, now_ns() - begin);
        }
    }
    return static_cast<double>(least) / (copies * static_cast<double>(probe_bytes));
}

} // namespace corymb::team
