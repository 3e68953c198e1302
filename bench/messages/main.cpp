// SPDX-License-Identifier: Apache-2.0
// What mailboxes cost between two threads: round trips and streams of 8 bytes, in turns with two
// plain cache lines and with Boost's queue; and a probe of many peers that send nothing.
// bench/README.md says how to read it.
#include <corymb/mailbox.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#ifdef CORYMB_BENCH_LOCKFREE
#include <boost/lockfree/spsc_queue.hpp>
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds = 15;
constexpr std::uint64_t round_trips = 5'000, streamed = 50'000, probes = 20'000;
constexpr std::size_t capacity = 256;

/// Two ends, 0 and 1; each is used by one thread.
class Link {
public:
    Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    virtual ~Link() = default;
    virtual bool put(int end, std::uint64_t value) = 0;
    virtual bool take(int end, std::uint64_t& value) = 0;
    /// All that is there; how many.
    virtual std::uint64_t drain(int end) {
        std::uint64_t value = 0;
        return take(end, value) ? 1 : 0;
    }
    [[nodiscard]] virtual bool streams() const { return true; }
};

/// The least that a message can be: a word in a line for each direction.
class PlainLines final : public Link {
public:
    bool put(int end, std::uint64_t value) override {
        line_.at(static_cast<std::size_t>(end)).word.store(value, std::memory_order_release);
        return true;
    }
    bool take(int end, std::uint64_t& value) override {
        const auto own = static_cast<std::size_t>(end);
        value = line_.at(1 - own).word.load(std::memory_order_acquire);
        const bool is_new = value != seen_.at(own).value;
        seen_.at(own).value = value;
        return is_new;
    }
    [[nodiscard]] bool streams() const override { return false; }

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
    explicit Mail(corymb::MailboxProtocol protocol)
        : group_(2, {.protocol = protocol, .capacity = capacity}) {
        box_[0] = group_.join(0);
        box_[1] = group_.join(1);
    }
    bool put(int end, std::uint64_t value) override {
        return box_.at(static_cast<std::size_t>(end)).send_value(1 - end, value);
    }
    bool take(int end, std::uint64_t& value) override {
        return box_.at(static_cast<std::size_t>(end))
                   .probe_values<std::uint64_t>(
                       [&value](corymb::Rank, std::uint64_t got) { value = got; }, 1) != 0;
    }
    std::uint64_t drain(int end) override {
        return box_.at(static_cast<std::size_t>(end))
            .probe_values<std::uint64_t>([](corymb::Rank, std::uint64_t) {});
    }

private:
    corymb::MailboxGroup group_;
    std::array<corymb::Mailbox, 2> box_;
};

#ifdef CORYMB_BENCH_LOCKFREE
class BoostQueue final : public Link {
public:
    bool put(int end, std::uint64_t value) override {
        return queue_.at(static_cast<std::size_t>(end)).push(value);
    }
    bool take(int end, std::uint64_t& value) override {
        return queue_.at(static_cast<std::size_t>(1 - end)).pop(value);
    }
    std::uint64_t drain(int end) override {
        return queue_.at(static_cast<std::size_t>(1 - end)).consume_all([](std::uint64_t) {});
    }

private:
    using Queue = boost::lockfree::spsc_queue<std::uint64_t, boost::lockfree::capacity<capacity>>;
    std::array<Queue, 2> queue_;
};
#endif

/// Tries until it works; gives the CPU away now and then, for who shares it.
template <class Try>
void until(const Try& attempt) {
    for (int tries = 1; !attempt(); ++tries) {
        if (tries % 4096 == 0) {
            std::this_thread::yield();
        }
    }
}

std::uint64_t take(Link& link, int end) {
    std::uint64_t value = 0;
    until([&] { return link.take(end, value); });
    return value;
}
void put(Link& link, int end, std::uint64_t value) {
    until([&] { return link.put(end, value); });
}

