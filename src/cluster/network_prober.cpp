// SPDX-License-Identifier: Apache-2.0
// Start-up by ping-pong, message rate by bursts, bandwidth of one stream and of one for each rank
// of a node. Four numbers as of the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman 1995),
// with a limit for each node.
#include "cluster/network_prober.hpp"

#include "base/clock.hpp"
#include "cluster/patient_carrier.hpp"

#include <algorithm>
#include <cstring>

namespace corymb::cluster {

namespace {

constexpr int burst = 32;
constexpr std::size_t small_bytes = 8;
constexpr std::size_t first_stream_bytes = std::size_t{64} << 10;
constexpr double stream_ns_most = 1e8; // A slow network need not be measured for seconds.
constexpr std::size_t samples_most = 64;

enum Order : int { stop = 0, ping = 1, bursts = 2, stream = 3 };

/// The end of one rank in the measurement.
class Prober {
public:
    Prober(Carrier& carrier, const Effort& effort)
        : data_(std::max(first_stream_bytes, effort.stream_bytes_most)),
          carrier_(carrier, effort.deadline), effort_(&effort) {}

    /// Measures as the first asking rank, which has the others of its node send together with it.
    Network lead(const Pairs& pairs) {
        const Rank peer = pairs.answerers.front();
        Network network;
        const double round_ns = median_ns([&] { ask(peer, ping, small_bytes); });
        network.start_up_ns = std::max(1.0, round_ns / 2);
        const double burst_ns = median_ns([&] { ask(peer, bursts, small_bytes); });
        network.message_gap_ns = std::max(1.0, (burst_ns - round_ns) / (burst - 1));
        std::size_t bytes = first_stream_bytes;
        double stream_ns = 0;
        for (;; bytes *= 2) { // Doubles the bytes until they take much longer than the start.
            stream_ns = median_ns([&] { ask(peer, stream, bytes); }) - round_ns;
            if (stream_ns > std::min(effort_->stream_rounds * round_ns, stream_ns_most) ||
                2 * bytes > data_.size()) {
                break;
            }
        }
        // Shorter times are lost in the variation of a round trip.
        stream_ns = std::max({1.0, stream_ns, round_ns / 8});
        network.stream_gbs = static_cast<double>(bytes) / stream_ns;
        network.node_gbs = network.stream_gbs;
        if (pairs.askers.size() > 1) {
            const double all_ns =
                // At least an eighth of a round trip, as above.
                std::max(together_ns(pairs, bytes) - round_ns, round_ns / 8);
            const double all_bytes = static_cast<double>(bytes * pairs.askers.size());
            network.node_gbs = std::max(network.stream_gbs, all_bytes / std::max(1.0, all_ns));
        }
        for (std::size_t i = 1; i < pairs.askers.size(); ++i) {
            carrier_.send(nullptr, 0, pairs.askers[i], stop);
        }
        carrier_.send(&network, sizeof network, peer, stop);
        return network;
    }

    /// Half the time of a round trip; `answer` is told it as well.
    double half_trip_ns(Rank peer) {
        const double half_ns = median_ns([&] { ask(peer, ping, small_bytes); }) / 2;
        const Network network{.start_up_ns = half_ns};
        carrier_.send(&network, sizeof network, peer, stop);
        return half_ns;
    }

    /// For another rank of that node: sends when the first one orders it.
    void follow(Rank leader, Rank peer) {
        for (;;) {
            std::uint64_t length = 0;
            if (carrier_.receive(&length, sizeof length, leader).mark == stop) {
                break;
            }
            ask(peer, stream, std::min<std::size_t>(length, data_.size()));
            carrier_.send(data_.data(), small_bytes, leader, stream);
        }
        const Network nothing;
        carrier_.send(&nothing, sizeof nothing, peer, stop);
    }

