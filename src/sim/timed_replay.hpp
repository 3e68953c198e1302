// SPDX-License-Identifier: Apache-2.0
// Replay in the order of time, for ranks that share something: messages between nodes the links of
// the two nodes, in the order in which they come to them, and copies the parts of machines. All
// other steps are as in Replay.
#pragma once

#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/step_kind.hpp"
#include "sim/replay.hpp"
#include "sim/shared_copies.hpp"

#include <corymb/cluster.hpp>
#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::sim {

using plan::Stage;

/// The charges of a node's network, and the times when its link is free again, one for each
/// direction.
struct Link {
    Network network;
    double out = 0;
    double in = 0;
};

/// Replays a plan in the order of time. Only messages through links and, with `shared`, copies are
/// ordered: all other steps take equal times in whatever order they are visited, so each rank goes
/// on alone as far as it can. A waiting rank is taken up again by the step, the message or the end
/// of the copy that it waits for.
/// `Costs` has `of(rank)`, the Charges of the rank's machine, and `node(rank)`. `Runs` is as for
/// Replay.
template <class Costs, class Runs>
class TimedReplay {
public:
    /// `networks`: of each node; none if all ranks are on one machine. `shared` may be null.
    TimedReplay(const plan::Matching& matching, const Costs& costs,
                std::span<const Network> networks, std::uint64_t bytes, bool with_activities,
                const Runs& runs, SharedCopies* shared)
        : matching_(matching), plan_(matching.plan()), costs_(costs), bytes_(bytes), runs_(runs),
          shared_(shared),
          replay_(matching, costs, bytes, with_activities, runs, shared != nullptr),
          next_(plan_.steps.size(), 0), has_acted_(plan_.steps.size(), false),
          waiting_(plan_.steps.size()), pending_(shared != nullptr ? plan_.steps.size() : 0),
          arrived_(networks.empty() ? 0 : matching.step_count(), -1) {
        for (const Network& network : networks) {
            links_.push_back({network});
        }
    }

