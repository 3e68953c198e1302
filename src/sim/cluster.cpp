// SPDX-License-Identifier: Apache-2.0
// Replay on several nodes. Within a node as on one machine; between nodes, messages share the links
// of the two nodes in the order in which they come to them, so events are taken in order of time.
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/shape.hpp"
#include "plan/step_kind.hpp"
#include "sim/makespan.hpp"
#include "sim/replay.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {

namespace {

constexpr double without_limit = std::numeric_limits<double>::infinity();

using plan::no_step;
using plan::Stage;
using plan::StepNumber;

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

/// Charges of each rank's machine.
class Nodes {
public:
    Nodes(const Cluster& cluster, std::uint64_t bytes) : kind_(at(cluster.size())) {
        const std::vector<NodePlace> places = cluster.places();
        const std::vector<int> kind_of_node = cluster.kind_of_node();
        for (std::size_t rank = 0; rank < places.size(); ++rank) {
            node_.push_back(places[rank].node);
            kind_[rank] = kind_of_node[at(places[rank].node)];
        }
        seats_.resize(cluster.kinds.size());
        for (std::size_t kind = 0; kind < cluster.kinds.size(); ++kind) {
            for (std::size_t rank = 0; rank < places.size(); ++rank) {
                seats_[kind].push_back(at(kind_[rank]) == kind ? places[rank].pu : 0);
            }
            charges_.emplace_back(cluster.kinds[kind].machine, seats_[kind], bytes);
        }
    }
    [[nodiscard]] const sim::Charges& of(Rank rank) const noexcept {
        return charges_[at(kind_[at(rank)])];
    }
    [[nodiscard]] int node(Rank rank) const noexcept { return node_[at(rank)]; }

private:
    std::vector<int> node_, kind_;
    std::vector<std::vector<int>> seats_; // by kind: PU of each rank
    std::vector<sim::Charges> charges_;
};

/// The charges of a node's network, and the times when its link is free again, one for each
/// direction.
struct Link {
    Network network;
    double out = 0;
    double in = 0;
};

/// Replays a plan over nodes. Only messages through links are ordered by time: all other steps take
/// equal times in whatever order they are visited, so each rank goes on alone as far as it can. A
/// waiting rank is taken up again by the step or the message that it waits for.
template <class Runs>
class ClusterReplay {
public:
    ClusterReplay(const plan::Matching& matching, const Nodes& nodes, const Cluster& cluster,
                  std::uint64_t bytes, bool with_activities, const Runs& runs)
        : matching_(matching), plan_(matching.plan()), nodes_(nodes), bytes_(bytes), runs_(runs),
          replay_(matching, nodes, bytes, with_activities, runs), links_(links_of(cluster)),
          next_(plan_.steps.size(), 0), has_acted_(plan_.steps.size(), false),
          waiting_(plan_.steps.size()), arrived_(matching.step_count(), -1) {}

    /// Nothing, once that takes longer than `limit_ns`.
    std::optional<Timeline> run(double limit_ns) && {
        for (Rank rank = 0; rank < plan_.size(); ++rank) {
            awake_.push_back(plan_.size() - 1 - rank);
        }
        while (go_on(limit_ns) && !events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            is_late_ = event.time > limit_ns;
            if (event.message != no_step) {
                arrive(event);
            } else {
                send_far(event.rank, event.time);
            }
        }
        if (is_late_) {
            return std::nullopt;
        }
        for (Rank rank = 0; rank < plan_.size(); ++rank) {
            if (next_[at(rank)] < plan_.steps[at(rank)].size()) {
                throw Error(Errc::invalid_plan, "rank " + std::to_string(rank) +
                                                    " waits for ever in step " +
                                                    std::to_string(next_[at(rank)]));
            }
        }
        return std::move(replay_).timeline();
    }

private:
    static std::vector<Link> links_of(const Cluster& cluster) {
        std::vector<Link> links;
        for (const int number : cluster.network_of_node()) {
            links.push_back({cluster.networks[at(number)]});
        }
        return links;
    }
    struct Event {
        double time = 0;
        Rank rank = -1;
        StepNumber message = no_step; // that arrives, or none: the rank sends its next one
        bool operator>(const Event& other) const {
            return std::tie(time, rank, message) > std::tie(other.time, other.rank, other.message);
        }
    };

    [[nodiscard]] bool is_far(const Step& step, Rank rank) const {
        return plan::has_peer(step.kind) && nodes_.node(rank) != nodes_.node(step.peer);
    }

    /// All that can be done before something goes through a link. False once that is too late.
    bool go_on(double limit_ns) {
        while (!awake_.empty() && !is_late_) {
            const Rank rank = awake_.back();
            awake_.pop_back();
            while (advance(rank)) {
                is_late_ = is_late_ || replay_.clock(rank) > limit_ns;
            }
        }
        return !is_late_;
    }

