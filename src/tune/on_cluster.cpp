// SPDX-License-Identifier: Apache-2.0
// Candidates over several nodes: schemes. A closed form says where to begin.
#include "machine/model/networks.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/places.hpp"
#include "sim/makespan.hpp"
#include "tune/cluster_layout.hpp"
#include "tune/cluster_work.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"
#include "tune/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

namespace tune {

namespace {

using nodes::Exchange;
using nodes::Inside;
using nodes::Roles;
using nodes::Scheme;

int most_ranks(const Cluster& cluster) {
    int most = 1;
    for (const NodeRun& run : cluster.runs) {
        most = std::max(most, run.ranks);
    }
    return most;
}

/// Divisors and powers of two, and all of the ranks.
std::vector<int> leader_counts(int ranks) {
    std::vector<int> counts;
    for (int count = 1; count <= ranks; ++count) {
        if (ranks % count == 0 || std::has_single_bit(static_cast<unsigned>(count))) {
            counts.push_back(count);
        }
    }
    return counts;
}

class OnCluster : public Candidates {
public:
    OnCluster(const Cluster& cluster, const PlanRequest& request)
        : cluster_(cluster), network_(slowest_network(cluster)), request_(request),
          layout_(layout_of(cluster, cluster.places(), request.bytes)),
          counts_(leader_counts(most_ranks(cluster))) {}

    [[nodiscard]] std::vector<Candidate> all() const {
        std::vector<Candidate> list;
        for (const bool near : {false, true}) {
            for (Scheme scheme : nodes::all_schemes(counts_)) {
                scheme.near = near;
                if ((scheme.roles != Roles::runs || request_.ordered) && does(scheme)) {
                    list.push_back({.scheme = scheme});
                }
            }
        }
        return list;
    }

    void try_named(Search& search) const override {
        const auto scheme = nodes::scheme_named(request_.algorithm);
        if (!scheme) {
            throw Error(Errc::unknown_name,
                        "no scheme is called \"" + request_.algorithm.substr(0, 60) +
                            "\"; one is lanes/4/ring/shared/early; see docs/explain/nodes.md");
        }
        search.try_one({.scheme = *scheme});
    }

    void try_best(Search& search) const override {
        if (!request_.exhaustive) {
            search.try_each(first_tries());
            for (const Tried& start : search.by_makespan()) {
                search.improve(start.candidate);
            }
        }
        if (search.tried().empty()) { // No first try has a plan for this request.
            search.try_each(all());
        }
    }

    [[nodiscard]] std::optional<Plan> plan_of(const Candidate& candidate,
                                              double best) const override {
        const Scheme& scheme = candidate.scheme;
        if (!does(scheme) || hopeless.decides(least_link_ns(scheme) > limit(best))) {
            return std::nullopt;
        }
        Plan plan = nodes::plan_for(request_.op, layout_, scheme, request_.bytes, request_.root);
        const double link_ns =
            busiest_link_ns(plan, cluster_, layout_.node_of_rank, request_.bytes);
        return hopeless.decides(link_ns > limit(best)) ? std::nullopt
                                                       : std::optional(std::move(plan));
    }

    [[nodiscard]] Times times_of(const Plan& plan, double best) const override {
        const double time = makespan_within(plan, cluster_, request_.bytes, limit(best));
        static_cast<void>(hopeless.decides(time > limit(best)));
        return {time, time};
    }

    [[nodiscard]] NoisyReplay replay_of(const Plan& plan) const override {
        return noisy_replay(plan, cluster_, request_.bytes, request_.noise);
    }

    /// More or fewer leaders, other pieces, then the other choices one at a time.
    [[nodiscard]] std::vector<Candidate> neighbours(const Candidate& candidate) const override {
        const Scheme& scheme = candidate.scheme;
        std::vector<Candidate> list;
        const auto place = std::ranges::find(counts_, scheme.leaders) - counts_.begin();
        for (const auto beside : {place - 1, place + 1, place}) {
            if (beside >= 0 && beside < std::ssize(counts_)) {
                add_in_pieces(list, scheme, counts_[static_cast<std::size_t>(beside)]);
            }
        }
        Scheme other = scheme;
        other.early = !scheme.early;
        add(list, other);
        other = scheme;
        other.near = !scheme.near;
        add(list, other);
        other = scheme;
        other.inside = scheme.inside == Inside::shared ? Inside::messages : Inside::shared;
        add(list, other);
        other = scheme;
        other.exchange = other_exchange(scheme.exchange);
        add(list, other);
        for (const Roles roles : {Roles::lanes, Roles::node_major}) {
            other = scheme;
            other.roles = roles;
            add(list, other);
        }
        return list;
    }

