// SPDX-License-Identifier: Apache-2.0
// P1: release store of `written` behind the writes -> acquire load by the reader: publishes the
// bytes.
// P2: release store of `copied` behind the copy -> acquire load by the writer: the reads come
// before the next writes.
// P3: release store of `rings_made` -> acquire load by the other thread: publishes the rings. The
// channels are argued in channel/.
#include "machine/discover/handover_probe.hpp"

#include "base/cache_line.hpp"
#include "base/copy_bytes.hpp"
#include "base/membarrier.hpp"
#include "channel/bounded_waiter.hpp"
#include "channel/env.hpp"
#include "channel/message_ring.hpp"
#include "machine/discover/pages.hpp"
#include "machine/discover/statistics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

using channel::BoundedWaiter;
using MessageRing = channel::MessageRing<channel::StandardEnv>;
using MessageSender = channel::MessageSender<channel::StandardEnv>;
using MessageReceiver = channel::MessageReceiver<channel::StandardEnv>;

constexpr std::int64_t handover_limit_ns =
    200'000'000; // For CPUs that other work keeps from coming.

/// Number of turns. The first quarter only warms up.
int turns_of(std::int64_t bytes) {
    constexpr std::int64_t together = 16 << 20;
    return static_cast<int>(std::clamp<std::int64_t>(together / bytes, 4, 128));
}

/// The middle of all times but those of the first quarter.
double settled(std::vector<double> times) {
    times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4));
    return median(std::move(times));
}

/// A buffer that one thread writes and the other copies. Each thread touches first what it writes.
class Turns {
public:
    Turns(const TickScale& scale, std::int64_t bytes)
        : scale_(scale), bytes_(static_cast<std::size_t>(bytes)), turns_(turns_of(bytes)) {}

    void prepare(int thread) {
        if (thread == 0) {
            source_ = touched_pages(bytes_);
            lent_ = touched_pages(bytes_);
        } else {
            copy_ = touched_pages(bytes_);
        }
    }
    [[nodiscard]] bool is_there() const { return source_ && lent_ && copy_; }

    /// The second write of a turn finds all lines in its own cache.
    void write(BoundedWaiter& waiter) {
        for (int turn = 1; turn <= turns_; ++turn) {
            const double first = time_of(lent_, source_);
            const double again = time_of(lent_, source_);
            written_.store(turn, std::memory_order_release); // P1 release
            int seen = 0;
            constexpr auto order = std::memory_order_acquire; // P2 acquire
            if (!waiter.await(copied_, order, [turn](int now) { return now >= turn; }, seen)) {
                return;
            }
            rewriting_.push_back(std::max(0.0, first - again));
        }
    }
    void read(BoundedWaiter& waiter) {
        for (int turn = 1; turn <= turns_; ++turn) {
            int seen = 0;
            constexpr auto order = std::memory_order_acquire; // P1 acquire
            if (!waiter.await(written_, order, [turn](int now) { return now >= turn; }, seen)) {
                return;
            }
            copying_.push_back(time_of(copy_, lent_));
            copied_.store(turn, std::memory_order_release); // P2 release
        }
    }
    [[nodiscard]] HandoverTimes times() {
        const auto wanted = static_cast<std::size_t>(turns_);
        if (copying_.size() < wanted || rewriting_.size() < wanted) {
            return {Statistic::missing, Statistic::missing};
        }
        return {settled(std::move(copying_)), settled(std::move(rewriting_))};
    }

private:
    double time_of(Pages& to, const Pages& from) const {
        const Ticks begin = ticks();
        copy_bytes(to.get(), from.get(), bytes_);
        membarrier::full(); // For the time, not for an order: all stores have found their lines.
        return scale_.ns(begin, ticks());
    }

    const TickScale& scale_;
    std::size_t bytes_;
    int turns_;
    Pages source_, lent_, copy_;
    std::vector<double> copying_, rewriting_;
    alignas(line_pair_bytes) std::atomic<int> written_{0};
    alignas(line_pair_bytes) std::atomic<int> copied_{0};
};