    /// Answers until it is told to stop. Returns the network that it is told then.
    Network answer(Rank peer) {
        int in_burst = 0;
        for (;;) {
            const Carrier::Arrival arrival = carrier_.receive(data_.data(), data_.size(), peer);
            if (arrival.mark == stop) {
                Network network;
                std::memcpy(&network, data_.data(), sizeof network);
                return network;
            }
            in_burst = arrival.mark == bursts ? in_burst + 1 : 0;
            if (arrival.mark != bursts || in_burst == burst) {
                in_burst = 0;
                carrier_.send(data_.data(), small_bytes, peer, arrival.mark);
            }
        }
    }

private:
    /// The median time of `once`, repeated for this rank's share of the time.
    template <class Once>
    double median_ns(const Once& once) {
        std::vector<double> times;
        const std::int64_t begin = now_ns();
        once(); // Connections are made, memory is touched.
        do {
            const std::int64_t since = now_ns();
            once();
            times.push_back(static_cast<double>(now_ns() - since));
        } while (now_ns() - begin < effort_->share_ns && times.size() < samples_most);
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        return *middle;
    }

    /// Does `order` with `bytes` and waits for the answer.
    void ask(Rank peer, Order order, std::size_t bytes) {
        if (order == bursts) {
            std::vector<Carrier::Ticket> tickets;
            for (int i = 0; i < burst; ++i) {
                tickets.push_back(carrier_.begin_send(data_.data(), small_bytes, peer, order));
            }
            for (const Carrier::Ticket ticket : tickets) {
                carrier_.wait(ticket);
            }
        } else {
            carrier_.send(data_.data(), bytes, peer, order);
        }
        carrier_.receive(data_.data(), small_bytes, peer);
    }

    double together_ns(const Pairs& pairs, std::size_t bytes) {
        return median_ns([&] {
            for (std::size_t i = 1; i < pairs.askers.size(); ++i) {
                const std::uint64_t length = bytes;
                carrier_.send(&length, sizeof length, pairs.askers[i], stream);
            }
            ask(pairs.answerers.front(), stream, bytes);
            for (std::size_t i = 1; i < pairs.askers.size(); ++i) {
                carrier_.receive(data_.data(), small_bytes, pairs.askers[i]);
            }
        });
    }

    std::vector<std::byte> data_; // Longer than the messages that are under way.
    PatientCarrier carrier_;
    const Effort* effort_;
};

} // namespace

Pairs pairs_of(const std::vector<int>& node_of_rank, int one, int other, std::size_t most) {
    Pairs pairs;
    for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
        if (node_of_rank[rank] == one) {
            pairs.askers.push_back(static_cast<Rank>(rank));
        } else if (node_of_rank[rank] == other) {
            pairs.answerers.push_back(static_cast<Rank>(rank));
        }
    }
    const std::size_t both = std::min({pairs.askers.size(), pairs.answerers.size(), most});
    pairs.askers.resize(both);
    pairs.answerers.resize(both);
    return pairs;
}

Network measure_pair(Carrier& carrier, const Pairs& pairs, Rank rank, const Effort& effort) {
    Prober prober(carrier, effort);
    for (std::size_t i = 0; i < pairs.askers.size(); ++i) {
        if (rank == pairs.answerers[i]) {
            return prober.answer(pairs.askers[i]);
        }
        if (rank == pairs.askers[i] && i > 0) {
            prober.follow(pairs.askers.front(), pairs.answerers[i]);
        } else if (rank == pairs.askers[i]) {
            return prober.lead(pairs);
        }
    }
    return {};
}

double half_trip_together(Carrier& carrier, const Pairs& pairs, Rank rank, const Effort& effort) {
    Prober prober(carrier, effort);
    for (std::size_t i = 0; i < pairs.askers.size(); ++i) {
        if (rank == pairs.answerers[i]) {
            return prober.answer(pairs.askers[i]).start_up_ns;
        }
        if (rank == pairs.askers[i]) {
            return prober.half_trip_ns(pairs.answerers[i]);
        }
    }
    return 0;
}

} // namespace corymb::cluster
