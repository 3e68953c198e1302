// SPDX-License-Identifier: Apache-2.0
// Discrete-event replay. Ranks are sequential and no step chooses among its peers, so the time of a
// step follows from the times of the steps that it depends on, and any order of visiting them
// yields the same times: no event queue is needed.
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/shape.hpp"
#include "plan/step_kind.hpp"
#include "sim/charges.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using plan::no_step;
using plan::StepNumber;

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// A visitor of plan::Execution that gives every step its times.
class Replay {
public:
    Replay(const plan::Matching& matching, const sim::Charges& charges, std::uint64_t bytes,
           bool with_activities)
        : matching_(matching), plan_(matching.plan()), charges_(charges), bytes_(bytes),
          members_(plan_.steps.size()), available_(matching.step_count(), -1),
          finished_(matching.step_count(), 0), delay_(matching.step_count(), 0) {
        if (with_activities) {
            activities_.resize(plan_.steps.size());
            for (std::size_t rank = 0; rank < activities_.size(); ++rank) {
                activities_[rank].reserve(plan_.steps[rank].size());
            }
        }
    }

    void perform(StepNumber number) {
        const Rank rank = matching_.rank_of(number);
        const Step& step = matching_.step(number);
        Member& member = members_[at(rank)];
        begin_ = member.clock;
        if (plan::is_sending(step.kind)) {
            send(number, step, rank);
        } else if (plan::has_source(step.kind)) {
            receive(number, step, rank);
        } else if (step.kind == StepKind::publish) {
            publish(number, rank);
        } else {
            end_ = begin_ + charges_.step_overhead() + charges_.copying(bytes_of(step.to));
            member.sends_in_row = 0;
            member.receives_in_row = 0;
        }
    }

    void complete(StepNumber number) {
        const Rank rank = matching_.rank_of(number);
        Member& member = members_[at(rank)];
        if (matching_.is_rendezvous(number)) {
            finish_long_send(number);
        }
        if (!activities_.empty()) {
            activities_[at(rank)].push_back(
                {matching_.index_of(number), member.clock, begin_, end_});
        }
        member.clock = end_;
        finished_[number] = end_;
    }

    Timeline timeline() && {
        Timeline timeline;
        for (const Member& member : members_) {
            timeline.finish.push_back(member.clock);
            timeline.makespan = std::max(timeline.makespan, member.clock);
        }
        timeline.ranks = std::move(activities_);
        return timeline;
    }

private:
    struct Member {
        double clock = 0;
        double long_send_begin = 0; // of the rendezvous send that it stands in
        Rank batch_peer = -1;
        bool batch_has_one_peer = true;
        int sends_in_row = 0;
        int receives_in_row = 0;
    };

    [[nodiscard]] std::uint64_t bytes_of(const Blocks& blocks) const {
        return plan::bytes_of(plan_, blocks, bytes_);
    }

    double send_cost(Member& member, Rank rank, Rank peer) {
        ++member.sends_in_row;
        member.receives_in_row = 0;
        member.batch_has_one_peer =
            member.sends_in_row == 1 || (member.batch_has_one_peer && member.batch_peer == peer);
        member.batch_peer = peer;
        return charges_.step_overhead() +
               charges_.send(rank, peer) *
                   charges_.send_factor(rank, peer, member.sends_in_row, member.batch_has_one_peer);
    }

    void send(StepNumber number, const Step& step, Rank rank) {
        Member& member = members_[at(rank)];
        if (const StepNumber room = matching_.needs_room(number);
            room != no_step && !matching_.is_rendezvous(number)) {
            begin_ = std::max(begin_, finished_[room]);
        }
        if (step.via == Mechanism::exchange) {
            end_ = available_[number] = begin_ + charges_.step_overhead();
            member.sends_in_row = member.receives_in_row = 0;
            return;
        }
        const double started = begin_ + send_cost(member, rank, step.peer);
        if (matching_.is_rendezvous(number)) {
            member.long_send_begin = begin_;
            available_[number] = started;
            return;
        }
        const bool copies = step.via == Mechanism::cells;
        end_ = started + (copies ? charges_.copying(bytes_of(step.from)) : 0);
        available_[number] = end_;
    }

    /// Times of a message longer than a cell: both ends copy at the same pace, the receiver one
    /// cell behind. `started` is when the sender begins to copy.
    struct Stream {
        double first_cell; // when it can be taken
        double copying;
        double cell;
        bool fits; // the channel holds all of it
    };
    [[nodiscard]] Stream stream_of(StepNumber send) const {
        const std::uint64_t bytes = bytes_of(matching_.step(send).from);
        const double cell = charges_.copying(std::min<std::uint64_t>(bytes, cell_bytes));
        return {available_[send] + cell, charges_.copying(bytes), cell,
                bytes <= cell_slots * cell_bytes};
    }