/// Nanoseconds for one of `count` calls of `work`, after a first exchange with the peer.
template <class Peer, class Work>
double turn(Link& link, std::uint64_t count, const Peer& peer, const Work& work) {
    const std::jthread other([&] {
        put(link, 1, take(link, 1));
        peer();
    });
    put(link, 0, ~std::uint64_t{0});
    static_cast<void>(take(link, 0));
    const auto begin = Clock::now();
    work();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
           static_cast<double>(count);
}

double round_trip(Link& link) {
    return turn(
        link, round_trips,
        [&] {
            for (std::uint64_t i = 0; i < round_trips; ++i) {
                put(link, 1, take(link, 1));
            }
        },
        [&] {
            for (std::uint64_t i = 1; i <= round_trips; ++i) {
                put(link, 0, i);
                static_cast<void>(take(link, 0));
            }
        });
}

double stream(Link& link) {
    return turn(
        link, streamed,
        [&] {
            std::uint64_t got = 0;
            until([&] { return (got += link.drain(1)) >= streamed; });
            put(link, 1, 1);
        },
        [&] {
            for (std::uint64_t i = 1; i <= streamed; ++i) {
                put(link, 0, i);
            }
            static_cast<void>(take(link, 0));
        });
}

/// A probe of one of `peers` + 1 members, to whom all have sent once and nobody does now.
double idle_probe(corymb::MailboxProtocol protocol, int peers) {
    corymb::MailboxGroup group(peers + 1, {.protocol = protocol, .capacity = 2});
    corymb::Mailbox receiver = group.join(0);
    const auto ignore = [](corymb::Rank, auto) {
    };
    for (int peer = 1; peer <= peers; ++peer) {
        corymb::Mailbox box = group.join(peer);
        static_cast<void>(box.send_value(0, peer));
    }
    std::vector<double> times;
    receiver.probe(ignore);
    for (int round = 0; round < rounds; ++round) {
        const auto begin = Clock::now();
        for (std::uint64_t i = 0; i < probes; ++i) {
            receiver.probe(ignore);
        }
        times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                        static_cast<double>(probes));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Contestant {
    std::string name;
    std::unique_ptr<Link> link;
    std::vector<double> round_trip{}, stream{};
};

void print(std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    const auto at = [&](std::size_t quarter) {
        return times[(times.size() - 1) * quarter / 4];
    };
    std::printf(" %8.1f %8.1f %8.1f", at(1), at(2), at(3));
}

} // namespace

int main() {
    using corymb::MailboxProtocol;
    constexpr std::array protocols{MailboxProtocol::ring, MailboxProtocol::nvp,
                                   MailboxProtocol::srbp};
    std::vector<Contestant> contestants;
    contestants.push_back({"plain lines", std::make_unique<PlainLines>()});
    for (const MailboxProtocol protocol : protocols) {
        contestants.push_back(
            {std::string("mailbox ") + to_string(protocol), std::make_unique<Mail>(protocol)});
    }
#ifdef CORYMB_BENCH_LOCKFREE
    contestants.push_back({"boost spsc_queue", std::make_unique<BoostQueue>()});
#endif
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < contestants.size(); ++i) { // Another one begins each round.
            Contestant& who =
                contestants[(i + static_cast<std::size_t>(round)) % contestants.size()];
            who.round_trip.push_back(round_trip(*who.link));
            if (who.link->streams()) {
                who.stream.push_back(stream(*who.link));
            }
        }
    }
    std::printf("8 bytes, ns: quartiles of %d turns\n%-18s %26s %26s\n", rounds, "", "round trip",
                "streaming, a message");
    for (Contestant& who : contestants) {
        std::printf("%-18s", who.name.c_str());
        print(who.round_trip);
        if (!who.stream.empty()) {
            print(who.stream);
        }
        std::printf("\n");
    }
    std::printf("\na probe that finds nothing, ns: median\n%8s %8s %8s %8s\n", "peers", "ring",
                "nvp", "srbp");
    for (const int peers : {1, 8, 64, 256, 1024}) {
        std::printf("%8d", peers);
        for (const MailboxProtocol protocol : protocols) {
            std::printf(" %8.1f", idle_probe(protocol, peers));
        }
        std::printf("\n");
    }
    return 0;
}