    /// No model is more exact. Work costs energy, and time where ranks have no CPU each, or the
    /// processor carries the messages. If one stream fills a link, two hold each other up.
    [[nodiscard]] double alike() const override { return nearly; }
    /// Streams of long data through a node's link at once, then the work of all ranks together.
    [[nodiscard]] std::pair<double, double> cost_of(const Candidate& candidate,
                                                    const Plan& plan) const override {
        return {goes_up_or_down() ? candidate.scheme.leaders : 1,
                work_ns(plan, layout_.node_of_rank, request_.bytes, network_)};
    }
    void note_cost() const override {
        nearly.note();
        step_work_ns.note();
        copy_work_ns.note();
    }

private:
    [[nodiscard]] double limit(double best) const {
        return request_.exhaustive ? never : hopeless * best;
    }

    [[nodiscard]] bool goes_up_or_down() const {
        return request_.op == Collective::broadcast || request_.op == Collective::reduce;
    }

    [[nodiscard]] bool are_many() const {
        return parts_all_tried.decides(cluster_.size() > parts_all_tried);
    }

    [[nodiscard]] bool does(const Scheme& scheme) const {
        const bool passes_nothing_on =
            request_.keeps_parts && !plan::knows_all_lengths(request_.op);
        const bool may_pass_on = scheme.exchange != Exchange::direct;
        return is_for(request_, layout_, scheme) &&
               !(passes_nothing_on && may_pass_on && are_many());
    }

    void add(std::vector<Candidate>& list, Scheme scheme) const {
        scheme.leaders = scheme.roles == Roles::flat ? 1 : scheme.leaders;
        scheme.inside = request_.pull ? scheme.inside : Inside::messages;
        if (does(scheme) && std::ranges::find(list, scheme, &Candidate::scheme) == list.end()) {
            list.push_back({.scheme = scheme});
        }
    }

    [[nodiscard]] std::vector<Candidate> first_tries() const {
        if (request_.op == Collective::allgather || request_.op == Collective::allreduce) {
            return first_tries_of_all_for_all();
        }
        if ((request_.op == Collective::alltoall || request_.op == Collective::reduce_scatter) &&
            are_many()) {
            return first_tries_of_parts();
        }
        std::vector<Candidate> list = all();
        std::erase_if(list, [this](const Candidate& candidate) {
            // Where one leader or as many as there are do well, others are tried.
            const int leaders = candidate.scheme.leaders;
            return goes_up_or_down() && leaders > 1 && leaders != counts_.back();
        });
        return list;
    }

    [[nodiscard]] int leaders(bool ring) const {
        const int wanted = leaders_by_formula(network_, cluster_.node_count(), most_ranks(cluster_),
                                              request_.bytes, ring);
        return *std::ranges::min_element(counts_, std::ranges::less{},
                                         [wanted](int count) { return std::abs(count - wanted); });
    }

    /// Each kind of exchange once, with the leaders that the closed forms say.
    [[nodiscard]] std::vector<Candidate> first_tries_of_all_for_all() const {
        std::vector<Candidate> list;
        const Inside shared = Inside::shared;
        for (const Exchange exchange : {Exchange::doubling, Exchange::bruck}) {
            add(list, {Roles::lanes, leaders(false), exchange, shared, false});
            add(list, {Roles::slices, leaders(false), exchange, shared, true});
            add(list, {Roles::flat, 1, exchange, shared, false});
        }
        add(list, {Roles::objects, leaders_of_objects(), Exchange::bruck, shared, true});
        add(list, {Roles::objects, std::min(2, counts_.back()), Exchange::bruck, Inside::messages,
                   true}); // More leaders have more to tell each other.
        for (const bool early : {false, true}) {
            add(list, {Roles::lanes, leaders(true), Exchange::ring, shared, early});
        }
        add(list, {Roles::node_major, leaders(true), Exchange::ring, shared, true});
        add(list, {Roles::flat, 1, Exchange::ring, shared, false});
        for (const Inside inside : {Inside::messages, shared}) { // The least work.
            add(list, {Roles::lanes, 1, Exchange::doubling, inside, false});
        }
        if (request_.ordered) {
            for (const int count : {1, leaders(false)}) {
                add(list, {Roles::runs, count, Exchange::doubling, shared, false});
            }
        }
        return list;
    }

