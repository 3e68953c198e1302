// SPDX-License-Identifier: Apache-2.0
// What messages between nodes cost, as in corymb-cluster/1: start-up by ping-pong, message rate by
// bursts, bandwidth of one stream and of one for each rank of a node. Four numbers as of the LogGP
// model (Alexandrov, Ionescu, Schauser, Scheiman 1995), with a limit for each node.
#include "base/clock.hpp"
#include "cluster/network_probe.hpp"

#include <corymb/cluster_team.hpp>
#include <corymb/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using namespace std::chrono_literals;
using cluster::Pairs;

constexpr auto data_channel = Carrier::Channel::data;
constexpr int burst = 32;
constexpr std::size_t small_bytes = 8;
constexpr std::size_t first_stream_bytes = std::size_t{64} << 10;
constexpr std::size_t last_stream_bytes = std::size_t{4} << 20;
constexpr int streams_at_once = 8;
constexpr std::int64_t limit_ns = 60'000'000'000;
constexpr int samples_most = 64;

enum Order : int { stop = 0, ping = 1, bursts = 2, stream = 3 };

/// One rank's end of the measurement.
class Prober {
public:
    Prober(Carrier& carrier, std::int64_t share_ns) : carrier_(&carrier), share_ns_(share_ns) {}

    void wait(Carrier::Ticket ticket, Carrier::Arrival& arrival) {
        const std::int64_t since = now_ns();
        for (int look = 0; !carrier_->test(ticket, arrival); ++look) {
            if (look < 100) {
                continue;
            }
            const std::int64_t waited = now_ns() - since;
            if (waited > limit_ns) {
                throw Error(Errc::timeout, "measuring the network: another node has not answered "
                                           "for a minute");
            }
            if (waited < 5'000'000) {
                std::this_thread::yield();
            } else {
                std::this_thread::sleep_for(50us);
            }
        }
    }
    void send(const void* data, std::size_t bytes, Rank to, int mark) {
        Carrier::Arrival nothing;
        wait(carrier_->send(data, bytes, to, data_channel, mark), nothing);
    }
    Carrier::Arrival receive(void* data, std::size_t room, Rank from) {
        Carrier::Arrival arrival;
        wait(carrier_->receive(data, room, from, data_channel), arrival);
        return arrival;
    }

    /// The median of what `once` takes, repeated for this rank's share of the time.
    template <class Once>
    double median_ns(const Once& once) {
        std::vector<double> times;
        const std::int64_t begin = now_ns();
        once(); // Connections are made, memory is touched.
        do {
            const std::int64_t since = now_ns();
            once();
            times.push_back(static_cast<double>(now_ns() - since));
        } while (now_ns() - begin < share_ns_ && times.size() < samples_most);
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        return *middle;
    }

    /// The side that asks: does `order` with `bytes` and waits for the answer.
    void ask(Rank peer, Order order, std::vector<std::byte>& data, std::size_t bytes) {
        if (order == bursts) {
            std::vector<Carrier::Ticket> tickets;
            for (int i = 0; i < burst; ++i) {
                tickets.push_back(
                    carrier_->send(data.data(), small_bytes, peer, data_channel, order));
            }
            Carrier::Arrival nothing;
            for (const Carrier::Ticket ticket : tickets) {
                wait(ticket, nothing);
            }
        } else {
            send(data.data(), bytes, peer, order);
        }
        receive(data.data(), small_bytes, peer);
    }
    /// The side that answers, until it is told to stop.
    void answer(Rank peer) {
        std::vector<std::byte> data(last_stream_bytes);
        int in_burst = 0;
        for (;;) {
            const int order = receive(data.data(), data.size(), peer).mark;
            if (order == stop) {
                return;
            }
            in_burst = order == bursts ? in_burst + 1 : 0;
            if (order != bursts || in_burst == burst) {
                in_burst = 0;
                send(data.data(), small_bytes, peer, order);
            }
        }
    }

private:
    Carrier* carrier_;
    std::int64_t share_ns_;
};

/// The first rank of node 0 has the others of its node send together with it.
double together_ns(Prober& prober, const Pairs& pairs, std::vector<std::byte>& data,
                   std::size_t bytes) {
    return prober.median_ns([&] {
        for (std::size_t i = 1; i < pairs.askers.size(); ++i) {
            const std::uint64_t length = bytes;
            prober.send(&length, sizeof length, pairs.askers[i], stream);
        }
        prober.ask(pairs.answerers.front(), stream, data, bytes);
        for (std::size_t i = 1; i < pairs.askers.size(); ++i) {
            prober.receive(data.data(), small_bytes, pairs.askers[i]);
        }
    });
}

