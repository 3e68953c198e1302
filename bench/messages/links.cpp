// SPDX-License-Identifier: Apache-2.0
// Two ends: two plain lines, corymb's mailboxes and broadcast ring, and queues of other libraries.
#include "link.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <unistd.h>

#ifdef CORYMB_BENCH_LOCKFREE
#include <boost/lockfree/spsc_queue.hpp>
#endif
#ifdef CORYMB_BENCH_TBB
#include <oneapi/tbb/concurrent_queue.h>
#endif

namespace corymb::bench {
namespace {

constexpr std::size_t largest_bytes = 1024;
using Words = std::array<std::uint64_t, largest_bytes / sizeof(std::uint64_t)>;

/// The least that a message can be: a word in a line for each direction.
class PlainLines final : public Link {
public:
    bool put(int end, std::uint64_t value) override {
        line_.at(static_cast<std::size_t>(end)).word.store(value, std::memory_order_release);
        return true;
    }
    std::uint64_t take(int end, std::uint64_t /*most*/, std::uint64_t& last) override {
        const auto own = static_cast<std::size_t>(end);
        last = line_.at(1 - own).word.load(std::memory_order_acquire);
        const bool is_new = last != seen_.at(own).value;
        seen_.at(own).value = last;
        return is_new ? 1 : 0;
    }

private:
    struct alignas(128) Line {
        std::atomic<std::uint64_t> word{0};
    };
    struct alignas(128) Seen {
        std::uint64_t value = 0;
    };
    std::array<Line, 2> line_;
    std::array<Seen, 2> seen_;
};

class Mail final : public Link {
public:
    Mail(MailboxProtocol protocol, int bytes, bool is_between_processes)
        : bytes_(static_cast<std::size_t>(bytes)),
          group_(2, {.protocol = protocol,
                     .message_bytes = bytes_,
                     .capacity = capacity,
                     .between_processes = is_between_processes}),
          descriptor_(is_between_processes ? group_.make_descriptor() : -1) {}
    ~Mail() override {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    void open(int end) override {
        auto& own = end_.at(static_cast<std::size_t>(end));
        own.box = descriptor_ < 0 ? group_.join(end) : MailboxGroup::open(descriptor_).join(end);
    }
    bool put(int end, std::uint64_t value) override {
        auto& own = end_.at(static_cast<std::size_t>(end));
        std::fill_n(own.words.begin(), bytes_ / sizeof value, value);
        return own.box.send(1 - end, own.words.data(), bytes_);
    }
    std::uint64_t take(int end, std::uint64_t most, std::uint64_t& last) override {
        return end_.at(static_cast<std::size_t>(end))
            .box.probe(
                [&last](Rank, std::span<const std::byte> message) {
                    last = value_of(message.data(), message.size());
                },
                most);
    }

private:
    struct alignas(128) End {
        Mailbox box;
        Words words{};
    };
    std::size_t bytes_;
    MailboxGroup group_;
    int descriptor_;
    std::array<End, 2> end_;
};

/// A broadcast ring in each direction, with one reader.
class Broadcasts final : public Link {
public:
    explicit Broadcasts(int bytes)
        : bytes_(static_cast<std::size_t>(bytes)),
          ring_{BroadcastRing({.message_bytes = bytes_, .slots = capacity}),
                BroadcastRing({.message_bytes = bytes_, .slots = capacity})} {
        for (std::size_t end = 0; end < 2; ++end) {
            end_.at(end).publisher = ring_.at(end).publisher();
            end_.at(end).reader = ring_.at(1 - end).reader();
        }
    }
    bool put(int end, std::uint64_t value) override {
        auto& own = end_.at(static_cast<std::size_t>(end));
        std::fill_n(own.words.begin(), bytes_ / sizeof value, value);
        return own.publisher.try_publish(own.words.data(), bytes_);
    }
    std::uint64_t take(int end, std::uint64_t most, std::uint64_t& last) override {
        return end_.at(static_cast<std::size_t>(end))
            .reader.probe(
                [&last](const BroadcastMessage& message) {
                    last = value_of(message.bytes.data(), message.bytes.size());
                },
                most);
    }

private:
    struct alignas(128) End {
        BroadcastPublisher publisher;
        BroadcastReader reader;
        Words words{};
    };
    std::size_t bytes_;
    std::array<BroadcastRing, 2> ring_;
    std::array<End, 2> end_;
};

#ifdef CORYMB_BENCH_LOCKFREE
template <std::size_t Words>
class BoostQueue final : public Link {
public:
    bool put(int end, std::uint64_t value) override {
        Item item;
        item.fill(value);
        return queue_.at(static_cast<std::size_t>(end)).push(item);
    }
    std::uint64_t take(int end, std::uint64_t most, std::uint64_t& last) override {
        auto& queue = queue_.at(static_cast<std::size_t>(1 - end));
        const auto keep = [&last](const Item& item) {
            last = value_of(item.data(), sizeof item);
        };
        return most == 1 ? queue.consume_one(keep) : queue.consume_all(keep);
    }

private:
    using Item = std::array<std::uint64_t, Words>;
    using Queue = boost::lockfree::spsc_queue<Item, boost::lockfree::capacity<capacity>>;
    std::array<Queue, 2> queue_;
};
#endif

#ifdef CORYMB_BENCH_TBB
template <std::size_t Words>
class TbbQueue final : public Link {
public:
    TbbQueue() {
        for (auto& queue : queue_) {
            queue.set_capacity(static_cast<std::ptrdiff_t>(capacity));
        }
    }
    bool put(int end, std::uint64_t value) override {
        Item item;
        item.fill(value);
        return queue_.at(static_cast<std::size_t>(end)).try_push(item);
    }
    std::uint64_t take(int end, std::uint64_t most, std::uint64_t& last) override {
        auto& queue = queue_.at(static_cast<std::size_t>(1 - end));
        std::uint64_t count = 0;
        Item item{};
        while (count < most && queue.try_pop(item)) {
            last = value_of(item.data(), sizeof item);
            ++count;
        }
        return count;
    }

private:
    using Item = std::array<std::uint64_t, Words>;
    std::array<tbb::concurrent_bounded_queue<Item>, 2> queue_;
};
#endif

} // namespace

std::vector<Contestant<Link>> links() {
    std::vector<Contestant<Link>> all;
    all.push_back({"plain lines", Family::floor, [](int) { return std::make_unique<PlainLines>(); },
                   false, false, 8});
    for (const auto protocol :
         {MailboxProtocol::ring, MailboxProtocol::nvp, MailboxProtocol::srbp}) {
        for (const bool is_between_processes : {false, true}) {
            all.push_back({std::string("mailbox ") + to_string(protocol) +
                               (is_between_processes ? ", processes" : ""),
                           Family::corymb,
                           [protocol, is_between_processes](int bytes) {
                               return std::make_unique<Mail>(protocol, bytes, is_between_processes);
                           },
                           is_between_processes});
        }
    }
    all.push_back({"broadcast ring", Family::corymb, [](int bytes) {
                       return std::make_unique<Broadcasts>(bytes);
                   }});
#ifdef CORYMB_BENCH_LOCKFREE
    all.push_back({"boost spsc_queue", Family::peer, link_of<BoostQueue>});
#endif
#ifdef CORYMB_BENCH_TBB
    all.push_back({"tbb concurrent_bounded_queue", Family::peer, link_of<TbbQueue>});
#endif
    add_other_queues(all);
    return all;
}

} // namespace corymb::bench