    /// Nothing, once that takes longer than `limit_ns`.
    std::optional<Timeline> run(double limit_ns) && {
        for (Rank rank = 0; rank < plan_.size(); ++rank) {
            awake_.push_back(plan_.size() - 1 - rank);
        }
        while (go_on(limit_ns)) {
            const double copies = shared_ != nullptr ? shared_->next() : never;
            if (events_.empty() ? copies < never : copies <= events_.top().time) {
                now_ = copies;
                end_copies();
            } else if (!events_.empty()) {
                const Event event = events_.top();
                events_.pop();
                now_ = event.time;
                act(event);
            } else {
                break;
            }
            is_late_ = now_ > limit_ns;
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
    static constexpr double never = std::numeric_limits<double>::infinity();

    static std::size_t at(int number) noexcept { return static_cast<std::size_t>(number); }

    struct Event {
        double time = 0;
        Rank rank = -1;
        StepNumber message = no_step; // that arrives, or none: the rank does its next step
        bool operator>(const Event& other) const {
            return std::tie(time, rank, message) > std::tie(other.time, other.rank, other.message);
        }
    };

    void act(const Event& event) {
        if (event.message != no_step) {
            arrive(event);
        } else if (is_far(matching_.step(step_of(event.rank)), event.rank)) {
            send_far(event.rank, event.time);
        } else {
            begin_copy(event.rank);
        }
    }

    [[nodiscard]] StepNumber step_of(Rank rank) const {
        return matching_.first_step(rank) + next_[at(rank)];
    }

    [[nodiscard]] bool is_far(const Step& step, Rank rank) const {
        return plan::has_peer(step.kind) && costs_.node(rank) != costs_.node(step.peer);
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

    /// Does one step. False: the rank is at its end, has to wait, uses its node's link next, or has
    /// to copy.
    bool advance(Rank rank) {
        std::uint32_t& next = next_[at(rank)];
        if (next == plan_.steps[at(rank)].size()) {
            return false;
        }
        const StepNumber number = step_of(rank);
        const Step& step = matching_.step(number);
        if (const Rank unmet = waits_for(number, step, rank); unmet >= 0) {
            waiting_[at(unmet)].push_back(rank);
            return false;
        }
        if (is_far(step, rank)) {
            if (plan::is_sending(step.kind)) {
                const double begin =
                    runs_.late_begin(rank, replay_.clock(rank), costs_.of(rank).step_overhead());
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
            if (shared_ != nullptr && copies(number, rank)) {
                return false;
            }
            has_acted_[at(rank)] = false;
            if (shared_ != nullptr) {
                replay_.complete_slower(number, pending_[at(rank)], 0);
            } else {
                replay_.complete(number);
            }
        }
        ++next;
        wake(rank);
        return true;
    }

    /// Whether the step has a copy that others may slow down: then that begins in its time.
    bool copies(StepNumber number, Rank rank) {
        auto& pending = pending_[at(rank)];
        pending = replay_.pending(number);
        const Copy& copy = pending.copy;
        if (!(copy.time > 0) || copy.begin + copy.time <= now_) {
            return false; // Streams may have come to their end while their receiver was busy.
        }
        events_.push({std::max(copy.begin, now_), rank, no_step});
        return true;
    }

    /// If a copy began in the past, its rest counts.
    void begin_copy(Rank rank) {
        const Copy& copy = pending_[at(rank)].copy;
        const double end = copy.begin + copy.time;
        const double rest = std::min(1.0, (end - now_) / copy.time);
        shared_->start(now_, end, step_of(rank), copy.from, copy.to,
                       rest * static_cast<double>(copy.bytes));
    }

    void end_copies() {
        over_.clear();
        shared_->go_on(over_);
        for (const StepNumber number : over_) {
            const Rank rank = matching_.rank_of(number);
            if (is_far(matching_.step(number), rank)) {
                arrived_[number] = now_;
                wake(matching_.step(number).peer);
                continue;
            }
            const auto& pending = pending_[at(rank)];
            const double alone = pending.copy.begin + pending.copy.time;
            has_acted_[at(rank)] = false;
            replay_.complete_slower(number, pending, std::max(0.0, now_ - alone));
            ++next_[at(rank)];
            awake_.push_back(rank);
            wake(rank);
        }
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
        if (step.via == Mechanism::network && !links_.empty()) {
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
        const StepNumber number = step_of(rank);
        const Step& step = matching_.step(number);
        const double end = begin + costs_.of(rank).step_overhead();
        const double bytes = bytes_of(step.from);
        Link& link = links_[at(costs_.node(rank))];
        const double leaves = std::max(end, link.out);
        link.out = leaves + occupation(link, bytes);
        replay_.place(number, begin, end, leaves);
        arrived_[number] = -2; // under way
        const Link& there = links_[at(costs_.node(step.peer))];
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
        Link& link = links_[at(costs_.node(step.peer))];
        link.in = std::max(event.time, link.in) + occupation(link, bytes);
        const Link& sender = links_[at(costs_.node(event.rank))];
        const double stream_gbs = network_between(sender.network, link.network).stream_gbs;
        const double there =
            std::max(link.in - link.network.message_gap_ns, event.time + bytes / stream_gbs);
        if (shared_ != nullptr && bytes > line_payload_bytes) {
            shared_->land(event.time, std::max(event.time, there), event.message, step.peer, bytes);
            return;
        }
        arrived_[event.message] = there;
        wake(step.peer);
    }

    void receive_far(StepNumber number, const Step& step, Rank rank) {
        const double there = arrived_[matching_.partner(number)];
        const double begin = runs_.awake(rank, std::max(replay_.clock(rank), there));
        const Charges& charges = costs_.of(rank);
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
    const Costs& costs_;
    std::uint64_t bytes_;
    const Runs& runs_;
    SharedCopies* shared_;
    Replay<Costs, Runs> replay_;
    std::vector<Link> links_;
    std::vector<std::uint32_t> next_;        // by rank: step that it is at
    std::vector<bool> has_acted_;            // by rank: that step has, but is not complete
    std::vector<std::vector<Rank>> waiting_; // by rank: the ranks that wait for it
    std::vector<typename Replay<Costs, Runs>::Pending>
        pending_;                 // by rank: the step that it copies in
    std::vector<double> arrived_; // by sending step
    std::vector<StepNumber> over_;
    double now_ = 0;
    std::vector<Rank> awake_; // may be able to go on
    bool is_late_ = false;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

} // namespace corymb::sim
