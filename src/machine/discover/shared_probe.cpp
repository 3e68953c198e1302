// SPDX-License-Identifier: Apache-2.0
// P1: what a thread has written before a round, readers' buffers among it, is there for all behind
// the round. Each change of the counter acquires and releases; the last one's store of the round
// releases all of them to those who acquire it.
#include "machine/discover/shared_probe.hpp"

#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "channel/bounded_waiter.hpp"
#include "machine/discover/statistics.hpp"

#include <corymb/machine.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

using channel::BoundedWaiter;

constexpr std::int64_t limit_ns = 200'000'000; // For CPUs that other work keeps from coming.
constexpr int repetitions = 3;
constexpr std::int64_t repetition_ns = 4'000'000;
constexpr std::size_t chunk_bytes = std::size_t{32} << 10; // Stays in a first-level cache.

/// A barrier of one counter and one word, on lines of their own.
class CounterBarrier {
public:
    explicit CounterBarrier(int threads) : threads_(threads) {}

    /// False: somebody has given up.
    bool meet(BoundedWaiter& waiter, int round) {
        // P1 acquire, P1 release: each change goes on with what the others before it released.
        const int arrived = arrived_.fetch_add(1, std::memory_order_acq_rel); // P1 acquire, release
        if (arrived + 1 == threads_ * (round + 1)) {
            round_.store(round + 1, std::memory_order_release); // P1 release
            return true;
        }
        constexpr auto order = std::memory_order_acquire; // P1 acquire
        int seen = 0;
        return waiter.await(round_, order, [round](int now) { return now > round; }, seen);
    }

private:
    int threads_;
    alignas(cache_line_bytes) std::atomic<int> arrived_{0};
    alignas(cache_line_bytes) std::atomic<int> round_{0};
};

using Bytes = std::unique_ptr<std::byte[]>;

Bytes try_allocate(std::int64_t bytes) {
    return Bytes(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
}

/// Copies the memory in chunks, again and again, until `end_ns`. Returns the bytes.
std::int64_t copy_until(std::span<const std::byte> memory, std::byte* chunk, std::int64_t end_ns) {
    std::int64_t copied = 0;
    std::size_t at = 0;
    while (now_ns() < end_ns) {
        std::memcpy(chunk, memory.data() + at, chunk_bytes);
        __asm__ __volatile__("" ::"r"(chunk) : "memory"); // Nobody uses the copy.
        copied += static_cast<std::int64_t>(chunk_bytes);
        at += chunk_bytes;
        at = at + chunk_bytes <= memory.size() ? at : 0;
    }
    return copied;
}

} // namespace

double SharedProbe::copies(int home, std::span<const int> cpus, std::int64_t bytes) {
    const Bytes memory = try_allocate(bytes);
    const auto size = static_cast<std::size_t>(bytes);
    const std::size_t share = size / cpus.size();
    if (!memory || share < chunk_bytes) {
        return Statistic::missing;
    }
    crew_->run(std::span(&home, 1), [&](int) { std::memset(memory.get(), 1, size); });
    CounterBarrier barrier(static_cast<int>(cpus.size()));
    std::vector<std::array<double, repetitions>> rates(cpus.size());
    std::atomic<int> done{0};
    crew_->run(cpus, [&](int thread) {
        BoundedWaiter waiter(crew_->stop(), limit_ns);
        const auto own = static_cast<std::size_t>(thread);
        std::array<std::byte, chunk_bytes> chunk{};
        const std::span<const std::byte> mine(memory.get() + own * share, share);
        for (int repetition = 0; repetition < repetitions; ++repetition) {
            if (!barrier.meet(waiter, repetition)) {
                return;
            }
            const std::int64_t begin = now_ns();
            const std::int64_t copied = copy_until(mine, chunk.data(), begin + repetition_ns);
            rates[own][static_cast<std::size_t>(repetition)] =
                static_cast<double>(copied) / static_cast<double>(now_ns() - begin);
        }
        done.fetch_add(1, std::memory_order_relaxed);
    });
    if (done.load(std::memory_order_relaxed) != static_cast<int>(cpus.size())) {
        return Statistic::missing;
    }
    double best = 0;
    for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
        double together = 0;
        for (const auto& of_thread : rates) {
            together += of_thread[repetition];
        }
        best = std::max(best, together);
    }
    return best;
}

double SharedProbe::readers(int owner, std::span<const int> cpus, std::int64_t bytes) {
    constexpr int rounds = 64;
    const auto size = static_cast<std::size_t>(bytes);
    const Bytes memory = try_allocate(bytes);
    if (!memory) {
        return Statistic::missing;
    }
    std::vector<int> all(cpus.begin(), cpus.end());
    all.insert(all.begin(), owner);
    CounterBarrier barrier(static_cast<int>(all.size()));
    std::vector<double> times;
    crew_->run(all, [&](int thread) {
        BoundedWaiter waiter(crew_->stop(), limit_ns);
        const Bytes own = try_allocate(bytes);
        if (own) {
            std::memset(own.get(), 1, size);
        }
        for (int round = 0; round < rounds && own; ++round) {
            if (thread == 0) {
                std::memset(memory.get(), round, size);
            }
            if (!barrier.meet(waiter, 2 * round)) {
                return;
            }
            const std::int64_t begin = now_ns();
            if (thread != 0) {
                std::memcpy(own.get(), memory.get(), size);
                __asm__ __volatile__("" ::"r"(own.get()) : "memory");
            }
            if (!barrier.meet(waiter, 2 * round + 1)) {
                return;
            }
            if (thread == 0) {
                times.push_back(static_cast<double>(now_ns() - begin));
            }
        }
    });
    if (times.size() < rounds) {
        return Statistic::missing;
    }
    const double together = static_cast<double>(bytes) * static_cast<double>(cpus.size());
    return together / median(std::move(times));
}

double SharedProbe::counter(std::span<const int> cpus) {
    constexpr int rounds_of_batch = 64;
    constexpr int batches = 32;
    CounterBarrier barrier(static_cast<int>(cpus.size()));
    std::vector<double> times;
    crew_->run(cpus, [&](int thread) {
        BoundedWaiter waiter(crew_->stop(), limit_ns);
        std::int64_t begin = now_ns();
        for (int round = 0; round < rounds_of_batch * batches; ++round) {
            if (!barrier.meet(waiter, round)) {
                return;
            }
            if (thread == 0 && (round + 1) % rounds_of_batch == 0) {
                const std::int64_t now = now_ns();
                times.push_back(static_cast<double>(now - begin) / rounds_of_batch);
                begin = now;
            }
        }
    });
    return times.size() == batches ? median(std::move(times)) : Statistic::missing;
}

} // namespace corymb::discover
