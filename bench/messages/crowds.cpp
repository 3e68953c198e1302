// SPDX-License-Identifier: Apache-2.0
// Many at once: a receiver of many silent peers, and a publisher with many readers.
#include "link.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>

#include <atomic>

#ifdef CORYMB_BENCH_LOCKFREE
#include <boost/lockfree/spsc_queue.hpp>
#endif
#ifdef CORYMB_BENCH_TBB
#include <oneapi/tbb/concurrent_queue.h>
#endif

namespace corymb::bench {
namespace {

class MailInbox final : public Inbox {
public:
    MailInbox(MailboxProtocol protocol, int peers)
        : group_(peers + 1, {.protocol = protocol, .capacity = 2}), box_(group_.join(0)) {
        for (int peer = 1; peer <= peers; ++peer) {
            Mailbox own = group_.join(peer);
            static_cast<void>(own.send_value(0, peer));
        }
        look();
    }
    std::uint64_t look() override {
        return box_.probe([](Rank, auto) {});
    }

private:
    MailboxGroup group_;
    Mailbox box_;
};

/// A word in a line for each peer.
class LineInbox final : public Inbox {
public:
    explicit LineInbox(int peers) : lines_(static_cast<std::size_t>(peers)) {}
    std::uint64_t look() override {
        std::uint64_t found = 0;
        for (const Line& line : lines_) {
            found += line.word.load(std::memory_order_acquire);
        }
        return found;
    }

private:
    struct alignas(64) Line {
        std::atomic<std::uint64_t> word{0};
    };
    std::vector<Line> lines_;
};

/// Messages to each of many mailboxes.
class MailAudience final : public Audience {
public:
    explicit MailAudience(int readers)
        : group_(readers + 1, {.capacity = capacity}), own_(group_.join(0)) {
        for (int reader = 1; reader <= readers; ++reader) {
            boxes_.push_back(group_.join(reader));
        }
    }
    void publish(std::uint64_t value) override {
        for (Rank to = 1; to < own_.size(); ++to) {
            static_cast<void>(own_.send_value(to, value));
        }
    }
    std::uint64_t drain() override {
        std::uint64_t count = 0;
        for (Mailbox& box : boxes_) {
            count += box.probe([](Rank, auto) {});
        }
        return count;
    }

private:
    MailboxGroup group_;
    Mailbox own_;
    std::vector<Mailbox> boxes_;
};

class RingAudience final : public Audience {
public:
    RingAudience(int readers, bool is_between_processes)
        : ring_({.slots = capacity, .readers = readers, .between_processes = is_between_processes}),
          publisher_(ring_.publisher()) {
        for (int reader = 0; reader < readers; ++reader) {
            readers_.push_back(ring_.reader());
        }
    }
    void publish(std::uint64_t value) override { publisher_.publish_value(value); }
    std::uint64_t drain() override {
        std::uint64_t count = 0;
        for (BroadcastReader& reader : readers_) {
            count += reader.probe([](const BroadcastMessage&) {});
        }
        return count;
    }

private:
    BroadcastRing ring_;
    BroadcastPublisher publisher_;
    std::vector<BroadcastReader> readers_;
};

#ifdef CORYMB_BENCH_LOCKFREE
using BoostQueue = boost::lockfree::spsc_queue<std::uint64_t, boost::lockfree::capacity<capacity>>;

class BoostInbox final : public Inbox {
public:
    explicit BoostInbox(int peers) : queues_(static_cast<std::size_t>(peers)) {}
    std::uint64_t look() override {
        std::uint64_t count = 0;
        for (auto& queue : queues_) {
            count += queue.consume_all([](std::uint64_t) {});
        }
        return count;
    }

private:
    std::vector<BoostQueue> queues_;
};

class BoostAudience final : public Audience {
public:
    explicit BoostAudience(int readers) : queues_(static_cast<std::size_t>(readers)) {}
    void publish(std::uint64_t value) override {
        for (auto& queue : queues_) {
            static_cast<void>(queue.push(value));
        }
    }
    std::uint64_t drain() override {
        std::uint64_t count = 0;
        for (auto& queue : queues_) {
            count += queue.consume_all([](std::uint64_t) {});
        }
        return count;
    }

private:
    std::vector<BoostQueue> queues_;
};
#endif

#ifdef CORYMB_BENCH_TBB
class TbbAudience final : public Audience {
public:
    explicit TbbAudience(int readers) : queues_(static_cast<std::size_t>(readers)) {}
    void publish(std::uint64_t value) override {
        for (auto& queue : queues_) {
            queue.push(value);
        }
    }
    std::uint64_t drain() override {
        std::uint64_t count = 0, value = 0;
        for (auto& queue : queues_) {
            while (queue.try_pop(value)) {
                ++count;
            }
        }
        return count;
    }

private:
    std::vector<tbb::concurrent_queue<std::uint64_t>> queues_;
};
#endif

} // namespace

std::vector<Contestant<Inbox>> inboxes() {
    std::vector<Contestant<Inbox>> all;
    for (const auto protocol :
         {MailboxProtocol::ring, MailboxProtocol::nvp, MailboxProtocol::srbp}) {
        all.push_back(
            {std::string("mailbox ") + to_string(protocol), Family::corymb, [protocol](int peers) {
                 return std::make_unique<MailInbox>(protocol, peers);
             }});
    }
    all.push_back({"a line for each peer", Family::peer, [](int peers) {
                       return std::make_unique<LineInbox>(peers);
                   }});
#ifdef CORYMB_BENCH_LOCKFREE
    all.push_back({"boost spsc_queue for each peer", Family::peer, [](int peers) {
                       return std::make_unique<BoostInbox>(peers);
                   }});
#endif
    return all;
}

std::vector<Contestant<Audience>> audiences() {
    std::vector<Contestant<Audience>> all;
    all.push_back({"broadcast ring", Family::corymb, [](int readers) {
                       return std::make_unique<RingAudience>(readers, false);
                   }});
    all.push_back({"broadcast ring, shared memory", Family::corymb, [](int readers) {
                       return std::make_unique<RingAudience>(readers, true);
                   }});
    all.push_back({"mailbox to each reader", Family::corymb, [](int readers) {
                       return std::make_unique<MailAudience>(readers);
                   }});
#ifdef CORYMB_BENCH_LOCKFREE
    all.push_back({"boost spsc_queue for each reader", Family::peer, [](int readers) {
                       return std::make_unique<BoostAudience>(readers);
                   }});
#endif
#ifdef CORYMB_BENCH_TBB
    all.push_back({"tbb concurrent_queue for each reader", Family::peer, [](int readers) {
                       return std::make_unique<TbbAudience>(readers);
                   }});
#endif
    return all;
}

} // namespace corymb::bench
