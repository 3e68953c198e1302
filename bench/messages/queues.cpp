// SPDX-License-Identifier: Apache-2.0
// Queues of others: FastForward, and those whose headers a distribution packages: of moodycamel,
// for one producer and consumer and for many, and atomic_queue, for one of each.
#include "fast_forward.hpp"
#include "link.hpp"

#include <array>
#include <atomic>
#include <cstring>

#ifdef CORYMB_BENCH_READERWRITERQUEUE
#include <readerwriterqueue/readerwriterqueue.h>
#endif
#ifdef CORYMB_BENCH_CONCURRENTQUEUE
#include <concurrentqueue/concurrentqueue.h>
#endif
#ifdef CORYMB_BENCH_ATOMIC_QUEUE
#include <atomic_queue/atomic_queue.h>
#endif

namespace corymb::bench {
namespace {

template <std::size_t Words>
using Item = std::array<std::uint64_t, Words>;

/// A queue in each direction. `Queue` is made without arguments and has try_push and try_pop.
template <class Queue, std::size_t Words>
class QueuePair final : public Link {
public:
    bool put(int end, std::uint64_t value) override {
        Item<Words> item;
        item.fill(value);
        return queue_.at(static_cast<std::size_t>(end)).try_push(item);
    }
    std::uint64_t take(int end, std::uint64_t most, std::uint64_t& last) override {
        auto& queue = queue_.at(static_cast<std::size_t>(1 - end));
        std::uint64_t count = 0;
        Item<Words> item{};
        while (count < most && queue.try_pop(item)) {
            last = value_of(item.data(), sizeof item);
            ++count;
        }
        return count;
    }

private:
    std::array<Queue, 2> queue_;
};

/// Memory as it is, for FastForward.
struct PlainEnv {
    template <class T>
    using Atomic = std::atomic<T>;
    template <std::size_t N>
    class Bytes {
    public:
        void put(const void* from, std::size_t count) noexcept {
            std::memcpy(bytes_.data(), from, count);
        }
        [[nodiscard]] const std::byte* view(std::size_t /*count*/) const noexcept {
            return bytes_.data();
        }

    private:
        std::array<std::byte, N> bytes_;
    };
};
struct LookOnce {
    [[nodiscard]] bool await(const std::atomic<std::uint64_t>& word, std::memory_order order,
                             const auto& holds, std::uint64_t& seen) const noexcept {
        seen = word.load(order);
        return holds(seen);
    }
};
template <std::size_t Words>
class FastForwardQueue {
public:
    bool try_push(const Item<Words>& item) { return queue_.push(now_, item); }
    bool try_pop(Item<Words>& item) { return queue_.pop(now_, item); }

private:
    FastForward<PlainEnv, Words, capacity> queue_;
    LookOnce now_;
};
template <std::size_t Words>
using FastForwardPair = QueuePair<FastForwardQueue<Words>, Words>;

#if defined(CORYMB_BENCH_READERWRITERQUEUE) || defined(CORYMB_BENCH_CONCURRENTQUEUE)
/// Those of moodycamel, which never push into memory that they do not have yet.
template <class Queue>
class Moodycamel {
public:
    bool try_push(const auto& item) { return queue_.try_enqueue(item); }
    bool try_pop(auto& item) { return queue_.try_dequeue(item); }

private:
    Queue queue_{capacity};
};
#endif

#ifdef CORYMB_BENCH_READERWRITERQUEUE
template <std::size_t Words>
using ReaderWriterQueue = QueuePair<Moodycamel<moodycamel::ReaderWriterQueue<Item<Words>>>, Words>;
#endif
#ifdef CORYMB_BENCH_CONCURRENTQUEUE
template <std::size_t Words>
using ConcurrentQueue = QueuePair<Moodycamel<moodycamel::ConcurrentQueue<Item<Words>>>, Words>;
#endif
#ifdef CORYMB_BENCH_ATOMIC_QUEUE
template <std::size_t Words>
using AtomicQueue =
    QueuePair<atomic_queue::AtomicQueue2<Item<Words>, capacity, true, true, false, true>, Words>;
#endif

} // namespace

void add_other_queues(std::vector<Contestant<Link>>& all) {
    all.push_back({"FastForward", Family::peer, link_of<FastForwardPair>});
#ifdef CORYMB_BENCH_READERWRITERQUEUE
    all.push_back({"moodycamel ReaderWriterQueue", Family::peer, link_of<ReaderWriterQueue>});
#endif
#ifdef CORYMB_BENCH_CONCURRENTQUEUE
    all.push_back({"moodycamel ConcurrentQueue", Family::peer, link_of<ConcurrentQueue>});
#endif
#ifdef CORYMB_BENCH_ATOMIC_QUEUE
    all.push_back({"atomic_queue, one producer", Family::peer, link_of<AtomicQueue>});
#endif
}

} // namespace corymb::bench
