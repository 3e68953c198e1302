// SPDX-License-Identifier: Apache-2.0
// Chooses a scheme for several nodes: a closed form says where to begin, simulation decides.
#include "machine/model/networks.hpp"
#include "plan/limits.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/places.hpp"
#include "sim/makespan.hpp"
#include "tune/cluster_search.hpp"
#include "tune/cluster_seats.hpp"
#include "tune/cluster_work.hpp"
#include "tune/decided.hpp"
#include "tune/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace corymb {

namespace {

using nodes::Exchange;
using nodes::Inside;
using nodes::Roles;
using nodes::Scheme;

constexpr double never = std::numeric_limits<double>::infinity();

std::vector<int> nodes_of(const Cluster& cluster) {
    std::vector<int> nodes;
    for (const NodePlace& place : cluster.places()) {
        nodes.push_back(place.node);
    }
    return nodes;
}

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

class Search {
public:
    Search(const Cluster& cluster, const PlanRequest& request, const Serves& serves)
        : cluster_(cluster), nodes_(nodes_of(cluster)), network_(slowest_network(cluster)),
          request_(request), serves_(serves),
          layout_(nodes_, message_ns_of_nodes(cluster, request.bytes),
                  seats_of(cluster, cluster.places())),
          counts_(leader_counts(most_ranks(cluster))) {}

    [[nodiscard]] std::vector<Scheme> all() const {
        std::vector<Scheme> schemes = nodes::all_schemes(counts_);
        if (layout_.seated) {
            const std::vector<Scheme> as_numbered = schemes;
            for (Scheme scheme : as_numbered) {
                scheme.near = true;
                schemes.push_back(scheme);
            }
        }
        const auto is_left_out = [this](const Scheme& scheme) {
            return (scheme.roles == Roles::runs && !request_.ordered) || !does(scheme);
        };
        std::erase_if(schemes, is_left_out);
        return schemes;
    }

    void try_all() {
        for (const Scheme& scheme : all()) {
            static_cast<void>(predicted(scheme));
        }
    }

    void search() {
        search_among_few();
        if (ranked().empty()) { // No first try has a plan for this request.
            try_all();
        }
    }

    void try_one(const Scheme& scheme) { static_cast<void>(predicted(scheme)); }

    /// The best plan, proven if the request says so.
    [[nodiscard]] SchemeChoice choice() {
        const std::vector<Tried> all = ranked();
        if (all.empty()) {
            throw Error(Errc::invalid_argument,
                        "there is no plan for " + std::string(to_string(request_.op)) +
                            (request_.ordered ? " in the order of the ranks" : "") +
                            (request_.algorithm == "best" ? "" : " by " + request_.algorithm) +
                            " on this cluster with this payload");
        }
        const Tried& best = all.front();
        SchemeChoice choice{{plan_of(best.scheme), request_, best.time, {}, {}}, best.scheme, {}};
        if (request_.proven) {
            check_plan(choice.plan, request_.ordered);
        }
        for (const Tried& other : tried_) {
            if (other.time < never) {
                choice.portfolio.emplace_back(name_of(other.scheme), other.time);
                choice.tried.emplace_back(other.time, other.scheme);
            }
        }
        return choice;
    }

private:
    void search_among_few() {
        const bool has_parts_for_all =
            request_.op == Collective::alltoall || request_.op == Collective::reduce_scatter;
        const bool has_many =
            request_.op == Collective::allgather || request_.op == Collective::allreduce;
        if (goes_up_or_down()) {
            follow(first_tries_up_or_down());
            return;
        }
        if (!has_many && !(has_parts_for_all && are_many())) {
            try_all(); // There are few schemes.
            return;
        }
        follow(has_many ? first_tries() : first_tries_of_parts());
    }

    /// Tries `starts`, and improves on each for as long as that helps.
    void follow(std::vector<Scheme> starts) {
        std::ranges::stable_sort(starts, std::ranges::less{},
                                 [this](const Scheme& scheme) { return predicted(scheme); });
        for (const Scheme& start : starts) {
            improve(start);
        }
    }

    [[nodiscard]] bool goes_up_or_down() const {
        return request_.op == Collective::broadcast || request_.op == Collective::reduce;
    }
    /// Schemes with one leader or as many as there are; others are tried where these do well.
    [[nodiscard]] std::vector<Scheme> first_tries_up_or_down() const {
        std::vector<Scheme> schemes = all();
        std::erase_if(schemes, [this](const Scheme& scheme) {
            return scheme.leaders > 1 && scheme.leaders != counts_.back();
        });
        return schemes;
    }