    /// Each kind of exchange with the most leaders; a combining operation also goes by one leader.
    /// Schemes of few messages come first, because others may be hopeless beside them.
    [[nodiscard]] std::vector<Candidate> first_tries_of_parts() const {
        std::vector<Candidate> list;
        const bool combines = is_reduction(request_.op);
        const Roles roles = combines && request_.ordered ? Roles::runs : Roles::lanes;
        for (const Exchange exchange : {Exchange::bruck, Exchange::doubling, Exchange::binomial,
                                        Exchange::ring, Exchange::direct}) {
            add(list, {roles, counts_.back(), exchange, Inside::shared, false});
            if (combines) {
                add(list, {roles, 1, exchange, Inside::shared, false});
            }
            add(list, {Roles::flat, 1, exchange, Inside::shared, false});
        }
        return list;
    }

    /// A lower bound of the busiest link's time, without the plan: a flat exchange at once has a
    /// message for each pair of ranks on different nodes.
    [[nodiscard]] double least_link_ns(const Scheme& scheme) const {
        if (request_.op != Collective::alltoall || scheme.roles != Roles::flat ||
            scheme.exchange != Exchange::direct) {
            return 0;
        }
        double most = 0;
        for (const NodeRun& run : cluster_.runs) {
            const Network& network = cluster_.networks[static_cast<std::size_t>(run.network)];
            const double message = std::max(network.message_gap_ns,
                                            static_cast<double>(request_.bytes) / network.node_gbs);
            most = std::max(most, message * run.ranks * (cluster_.size() - run.ranks));
        }
        return most;
    }

    /// The number of leaders with the least product of rounds and time of a round.
    [[nodiscard]] int leaders_of_objects() const {
        const auto time = [this](int count) {
            int rounds = 0;
            for (std::int64_t reached = 1; reached < cluster_.node_count(); reached *= count + 1) {
                ++rounds;
            }
            return rounds * std::max(network_.start_up_ns, count * network_.message_gap_ns);
        };
        return *std::ranges::min_element(counts_, std::ranges::less{}, time);
    }

    /// So many leaders, and as many pieces as now or, up or down the tree of nodes, any number.
    void add_in_pieces(std::vector<Candidate>& list, Scheme scheme, int leaders) const {
        scheme.leaders = leaders;
        add(list, scheme);
        for (const std::uint32_t pieces : nodes::numbers_of_pieces) {
            if (goes_up_or_down()) {
                scheme.pieces = pieces;
                add(list, scheme);
            }
        }
    }

    /// Folding instead of doubling, a chain instead of a tree, or the other way round.
    [[nodiscard]] Exchange other_exchange(Exchange exchange) const {
        switch (exchange) {
        case Exchange::doubling: return Exchange::folding;
        case Exchange::folding: return Exchange::doubling;
        case Exchange::ring: return goes_up_or_down() ? Exchange::binomial : exchange;
        default: return goes_up_or_down() ? Exchange::ring : exchange;
        }
    }

    const Cluster& cluster_;
    Network network_; // for the closed forms
    const PlanRequest& request_;
    nodes::Layout layout_;
    std::vector<int> counts_;
};

} // namespace

bool is_for(const PlanRequest& request, const nodes::Layout& layout, const nodes::Scheme& scheme) {
    return (request.pull || scheme.inside != Inside::shared) &&
           (!request.ordered || nodes::keeps_order(request.op, scheme.roles)) &&
           nodes::applies(request.op, layout, scheme, request.bytes);
}

std::optional<Found> find_plan(const Cluster& cluster, const PlanRequest& request,
                               const Effort& effort) {
    return Search(OnCluster(cluster, request), request, effort).run();
}

} // namespace tune

int leaders_by_formula(const Network& network, int nodes, int ranks, std::uint64_t bytes,
                       bool ring) {
    const double by_rate =
        network.message_gap_ns > 0 ? network.start_up_ns / network.message_gap_ns : tune::never;
    const double by_link = network.node_gbs / network.stream_gbs;
    double best = by_link; // Every number from here to by_rate is as good.
    if (by_link > by_rate) {
        const double rounds = ring ? 1 : std::max(1.0, std::log2(nodes));
        const double hops = ring ? 1 : nodes - 1;
        const double volume = hops * ranks * static_cast<double>(bytes) / network.stream_gbs;
        best = std::clamp(std::sqrt(volume / (network.message_gap_ns * rounds)), by_rate, by_link);
    }
    return static_cast<int>(std::lround(std::clamp(best, 1.0, static_cast<double>(ranks))));
}

std::vector<std::string> scheme_names(const Cluster& cluster, const PlanRequest& request) {
    const PlanRequest full = tune::completed(cluster, request);
    std::vector<std::string> names;
    for (const tune::Candidate& candidate : tune::OnCluster(cluster, full).all()) {
        names.push_back(tune::name_of(candidate));
    }
    return names;
}

} // namespace corymb