Network lead(Prober& prober, const Pairs& pairs) {
    std::vector<std::byte> data(last_stream_bytes);
    const Rank peer = pairs.answerers.front();
    Network network;
    const double round_ns = prober.median_ns([&] { prober.ask(peer, ping, data, small_bytes); });
    network.start_up_ns = std::max(1.0, round_ns / 2);
    const double burst_ns = prober.median_ns([&] { prober.ask(peer, bursts, data, small_bytes); });
    network.message_gap_ns = std::max(1.0, (burst_ns - round_ns) / (burst - 1));
    std::size_t bytes = first_stream_bytes;
    double stream_ns = 0;
    for (;; bytes *= 2) { // Until the bytes take much longer than the start.
        stream_ns = prober.median_ns([&] { prober.ask(peer, stream, data, bytes); }) - round_ns;
        if (stream_ns > 20 * round_ns || 2 * bytes > last_stream_bytes) {
            break;
        }
    }
    network.stream_gbs = static_cast<double>(bytes) / std::max(1.0, stream_ns);
    network.node_gbs = network.stream_gbs;
    if (pairs.askers.size() > 1) {
        const double all_ns = together_ns(prober, pairs, data, bytes) - round_ns;
        const double all_bytes = static_cast<double>(bytes * pairs.askers.size());
        network.node_gbs = std::max(network.stream_gbs, all_bytes / std::max(1.0, all_ns));
    }
    for (std::size_t i = 1; i < pairs.askers.size(); ++i) {
        prober.send(nullptr, 0, pairs.askers[i], stop);
    }
    prober.send(nullptr, 0, peer, stop);
    return network;
}

/// Another rank of node 0: sends when the first one says so.
void follow(Prober& prober, Rank leader, Rank peer) {
    std::vector<std::byte> data(last_stream_bytes);
    for (;;) {
        std::uint64_t length = 0;
        const Carrier::Arrival arrival = prober.receive(&length, sizeof length, leader);
        if (arrival.mark == stop) {
            break;
        }
        prober.ask(peer, stream, data, std::min<std::size_t>(length, data.size()));
        prober.send(data.data(), small_bytes, leader, stream);
    }
    prober.send(nullptr, 0, peer, stop);
}

} // namespace

namespace cluster {

Pairs pairs_of(const std::vector<int>& node_of_rank) {
    Pairs pairs;
    for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
        if (node_of_rank[rank] < 2) {
            auto& side = node_of_rank[rank] == 0 ? pairs.askers : pairs.answerers;
            side.push_back(static_cast<Rank>(rank));
        }
    }
    const std::size_t both =
        std::min({pairs.askers.size(), pairs.answerers.size(), std::size_t{streams_at_once}});
    pairs.askers.resize(both);
    pairs.answerers.resize(both);
    return pairs;
}

} // namespace cluster

Networks measure_networks(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                          std::chrono::nanoseconds budget) {
    const Pairs pairs = cluster::pairs_of(node_of_rank);
    if (pairs.askers.empty()) {
        throw Error(Errc::invalid_argument, "a network is measured between two nodes, numbered "
                                            "from 0; there is one");
    }
    constexpr int parts = 10; // Ping, burst, up to seven lengths of streams, together.
    Prober prober(carrier, budget.count() / parts);
    const Rank leader = pairs.askers.front();
    cluster::Word word;
    const auto asker = std::ranges::find(pairs.askers, rank);
    const auto answerer = std::ranges::find(pairs.answerers, rank);
    if (rank == leader) {
        word = {true, to_text({{lead(prober, pairs)}, {}})};
    } else if (asker != pairs.askers.end()) {
        follow(prober, leader,
               pairs.answerers[static_cast<std::size_t>(asker - pairs.askers.begin())]);
    } else if (answerer != pairs.answerers.end()) {
        prober.answer(pairs.askers[static_cast<std::size_t>(answerer - pairs.answerers.begin())]);
    }
    word =
        cluster::shared_word(carrier, static_cast<Rank>(node_of_rank.size()), rank, leader, word);
    return networks_from(word.text, cluster::node_count(node_of_rank));
}

namespace cluster {

int node_count(const std::vector<int>& node_of_rank) {
    return node_of_rank.empty() ? 0 : *std::ranges::max_element(node_of_rank) + 1;
}

Word shared_word(Carrier& carrier, Rank size, Rank rank, Rank from, const Word& word) {
    Prober prober(carrier, 0);
    if (rank != from) {
        Word told;
        std::uint64_t length = 0;
        told.is_known = prober.receive(&length, sizeof length, from).mark != stop;
        told.text.resize(length);
        prober.receive(told.text.data(), length, from);
        return told;
    }
    const std::uint64_t length = word.text.size();
    for (Rank other = 0; other < size; ++other) {
        if (other != from) {
            prober.send(&length, sizeof length, other, word.is_known ? ping : stop);
            prober.send(word.text.data(), length, other, ping);
        }
    }
    return word;
}

} // namespace cluster

} // namespace corymb