    struct Tried {
        Scheme scheme;
        double time = never;
        double work_ns = 0; ///< Work of all ranks together, about.
        int streams = 1;    ///< Streams of long data through a node's link at once.
    };

    /// All schemes that have a plan, the fastest first. Schemes that are nearly as fast as the best
    /// come before all others, ordered by streams, then by work. If one stream fills a link, two
    /// hold each other up. Work costs energy, and time where ranks have no CPU each, or the
    /// processor carries the messages.
    [[nodiscard]] std::vector<Tried> ranked() const {
        std::vector<Tried> all;
        std::ranges::copy_if(tried_, std::back_inserter(all),
                             [](const Tried& tried) { return tried.time < never; });
        std::ranges::stable_sort(all, std::ranges::less{}, &Tried::time);
        const auto far = std::ranges::find_if(
            all, [&](const Tried& tried) { return tried.time > tune::nearly * all.front().time; });
        const auto fastest = all.empty() ? Scheme{} : all.front().scheme;
        std::ranges::stable_sort(all.begin(), far, std::ranges::less{}, [](const Tried& tried) {
            return std::pair(tried.streams, tried.work_ns);
        });
        if (!all.empty() && tune::nearly.decides(all.front().scheme != fastest)) {
            tune::step_work_ns.note();
            tune::copy_work_ns.note();
        }
        return all;
    }

    [[nodiscard]] bool are_many() const {
        return tune::parts_all_tried.decides(cluster_.size() > tune::parts_all_tried);
    }

    [[nodiscard]] bool passes_nothing_on() const noexcept {
        return request_.keeps_parts && !plan::knows_all_lengths(request_.op);
    }

    [[nodiscard]] bool does(const Scheme& scheme) const {
        const bool may_pass_on = scheme.exchange != Exchange::direct;
        if ((!request_.pull && scheme.inside == Inside::shared) ||
            (passes_nothing_on() && may_pass_on && are_many())) {
            return false;
        }
        return (!request_.ordered || nodes::keeps_order(request_.op, scheme.roles)) &&
               nodes::applies(request_.op, layout_, scheme, request_.bytes);
    }
    void add(std::vector<Scheme>& schemes, Scheme scheme) const {
        scheme.leaders = scheme.roles == Roles::flat ? 1 : scheme.leaders;
        scheme.inside = request_.pull ? scheme.inside : Inside::messages;
        if (does(scheme) && std::ranges::find(schemes, scheme) == schemes.end()) {
            schemes.push_back(scheme);
        }
    }

    [[nodiscard]] Plan plan_of(const Scheme& scheme) const {
        return nodes::plan_for(request_.op, layout_, scheme, request_.bytes, request_.root);
    }

    /// Simulated once; infinite where there is no such plan.
    double predicted(const Scheme& scheme) {
        if (const auto known = known_.find(scheme); known != known_.end()) {
            return known->second;
        }
        Tried tried{scheme};
        const double limit = request_.exhaustive ? never : tune::hopeless * best_;
        if (does(scheme) && !tune::hopeless.decides(least_link_ns(scheme) > limit)) {
            const Plan plan = plan_of(scheme);
            if (!tune::hopeless.decides(busiest_link_ns(plan, cluster_, nodes_, request_.bytes) >
                                        limit) &&
                !(request_.one_block && plan.block_count > 1) && (!serves_ || serves_(plan))) {
                tried.time = makespan_within(plan, cluster_, request_.bytes, limit);
                static_cast<void>(tune::hopeless.decides(tried.time > limit));
            }
            // Only the schemes near the best are compared by streams and work.
            if (tried.time <= tune::nearly * best_ && tried.time < never) {
                tried.streams = goes_up_or_down() ? scheme.leaders : 1;
                tried.work_ns = work_ns(plan, nodes_, request_.bytes, network_);
            }
        }
        best_ = std::min(best_, tried.time);
        known_[scheme] = tried.time;
        tried_.push_back(tried);
        return tried.time;
    }

    [[nodiscard]] int leaders(bool ring) const {
        const int wanted = leaders_by_formula(network_, cluster_.node_count(), most_ranks(cluster_),
                                              request_.bytes, ring);
        return *std::ranges::min_element(counts_, std::ranges::less{},
                                         [wanted](int count) { return std::abs(count - wanted); });
    }

