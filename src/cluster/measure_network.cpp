// SPDX-License-Identifier: Apache-2.0
// Measures the network of all nodes. First each node meets some others, many at the same time and
// for a short while, to see whether some differ. Then each class is measured alone, and in the end
// the message rate with all ranks at the same time. As most networks have one class, unclear
// differences count as none.
#include "cluster/network_classes.hpp"
#include "cluster/network_prober.hpp"
#include "cluster/patient_carrier.hpp"
#include "cluster/places.hpp"
#include "cluster/shared_word.hpp"

#include <corymb/carrier.hpp>
#include <corymb/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace corymb {

namespace {

using cluster::Effort;
using cluster::Meeting;
using cluster::Pairs;
using cluster::Probe;

constexpr std::size_t streams_at_once = 8;
constexpr std::size_t short_stream_bytes = std::size_t{1} << 20;
constexpr std::size_t long_stream_bytes = std::size_t{4} << 20;

class Survey {
public:
    Survey(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
           std::chrono::nanoseconds budget, std::chrono::nanoseconds deadline)
        : carrier_(carrier), node_of_rank_(node_of_rank), rank_(rank), budget_ns_(budget.count()),
          deadline_(deadline) {
        const int nodes = *std::ranges::max_element(node_of_rank) + 1;
        for (int node = 0; node < nodes; ++node) {
            const auto first = std::ranges::find(node_of_rank, node);
            first_ranks_.push_back(static_cast<Rank>(first - node_of_rank.begin()));
        }
    }

    Networks result() {
        const std::vector<Network> best = seen_by_all();
        const std::vector<int> classes = cluster::classes_of(best);
        const std::vector<Probe> probes = cluster::probes_of(classes, best);
        const Effort effort{budget_ns_ / 10 / static_cast<std::int64_t>(probes.size()),
                            long_stream_bytes, 20, deadline_};
        std::vector<Network> measured;
        for (const Probe& probe : probes) {
            const Network one = meet(probe.nodes, streams_at_once, effort);
            measured.push_back(shared({one}, rank_of(probe.nodes.first)).front());
        }
        const Networks alone = cluster::networks_of(classes, best, probes, measured);
        return cluster::with_gaps(alone, gaps_together(alone));
    }

private:
    [[nodiscard]] Rank rank_of(int node) const {
        return first_ranks_[static_cast<std::size_t>(node)];
    }

    Network meet(const Meeting& nodes, std::size_t streams, const Effort& effort) {
        const Pairs pairs = cluster::pairs_of(node_of_rank_, nodes.first, nodes.second, streams);
        return cluster::measure_pair(carrier_, pairs, rank_, effort);
    }

    /// By node: the gap of messages while every rank has one under way with a rank of another node,
    /// as in a collective. Nodes may share switches and, in containers, processors, which does not
    /// show between two nodes alone. Known to all ranks.
    std::vector<double> gaps_together(const Networks& alone) {
        const auto own_node = node_of(rank_);
        std::vector<Network> seen(first_ranks_.size());
        const auto round = cluster::meetings_of(static_cast<int>(first_ranks_.size())).front();
        for (const Meeting& nodes : round) {
            if (nodes.first != own_node && nodes.second != own_node) {
                continue;
            }
            const Pairs pairs =
                cluster::pairs_of(node_of_rank_, nodes.first, nodes.second, streams_at_once);
            const double half_ns = cluster::half_trip_together(
                carrier_, pairs, rank_, {budget_ns_ / 10, short_stream_bytes, 0, deadline_});
            const std::size_t number =
                alone.of_node.empty()
                    ? 0
                    : static_cast<std::size_t>(alone.of_node[static_cast<std::size_t>(own_node)]);
            seen[static_cast<std::size_t>(own_node)].message_gap_ns =
                std::max(0.0, half_ns - alone.classes[number].start_up_ns) /
                static_cast<double>(pairs.askers.size());
        }
        if (rank_of(own_node) == rank_) {
            gather(seen, static_cast<std::size_t>(own_node));
        }
        std::vector<double> gaps;
        for (const Network& one : shared(seen, first_ranks_.front())) {
            gaps.push_back(one.message_gap_ns);
        }
        return gaps;
    }

    [[nodiscard]] int node_of(Rank rank) const {
        return node_of_rank_[static_cast<std::size_t>(rank)];
    }

    /// The best that each node has seen, known to all ranks.
    std::vector<Network> seen_by_all() {
        const auto meetings = cluster::meetings_of(static_cast<int>(first_ranks_.size()));
        std::vector<Network> best(first_ranks_.size());
        if (meetings.size() == 1) {
            return best; // Two nodes cannot be told apart.
        }
        const Effort effort{budget_ns_ / 20 / static_cast<std::int64_t>(meetings.size()),
                            short_stream_bytes, 4, deadline_};
        const auto own_node = static_cast<std::size_t>(node_of(rank_));
        if (first_ranks_[own_node] == rank_) {
            best[own_node] = seen(meetings, static_cast<int>(own_node), effort);
            gather(best, own_node);
        }
        return shared(best, first_ranks_.front());
    }

    Network seen(const std::vector<std::vector<Meeting>>& rounds, int own, const Effort& effort) {
        std::vector<Network> all;
        for (const auto& round : rounds) {
            const auto mine = std::ranges::find_if(round, [own](const Meeting& meeting) {
                return meeting.first == own || meeting.second == own;
            });
            if (mine != round.end()) {
                all.push_back(meet(*mine, 1, effort));
            }
        }
        Network best = all.front();
        for (const Network& other : all) {
            best = cluster::best_of(best, other);
        }
        return best;
    }

    /// The first ranks of the nodes tell their best networks to node 0's.
    void gather(std::vector<Network>& best, std::size_t own_node) {
        cluster::PatientCarrier patient(carrier_, deadline_);
        if (own_node != 0) {
            patient.send(&best[own_node], sizeof best[own_node], first_ranks_.front());
            return;
        }
        for (std::size_t node = 1; node < best.size(); ++node) {
            patient.receive(&best[node], sizeof best[node], first_ranks_[node]);
        }
    }

    std::vector<Network> shared(std::vector<Network> networks, Rank from) {
        static_assert(std::is_trivially_copyable_v<Network>);
        cluster::Word word{true, std::string(networks.size() * sizeof(Network), '\0')};
        std::memcpy(word.text.data(), networks.data(), word.text.size());
        word = cluster::shared_word(carrier_, static_cast<Rank>(node_of_rank_.size()), rank_, from,
                                    word, deadline_);
        std::memcpy(networks.data(), word.text.data(), word.text.size());
        return networks;
    }

    Carrier& carrier_;
    const std::vector<int>& node_of_rank_;
    Rank rank_;
    std::int64_t budget_ns_;
    std::chrono::nanoseconds deadline_;
    std::vector<Rank> first_ranks_; // by node
};

} // namespace

Networks measure_networks(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                          std::chrono::nanoseconds budget, std::chrono::nanoseconds deadline) {
    cluster::check_places(node_of_rank, rank);
    if (std::ranges::max(node_of_rank) < 1) {
        throw Error(Errc::invalid_argument, "a network is measured between two nodes, numbered "
                                            "from 0; there is one");
    }
    return Survey(carrier, node_of_rank, rank, budget, deadline).result();
}

} // namespace corymb