/// A ring there and one back, as two mailboxes have them.
class RoundTrips {
public:
    RoundTrips(const TickScale& scale, std::size_t bytes)
        : scale_(scale), bytes_(bytes), shape_(channel::SlotShape::of(slots, bytes)) {}

    /// Thread 0 makes the rings; false: somebody has given up.
    bool prepare(int thread, BoundedWaiter& waiter) {
        if (thread == 0) {
            for (int way : {0, 1}) {
                auto& memory = memory_[static_cast<std::size_t>(way)];
                memory = touched_pages(MessageRing::bytes(shape_));
                if (!memory) {
                    return false;
                }
                rings_[static_cast<std::size_t>(way)] = new (memory.get()) MessageRing(shape_);
            }
            rings_made_.store(true, std::memory_order_release); // P3 release
        }
        bool seen = false;
        constexpr auto order = std::memory_order_acquire; // P3 acquire
        return waiter.await(rings_made_, order, [](bool value) { return value; }, seen);
    }

    void run(int thread, BoundedWaiter& waiter) {
        if (!prepare(thread, waiter)) {
            return;
        }
        const auto own = static_cast<std::size_t>(thread);
        MessageSender out(*rings_[own], shape_);
        MessageReceiver in(*rings_[1 - own], shape_);
        Pages message = touched_pages(bytes_);
        for (std::size_t batch = 0; batch < batches && message; ++batch) {
            const Ticks begin = ticks();
            for (int trip = 0; trip < trips; ++trip) {
                const bool goes_on =
                    thread == 0
                        ? out.send(waiter, message.get(), bytes_) && take(in, waiter, message)
                        : take(in, waiter, message) && out.send(waiter, message.get(), bytes_);
                if (!goes_on) {
                    return;
                }
            }
            if (thread == 0) {
                times_.push_back(scale_.ns(begin, ticks()) / (2 * trips));
            }
        }
    }
    [[nodiscard]] double time() {
        return times_.size() == batches ? settled(std::move(times_)) : Statistic::missing;
    }

private:
    static constexpr std::size_t slots = 64; ///< As MailboxOptions has by default.
    static constexpr std::size_t batches = 32;
    static constexpr int trips = 32; ///< In a batch, which is short against an interruption.

    bool take(MessageReceiver& in, BoundedWaiter& waiter, Pages& message) const {
        channel::SlotMessage seen;
        if (!in.receive(waiter, seen)) {
            return false;
        }
        copy_bytes(message.get(), seen.bytes, seen.length);
        in.release();
        return true;
    }

    const TickScale& scale_;
    std::size_t bytes_;
    channel::SlotShape shape_;
    std::array<Pages, 2> memory_;
    std::array<MessageRing*, 2> rings_{};
    std::vector<double> times_;
    std::atomic<bool> rings_made_{false};
};

} // namespace

HandoverTimes HandoverProbe::turns(int from, int to, std::int64_t bytes) {
    const std::array cpus{from, to};
    Turns turns(scale_, bytes);
    crew_->run(cpus, [&](int thread) { turns.prepare(thread); });
    if (!turns.is_there()) {
        return {Statistic::missing, Statistic::missing};
    }
    crew_->run(cpus, [&](int thread) {
        BoundedWaiter waiter(crew_->stop(), handover_limit_ns);
        if (thread == 0) {
            turns.write(waiter);
        } else {
            turns.read(waiter);
        }
    });
    return turns.times();
}

double HandoverProbe::message(int from, int to, std::int64_t bytes) {
    const std::array cpus{from, to};
    RoundTrips trips(scale_, static_cast<std::size_t>(bytes));
    crew_->run(cpus, [&](int thread) {
        BoundedWaiter waiter(crew_->stop(), handover_limit_ns);
        trips.run(thread, waiter);
    });
    return trips.time();
}

double HandoverProbe::slow_s(std::int64_t bytes) {
    constexpr double start_s = 0.005;
    constexpr double slow_bytes_per_s = 2e9;
    constexpr int touches = 3; // In a turn: two writes and a copy.
    const std::int64_t touched = bytes * touches * (turns_of(bytes) + 1);
    return start_s + static_cast<double>(touched) / slow_bytes_per_s;
}

} // namespace corymb::discover