    /// Each kind of exchange once, with the leaders that the closed forms say.
    [[nodiscard]] std::vector<Scheme> first_tries() const {
        std::vector<Scheme> schemes;
        const Inside shared = Inside::shared;
        for (const Exchange exchange : {Exchange::doubling, Exchange::bruck}) {
            add(schemes, {Roles::lanes, leaders(false), exchange, shared, false});
            add(schemes, {Roles::slices, leaders(false), exchange, shared, true});
            add(schemes, {Roles::flat, 1, exchange, shared, false});
        }
        add(schemes, {Roles::objects, leaders_of_objects(), Exchange::bruck, shared, true});
        add(schemes, {Roles::objects, std::min(2, counts_.back()), Exchange::bruck,
                      Inside::messages, true}); // More leaders have more to tell each other.
        for (const bool early : {false, true}) {
            add(schemes, {Roles::lanes, leaders(true), Exchange::ring, shared, early});
        }
        add(schemes, {Roles::node_major, leaders(true), Exchange::ring, shared, true});
        add(schemes, {Roles::flat, 1, Exchange::ring, shared, false});
        for (const Inside inside : {Inside::messages, shared}) { // The least work.
            add(schemes, {Roles::lanes, 1, Exchange::doubling, inside, false});
        }
        if (request_.ordered) {
            for (const int count : {1, leaders(false)}) {
                add(schemes, {Roles::runs, count, Exchange::doubling, shared, false});
            }
        }
        return schemes;
    }

    /// Each kind of exchange with the most leaders; a combining operation also goes by one leader.
    /// Schemes of few messages come first, because others may be hopeless beside them.
    [[nodiscard]] std::vector<Scheme> first_tries_of_parts() const {
        std::vector<Scheme> schemes;
        const bool combines = is_reduction(request_.op);
        const Roles roles = combines && request_.ordered ? Roles::runs : Roles::lanes;
        for (const Exchange exchange : {Exchange::bruck, Exchange::doubling, Exchange::binomial,
                                        Exchange::ring, Exchange::direct}) {
            add(schemes, {roles, counts_.back(), exchange, Inside::shared, false});
            if (combines) {
                add(schemes, {roles, 1, exchange, Inside::shared, false});
            }
            add(schemes, {Roles::flat, 1, exchange, Inside::shared, false});
        }
        return schemes;
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

    /// More or fewer leaders, then the other choices, for as long as that helps.
    void improve(Scheme scheme) {
        double best = predicted(scheme);
        for (bool better = true; better;) {
            better = false;
            for (const Scheme& other : neighbours(scheme)) {
                if (const double time = predicted(other); time < best) {
                    best = time;
                    scheme = other;
                    better = true;
                }
            }
        }
    }

    /// The next lower and the next higher number of leaders.
    [[nodiscard]] std::vector<int> counts_beside(int leaders) const {
        std::vector<int> beside;
        const auto place = std::ranges::find(counts_, leaders);
        if (place != counts_.end() && place != counts_.begin()) {
            beside.push_back(*std::prev(place));
        }
        if (place != counts_.end() && std::next(place) != counts_.end()) {
            beside.push_back(*std::next(place));
        }
        return beside;
    }

    /// Other numbers of pieces to try, for operations that go up or down the tree of nodes.
    [[nodiscard]] std::vector<std::uint32_t> pieces_beside(const Scheme& scheme) const {
        std::vector<std::uint32_t> beside;
        for (const std::uint32_t pieces : nodes::numbers_of_pieces) {
            if (goes_up_or_down() && pieces != scheme.pieces) {
                beside.push_back(pieces);
            }
        }
        return beside;
    }

    [[nodiscard]] std::vector<Scheme> neighbours(const Scheme& scheme) const {
        std::vector<Scheme> list;
        Scheme other = scheme;
        for (const int leaders : counts_beside(scheme.leaders)) {
            other.leaders = leaders;
            add(list, other);
            for (const std::uint32_t pieces : pieces_beside(scheme)) {
                other.pieces = pieces;
                add(list, other);
            }
            other.pieces = scheme.pieces;
        }
        other = scheme;
        other.early = !scheme.early;
        add(list, other);
        other = scheme;
        other.near = !scheme.near;
        add(list, other);
        other = scheme;
        other.inside = scheme.inside == Inside::shared ? Inside::messages : Inside::shared;
        add(list, other);
        other = scheme;
        if (scheme.exchange == Exchange::doubling || scheme.exchange == Exchange::folding) {
            const bool folds = scheme.exchange == Exchange::folding;
            other.exchange = folds ? Exchange::doubling : Exchange::folding;
            add(list, other);
        } else if (goes_up_or_down()) {
            const bool is_chain = scheme.exchange == Exchange::ring;
            other.exchange = is_chain ? Exchange::binomial : Exchange::ring;
            add(list, other);
        }
        for (const std::uint32_t pieces : pieces_beside(scheme)) {
            other = scheme;
            other.pieces = pieces;
            add(list, other);
        }
        for (const Roles roles : {Roles::lanes, Roles::node_major}) {
            other = scheme;
            other.roles = roles;
            add(list, other);
        }
        return list;
    }

    const Cluster& cluster_;
    std::vector<int> nodes_;
    Network network_; // for the closed forms
    const PlanRequest& request_;
    const Serves& serves_;
    nodes::Layout layout_;
    std::vector<int> counts_;
    std::map<Scheme, double> known_;
    double best_ = never;
    std::vector<Tried> tried_;
};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, what);
}