    /// Does one step. False: the rank is at its end, has to wait, or uses its node's link next.
    bool advance(Rank rank) {
        std::uint32_t& next = next_[at(rank)];
        if (next == plan_.steps[at(rank)].size()) {
            return false;
        }
        const StepNumber number = matching_.first_step(rank) + next;
        const Step& step = matching_.step(number);
        if (const Rank unmet = waits_for(number, step, rank); unmet >= 0) {
            waiting_[at(unmet)].push_back(rank);
            return false;
        }
        if (is_far(step, rank)) {
            if (plan::is_sending(step.kind)) {
                const double begin =
                    runs_.late_begin(rank, replay_.clock(rank), nodes_.of(rank).step_overhead());
                events_.push({begin, rank, no_step});
                return false;
            }
            receive_far(number, step, rank);
        } else {
            if (!has_acted_[at(rank)]) {
                replay_.perform(number);
                has_acted_[at(rank)] = matching_.is_rendezvous(number);
                if (has_acted_[at(rank)]) {
                    wake(rank);
                    return true;
                }
            }
            has_acted_[at(rank)] = false;
            replay_.complete(number);
        }
        ++next;
        wake(rank);
        return true;
    }

    [[nodiscard]] bool is_met(const plan::Need& need) const {
        const Rank rank = matching_.rank_of(need.step);
        return plan::half_steps(next_[at(rank)],
                                has_acted_[at(rank)] ? Stage::acted : Stage::reached) >=
               plan::half_steps(matching_.index_of(need.step), need.stage);
    }

    /// A rank that has to move before the step can act, or -1.
    [[nodiscard]] Rank waits_for(StepNumber number, const Step& step, Rank rank) const {
        if (is_far(step, rank)) {
            check_far(number, step, rank);
            const bool is_there =
                !plan::is_receiving(step.kind) || arrived_[matching_.partner(number)] >= 0;
            return is_there ? -1 : rank;
        }
        if (step.via == Mechanism::network) {
            refuse(number, rank, "goes via the network, but its peer is on the same node");
        }
        const bool has_acted = has_acted_[at(rank)];
        if (has_acted && fits_channel(step)) {
            return -1;
        }
        const plan::Need unmet = plan::unmet_need(
            matching_, number, has_acted, [this](const plan::Need& need) { return is_met(need); });
        return unmet.step == no_step ? -1 : matching_.rank_of(unmet.step);
    }

    /// Whether the channel holds the message whole: then the sender goes on by itself, however late
    /// the receiver is.
    [[nodiscard]] bool fits_channel(const Step& step) const {
        return plan::bytes_of(plan_, step.from, bytes_) <= plan_.cell_slots * cell_bytes;
    }

    void check_far(StepNumber number, const Step& step, Rank rank) const {
        const bool notifies = step.kind == StepKind::signal || step.kind == StepKind::wait;
        if (step.via != Mechanism::network && !(notifies && step.via == Mechanism::none)) {
            refuse(number, rank, "its peer is on another node, which only the network reaches");
        }
    }
    [[noreturn]] void refuse(StepNumber number, Rank rank, const std::string& what) const {
        throw Error(Errc::invalid_plan, "rank " + std::to_string(rank) + ", step " +
                                            std::to_string(matching_.index_of(number)) + ": " +
                                            what);
    }

    [[nodiscard]] double bytes_of(const Blocks& blocks) const {
        return static_cast<double>(plan::bytes_of(plan_, blocks, bytes_));
    }
    /// How long a message keeps a node's link busy.
    static double occupation(const Link& link, double bytes) {
        return std::max(link.network.message_gap_ns, bytes / link.network.node_gbs);
    }

    void send_far(Rank rank, double begin) {
        const StepNumber number = matching_.first_step(rank) + next_[at(rank)];
        const Step& step = matching_.step(number);
        const double end = begin + nodes_.of(rank).step_overhead();
        const double bytes = bytes_of(step.from);
        Link& link = links_[at(nodes_.node(rank))];
        const double leaves = std::max(end, link.out);
        link.out = leaves + occupation(link, bytes);
        replay_.place(number, begin, end, leaves);
        arrived_[number] = -2; // under way
        const Link& there = links_[at(nodes_.node(step.peer))];
        const double start_up = network_between(link.network, there.network).start_up_ns;
        events_.push({leaves + start_up, rank, number});
        ++next_[at(rank)];
        awake_.push_back(rank);
        wake(rank);
    }

