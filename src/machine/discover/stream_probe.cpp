// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/stream_probe.hpp"

#include "base/copy_bytes.hpp"
#include "channel/channels.hpp"
#include "channel/env.hpp"
#include "machine/discover/line.hpp"
#include "machine/discover/pages.hpp"
#include "machine/discover/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

constexpr std::size_t cell_bytes = channel::cell_payload;
/// The channel of cells of a team of two.
constexpr std::size_t slots = channel::cell_ring_slots(2);
using CellRing = channel::CellRing<channel::StandardEnv>;
using CellSender = channel::SlotSender<channel::StandardEnv, CellRing>;
using CellReceiver = channel::SlotReceiver<channel::StandardEnv, CellRing>;

/// Of so many messages the first quarter only warms up.
int messages_of(std::int64_t bytes) {
    constexpr std::int64_t together = 32 << 20;
    return static_cast<int>(std::clamp<std::int64_t>(together / bytes, 4, 64));
}

/// The channel and both buffers. Each is touched first by the thread that uses it, so that it lies
/// near its CPU; the sender makes the channel, as it fills it.
class Stream {
public:
    Stream(std::size_t bytes, int messages) : bytes_(bytes), messages_(messages) {}

    void prepare(int thread) {
        if (thread == 0) {
            channel_ = touched_pages(CellRing::bytes(slots));
            ring_ = channel_ ? new (channel_.get()) CellRing(slots) : nullptr;
        }
        Pages& mine = thread == 0 ? input_ : output_;
        mine = touched_pages(bytes_);
    }
    [[nodiscard]] bool is_there() const { return channel_ && input_ && output_; }

    void send(BoundedWaiter& waiter) {
        CellSender end(*ring_);
        for (int message = 0; message < messages_; ++message) {
            for (std::size_t done = 0; done < bytes_; done += cell_bytes) {
                const std::size_t part = std::min(cell_bytes, bytes_ - done);
                if (!end.send(waiter, input_[0].bytes.data() + done, part, 0)) {
                    return;
                }
            }
        }
    }

    /// Ticks of each message; fewer than messages when a wait was given up.
    std::vector<Ticks> receive(BoundedWaiter& waiter) {
        CellReceiver end(*ring_);
        std::vector<Ticks> times;
        times.reserve(static_cast<std::size_t>(messages_));
        for (Ticks begin = ticks(); times.size() < static_cast<std::size_t>(messages_);) {
            for (std::size_t done = 0; done < bytes_; done += cell_bytes) {
                const std::size_t part = std::min(cell_bytes, bytes_ - done);
                std::uint64_t word = 0;
                const std::byte* const payload = end.receive(waiter, part, word);
                if (payload == nullptr) {
                    return times;
                }
                copy_bytes(output_[0].bytes.data() + done, payload, part);
                end.release();
            }
            const Ticks now = ticks();
            times.push_back(now - begin);
            begin = now;
        }
        return times;
    }

private:
    std::size_t bytes_;
    int messages_;
    Pages channel_;
    CellRing* ring_ = nullptr;
    Pages input_;
    Pages output_;
};

} // namespace

double StreamProbe::time_of(int from, int to, std::int64_t bytes) {
    const int messages = messages_of(bytes);
    const std::array cpus{from, to};
    Stream stream(static_cast<std::size_t>(bytes), messages);
    crew_->run(cpus, [&](int thread) { stream.prepare(thread); });
    if (!stream.is_there()) {
        return Statistic::missing;
    }
    constexpr double start_ns = 100e6;
    constexpr double stalled_ns_per_byte = 4; // Slower than any memory.
    const double most_ns = start_ns + stalled_ns_per_byte * static_cast<double>(bytes * messages);
    std::vector<Ticks> spent;
    crew_->run(cpus, [&](int thread) {
        BoundedWaiter waiter(crew_->stop(), static_cast<std::int64_t>(most_ns));
        if (thread == 0) {
            stream.send(waiter);
        } else {
            spent = stream.receive(waiter);
        }
    });
    if (spent.size() < static_cast<std::size_t>(messages)) {
        return Statistic::missing;
    }
    std::vector<double> times;
    for (std::size_t i = spent.size() / 4; i < spent.size(); ++i) {
        times.push_back(scale_.ns(0, spent[i]));
    }
    return median(std::move(times));
}

double StreamProbe::slow_s(std::int64_t bytes) {
    constexpr double start_s = 0.002;
    constexpr double slow_bytes_per_s = 2e9;
    // Both buffers are touched before.
    return start_s + static_cast<double>(bytes * (messages_of(bytes) + 2)) / slow_bytes_per_s;
}

} // namespace corymb::discover