    /// The sender goes on when the last cell is in the channel.
    void finish_long_send(StepNumber number) {
        const StepNumber partner = matching_.partner(number);
        const Stream stream = stream_of(number);
        begin_ = members_[at(matching_.rank_of(number))].long_send_begin;
        end_ = available_[number] + stream.copying;
        if (!stream.fits) {
            const bool received = available_[partner] >= 0;
            const double taken_from =
                received
                    ? available_[partner]
                    : std::max(members_[at(matching_.rank_of(partner))].clock, stream.first_cell);
            end_ = std::max(end_, taken_from + stream.copying -
                                      static_cast<double>(cell_slots) * stream.cell);
        }
    }

    void receive(StepNumber number, const Step& step, Rank rank) {
        Member& member = members_[at(rank)];
        const StepNumber source = matching_.partner(number);
        member.sends_in_row = 0;
        if (plan::is_reading(step.kind)) {
            read(number, step, rank);
            return;
        }
        if (step.via == Mechanism::exchange) {
            begin_ = std::max(begin_, available_[source]);
            end_ = begin_ + charges_.step_overhead() + charges_.meeting(step.peer, rank);
            member.receives_in_row = 0;
            return;
        }
        const bool streams = matching_.is_rendezvous(source);
        const Stream stream = streams ? stream_of(source) : Stream{};
        const double there = streams ? stream.first_cell : available_[source];
        member.receives_in_row = there <= begin_ ? member.receives_in_row + 1 : 1;
        begin_ = std::max(begin_, there);
        available_[number] = begin_;
        const double cost = charges_.step_overhead() +
                            charges_.receive(step.peer, rank) *
                                charges_.receive_factor(step.peer, rank, member.receives_in_row);
        end_ = begin_ + cost + charges_.copying(bytes_of(step.to));
        if (streams) {
            end_ = std::max(end_, available_[source] + stream.copying + cost + stream.cell);
        }
    }

    void read(StepNumber number, const Step& step, Rank rank) {
        const double stored = available_[matching_.partner(number)];
        const double seen =
            std::max(stored + delay_[number], begin_ + charges_.receive(step.peer, rank));
        begin_ = std::max(begin_, stored);
        end_ = seen + charges_.step_overhead() + charges_.copying(bytes_of(step.to));
        members_[at(rank)].receives_in_row = 0;
    }

    void publish(StepNumber number, Rank rank) {
        const auto readers = matching_.readers(number);
        if (const StepNumber room = matching_.needs_room(number); room != no_step) {
            for (const StepNumber reader : matching_.readers(room)) {
                begin_ = std::max(begin_, finished_[reader]);
            }
        }
        // PU numbers break ties, so that the names of ranks do not matter.
        std::vector<std::tuple<double, int, StepNumber>> by_distance;
        by_distance.reserve(readers.size());
        for (const StepNumber reader : readers) {
            const Rank peer = matching_.rank_of(reader);
            by_distance.emplace_back(charges_.receive(rank, peer), charges_.pu(peer), reader);
        }
        std::sort(by_distance.begin(), by_distance.end());
        double dearest = 0;
        double ahead = 0;
        int place = 0;
        for (const auto& [distance, pu, reader] : by_distance) {
            const Rank peer = matching_.rank_of(reader);
            delay_[reader] = charges_.publication_delay(rank, peer, ++place, ahead);
            ahead += charges_.send(rank, peer);
            dearest = std::max(dearest, charges_.send(rank, peer));
        }
        end_ = begin_ + charges_.step_overhead() + dearest;
        available_[number] = end_;
        members_[at(rank)].sends_in_row = 0;
        members_[at(rank)].receives_in_row = 0;
    }

    const plan::Matching& matching_;
    const Plan& plan_;
    const sim::Charges& charges_;
    std::uint64_t bytes_;
    std::vector<Member> members_;
    std::vector<double> available_; // by sending step: its data; by receiving step: its begin
    std::vector<double> finished_;
    std::vector<double> delay_; // by reading step
    std::vector<std::vector<Activity>> activities_;
    double begin_ = 0; // of the step being performed or completed
    double end_ = 0;
};

} // namespace

Timeline simulate(const Plan& plan, const Machine& machine, std::span<const int> placement,
                  std::uint64_t bytes, bool with_activities) {
    if (placement.size() != plan.steps.size()) {
        throw Error(Errc::invalid_argument, "placement has " + std::to_string(placement.size()) +
                                                " entries, but the plan " +
                                                std::to_string(plan.steps.size()) + " ranks");
    }
    plan::check_shape(plan);
    if (plan.op != Collective::barrier && bytes > plan.bytes_max) {
        throw Error(Errc::invalid_argument, "the payload has " + std::to_string(bytes) +
                                                " bytes, but the plan is for " +
                                                std::to_string(plan.bytes_max) + " at most");
    }
    const plan::Matching matching(plan);
    const sim::Charges charges(machine, placement, bytes);
    Replay replay(matching, charges, bytes, with_activities);
    plan::Execution(matching, replay).run();
    Timeline timeline = std::move(replay).timeline();
    timeline.simulated_on = machine.name;
    return timeline;
}

} // namespace corymb