PlanRequest completed(const Cluster& cluster, PlanRequest request) {
    cluster.check();
    const std::size_t most = request.proven ? plan::rank_count_max : plan::simulated_rank_count_max;
    if (static_cast<std::size_t>(cluster.size()) > most) {
        refuse("a plan has at most " + std::to_string(most) +
               (request.proven ? " ranks if it is to be proven" : " ranks") + ", the cluster has " +
               std::to_string(cluster.size()));
    }
    if (request.size != 0 && request.size != cluster.size()) {
        refuse("a plan for " + std::to_string(request.size) + " ranks on a cluster of " +
               std::to_string(cluster.size()));
    }
    if (!request.placement.empty()) {
        refuse("a placement beside a cluster; say in its runs where ranks are");
    }
    if (request.oversubscribed || request.reproducible) {
        refuse("no plan over several nodes is for ranks that take turns on CPUs, or combines in an "
               "order of its own; ask for one machine, or without it");
    }
    if (request.root < -1 || request.root >= cluster.size()) {
        refuse("root " + std::to_string(request.root) + " is not one of the ranks 0 to " +
               std::to_string(cluster.size() - 1));
    }
    if (request.bytes >= plan::payload_bytes_max) {
        refuse("a payload of " + std::to_string(request.bytes) + " bytes is too large");
    }
    request.size = cluster.size();
    request.root = std::max(request.root, 0);
    request.bytes = request.op == Collective::barrier ? 0 : request.bytes;
    request.example_bytes = request.bytes;
    return request;
}

} // namespace

int leaders_by_formula(const Network& network, int nodes, int ranks, std::uint64_t bytes,
                       bool ring) {
    const double by_rate =
        network.message_gap_ns > 0 ? network.start_up_ns / network.message_gap_ns : never;
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

PlanChoice make_plan(const Cluster& cluster, const PlanRequest& request) {
    const Serves serves = [](const Plan& plan) {
        return keeps_parts(plan);
    };
    return choose_scheme(cluster, request, request.keeps_parts ? serves : Serves{});
}

SchemeChoice choose_scheme(const Cluster& cluster, const PlanRequest& request,
                           const Serves& serves) {
    const DecidingNumbers numbers;
    const PlanRequest full = completed(cluster, request);
    Search search(cluster, full, serves);
    if (full.algorithm != "best") {
        const auto scheme = nodes::scheme_named(full.algorithm);
        if (!scheme) {
            throw Error(Errc::unknown_name,
                        "no scheme is called \"" + full.algorithm.substr(0, 60) +
                            "\"; one is lanes/4/ring/shared/early, others are in docs/cluster.md");
        }
        search.try_one(*scheme);
    } else if (full.exhaustive) {
        search.try_all();
    } else {
        search.search();
    }
    SchemeChoice choice = search.choice();
    choice.decided = tune::decided(numbers);
    return choice;
}

std::vector<std::string> scheme_names(const Cluster& cluster, const PlanRequest& request) {
    const PlanRequest full = completed(cluster, request);
    const Serves all{};
    std::vector<std::string> names;
    for (const Scheme& scheme : Search(cluster, full, all).all()) {
        names.push_back(name_of(scheme));
    }
    return names;
}

} // namespace corymb