    /// The first byte is at the receiving node.
    void arrive(const Event& event) {
        const Step& step = matching_.step(event.message);
        const double bytes = bytes_of(step.from);
        Link& link = links_[at(nodes_.node(step.peer))];
        link.in = std::max(event.time, link.in) + occupation(link, bytes);
        const Link& sender = links_[at(nodes_.node(event.rank))];
        const double stream_gbs = network_between(sender.network, link.network).stream_gbs;
        arrived_[event.message] =
            std::max(link.in - link.network.message_gap_ns, event.time + bytes / stream_gbs);
        wake(step.peer);
    }

    void receive_far(StepNumber number, const Step& step, Rank rank) {
        const double there = arrived_[matching_.partner(number)];
        const double begin = runs_.awake(rank, std::max(replay_.clock(rank), there));
        const sim::Charges& charges = nodes_.of(rank);
        const auto bytes = plan::bytes_of(plan_, step.to, bytes_);
        const double folding = plan::is_folding(step.kind) ? charges.copying(bytes) : 0;
        const double noted = runs_.after(rank, begin, charges.step_overhead());
        replay_.place(number, begin, runs_.after(rank, noted, folding), begin);
    }

    /// Ranks that wait for this one look again.
    void wake(Rank rank) {
        std::vector<Rank>& waiters = waiting_[at(rank)];
        awake_.insert(awake_.end(), waiters.begin(), waiters.end());
        waiters.clear();
    }

    const plan::Matching& matching_;
    const Plan& plan_;
    const Nodes& nodes_;
    std::uint64_t bytes_;
    const Runs& runs_;
    sim::Replay<Nodes, Runs> replay_;
    std::vector<Link> links_;
    std::vector<std::uint32_t> next_;        // by rank: step that it is at
    std::vector<bool> has_acted_;            // by rank: that step has, but is not complete
    std::vector<std::vector<Rank>> waiting_; // by rank: the ranks that wait for it
    std::vector<double> arrived_;            // by sending step
    std::vector<Rank> awake_;                // may be able to go on
    bool is_late_ = false;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

/// A plan on the nodes of a cluster, for any number of replays.
class OnNodes {
public:
    OnNodes(const Plan& plan, const Cluster& cluster, std::uint64_t bytes)
        : cluster_((check(plan, cluster, bytes), cluster)), bytes_(bytes), matching_(plan),
          nodes_(cluster, bytes) {}

    /// Nothing, once that takes longer than `limit_ns`.
    template <class Runs>
    [[nodiscard]] std::optional<Timeline> replay(const Runs& runs, bool with_activities,
                                                 double limit_ns) const {
        return ClusterReplay(matching_, nodes_, cluster_, bytes_, with_activities, runs)
            .run(limit_ns);
    }
    [[nodiscard]] sim::Interruptions interruptions(const Noise& noise, std::uint64_t number) const {
        return {noise, matching_.plan().size(), number, 1};
    }

private:
    static void check(const Plan& plan, const Cluster& cluster, std::uint64_t bytes) {
        cluster.check();
        if (plan.size() != cluster.size()) {
            throw Error(Errc::invalid_argument,
                        "the cluster has " + std::to_string(cluster.size()) +
                            " ranks, but the plan " + std::to_string(plan.size()));
        }
        plan::check_shape(plan);
        if (plan.op != Collective::barrier && bytes > plan.bytes_max) {
            throw Error(Errc::invalid_argument, "the payload has " + std::to_string(bytes) +
                                                    " bytes, but the plan is for " +
                                                    std::to_string(plan.bytes_max) + " at most");
        }
    }

    const Cluster& cluster_;
    std::uint64_t bytes_;
    plan::Matching matching_;
    Nodes nodes_;
};

} // namespace

Timeline simulate(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                  bool with_activities, const Noise& noise) {
    noise.check();
    const OnNodes ranks(plan, cluster, bytes);
    Timeline timeline =
        noise.present()
            ? *ranks.replay(ranks.interruptions(noise, 0), with_activities, without_limit)
            : *ranks.replay(sim::undisturbed, with_activities, without_limit);
    timeline.simulated_on = cluster.name;
    return timeline;
}

double makespan_within(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                       double limit_ns) {
    const auto timeline = OnNodes(plan, cluster, bytes).replay(sim::undisturbed, false, limit_ns);
    return timeline && timeline->makespan <= limit_ns ? timeline->makespan : without_limit;
}

NoisyReplay noisy_replay(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                         const Noise& noise) {
    sim::check_present(noise);
    const auto ranks = std::make_shared<const OnNodes>(plan, cluster, bytes);
    return [ranks, &noise](std::uint64_t number) {
        return ranks->replay(ranks->interruptions(noise, number), false, without_limit)->makespan;
    };
}

} // namespace corymb
