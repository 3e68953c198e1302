// SPDX-License-Identifier: Apache-2.0
// Discrete-event replay. Ranks are sequential and no step chooses among its peers, so the time of a
// step follows from the times of the steps that it depends on, and any order of visiting them
// yields the same times, but where messages share a network: there `places` says the times.
#pragma once

#include "plan/copies.hpp"
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/step_kind.hpp"
#include "sim/charges.hpp"
#include "sim/interruptions.hpp"

#include <corymb/simulate.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::sim {

using plan::no_step;
using plan::StepNumber;

/// The copy of a step: bytes out of the memory of one rank to another's or its own.
struct Copy {
    double begin = 0;
    double time = 0; ///< By itself. 0: the step copies nothing.
    Rank from = -1;
    Rank to = -1;
    std::uint64_t bytes = 0;
};

/// A visitor of plan::Execution that gives every step its times.
/// `Costs` has `of(rank)`: the Charges of the machine that a rank is on. `Runs` says when ranks
/// run: Undisturbed or Interruptions. If copies may be slowed down (`knows_copies`), the caller
/// asks for the copy of each step that is to be completed, and completes it by `complete_slower`.
template <class Costs, class Runs = Undisturbed>
class Replay {
public:
    Replay(const plan::Matching& matching, const Costs& charges, std::uint64_t bytes,
           bool with_activities, const Runs& runs = undisturbed, bool knows_copies = false)
        : matching_(matching), plan_(matching.plan()), charges_(charges), runs_(runs),
          bytes_(bytes), members_(plan_.steps.size()), available_(matching.step_count(), -1),
          finished_(matching.step_count(), 0), delay_(matching.step_count(), 0),
          slower_(knows_copies ? matching.step_count() : 0, 0),
          is_fresh_(matching.step_count(), false) {
        find_what_is_left_out();
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
        Member& member = members_[index(rank)];
        begin_ = member.clock;
        if (!is_left_out_.empty() && is_left_out_[number]) {
            end_ = begin_;
            return;
        }
        note_what_is_fresh(number, step, member);
        if (plan::is_sending(step.kind)) {
            send(number, step, rank);
        } else if (plan::has_source(step.kind)) {
            receive(number, step, rank);
        } else if (step.kind == StepKind::publish) {
            publish(number, rank);
        } else {
            begin_ = runs_.awake(rank, begin_);
            end_ = after(rank, begin_, charges_.of(rank).step_overhead(),
                         charges_.of(rank).copying_own(bytes_of(step.to)));
            member.sends_in_row = 0;
            member.receives_in_row = 0;
        }
    }

    void complete(StepNumber number) {
        if (matching_.is_rendezvous(number)) {
            finish_long_send(number);
        }
        conclude(number);
    }

    /// A step that can be completed, before `complete_slower`.
    struct Pending {
        double begin = 0;
        double end = 0; ///< If its copy is not slowed down.
        Copy copy{};
    };
    /// The times of the step that was performed last or, of a rendezvous send, whose receiver came.
    Pending pending(StepNumber number) {
        if (matching_.is_rendezvous(number)) {
            finish_long_send(number);
        }
        return {begin_, end_, std::exchange(copy_, {})};
    }
    /// Completes a step whose copy takes longer by `slower`.
    void complete_slower(StepNumber number, const Pending& pending, double slower) {
        begin_ = pending.begin;
        end_ = pending.end + slower;
        slower_[number] = slower;
        if (available_[number] == pending.end) {
            available_[number] = end_;
        }
        conclude(number);
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

    /// Places a step whose times follow from something else: its begin, its end, and the time when
    /// its message is there. Its rank goes on.
    void place(StepNumber number, double begin, double end, double available) {
        begin_ = begin;
        end_ = end;
        available_[number] = available;
        Member& member = members_[index(matching_.rank_of(number))];
        member.sends_in_row = member.receives_in_row = 0;
        complete(number);
    }
    [[nodiscard]] double clock(Rank rank) const { return members_[index(rank)].clock; }

private:
    static std::size_t index(Rank rank) noexcept { return static_cast<std::size_t>(rank); }

    /// When the rank has done several pieces of work, one after the other.
    template <class... Works>
    [[nodiscard]] double after(Rank rank, double time, Works... works) const {
        ((time = runs_.after(rank, time, works)), ...);
        return time;
    }

    struct Member {
        double clock = 0;
        double long_send_begin = 0; // of the rendezvous send that it stands in
        Rank batch_peer = -1;
        bool batch_has_one_peer = true;
        int sends_in_row = 0;
        int receives_in_row = 0;
        std::array<bool, 3> has_written{}; // by Buffer
        // By Buffer and first block: the peer to which the rank lends it first in a call.
        std::array<std::vector<Rank>, 3> lent_to;
    };

    void conclude(StepNumber number) {
        const Rank rank = matching_.rank_of(number);
        Member& member = members_[index(rank)];
        if (!activities_.empty()) {
            activities_[index(rank)].push_back(
                {matching_.index_of(number), member.clock, begin_, end_});
        }
        member.clock = end_;
        finished_[number] = end_;
    }

    /// Notes the copy that ends with the step.
    void note_copy(const Step& step, Rank rank, double begin) {
        if (slower_.empty()) {
            return; // Nobody asks.
        }
        const bool is_put = plan::is_putting(step.kind);
        const bool takes = !plan::is_sending(step.kind) && !is_put;
        copy_ = {begin, end_ - begin, takes ? step.peer : rank, is_put ? step.peer : rank,
                 bytes_of(takes ? step.to : step.from)};
    }

    /// Marks a message as fresh when its sender has written the buffer before in this operation.
    void note_what_is_fresh(StepNumber number, const Step& step, Member& member) {
        if (plan::is_sending(step.kind) || step.kind == StepKind::publish) {
            is_fresh_[number] = member.has_written[static_cast<std::size_t>(step.from.buffer)];
        }
        if (step.to.count > 0) {
            member.has_written[static_cast<std::size_t>(step.to.buffer)] = true;
        }
    }

    [[nodiscard]] std::uint64_t bytes_of(const Blocks& blocks) const {
        return plan::bytes_of(plan_, blocks, bytes_);
    }

    /// Whether a message takes a copy along (Plan::copied_cells).
    [[nodiscard]] bool is_copied(const Step& send) const {
        return plan_.copied_cells != 0 && send.via == Mechanism::pull &&
               send.kind == StepKind::send &&
               bytes_of(send.from) <= plan_.copied_cells * cell_bytes;
    }
    /// Without a look at the step where no message of the plan takes a copy along.
    [[nodiscard]] bool is_copied(StepNumber send) const {
        return plan_.copied_cells != 0 && is_copied(matching_.step(send));
    }
    /// Finds the acknowledgements of messages that take a copy along: one of each such message, for
    /// it is the only one between its ranks in that direction.
    void find_what_is_left_out() {
        is_left_out_.resize(plan_.copied_cells == 0 ? 0 : matching_.step_count());
        if (is_left_out_.empty()) {
            return;
        }
        std::vector<Rank> copied_for(plan_.steps.size(),
                                     -1); // By peer: the rank that sends a copy.
        for (Rank rank = 0; rank < plan_.size(); ++rank) {
            const StepNumber end = matching_.end_step(rank);
            for (StepNumber number = matching_.first_step(rank); number < end; ++number) {
                const Step& step = matching_.step(number);
                if (is_copied(step)) {
                    copied_for[index(step.peer)] = rank;
                } else if (plan::is_acknowledgement(step) && step.kind == StepKind::wait) {
                    const bool is_left_out = copied_for[index(step.peer)] == rank;
                    is_left_out_[number] = is_left_out;
                    is_left_out_[matching_.partner(number)] = is_left_out;
                }
            }
        }
    }

    /// Time to copy or combine the bytes that a step takes from a peer, or puts there.
    [[nodiscard]] double taking(StepNumber number, const Step& step, Rank rank) const {
        if (plan::is_putting(step.kind)) {
            return charges_.of(rank).pushing(bytes_of(step.from), plan::is_folding(step.kind),
                                             is_fresh_[matching_.partner(number)]);
        }
        const std::uint64_t bytes = bytes_of(step.to);
        return step.via == Mechanism::pull && !is_copied(matching_.partner(number))
                   ? charges_.of(rank).pulling(bytes, plan::is_folding(step.kind),
                                               is_fresh_[matching_.partner(number)])
                   : charges_.of(rank).fetching(bytes);
    }

    /// What the rank has taken longer to write what it lends. The same part is lent to the same
    /// peer again in another call only, where several are in one plan.
    [[nodiscard]] double rewriting(Member& member, Rank rank, const Blocks& lent, Rank peer,
                                   std::uint64_t bytes) const {
        if (!charges_.of(rank).knows_rewriting() || lent.count == 0) {
            return 0;
        }
        auto& peers = member.lent_to[static_cast<std::size_t>(lent.buffer)];
        if (peers.size() <= lent.first) {
            peers.resize(lent.first + std::size_t{1}, -1);
        }
        Rank& first = peers[lent.first];
        first = first < 0 ? peer : first;
        return first == peer ? charges_.of(rank).rewriting(bytes) : 0;
    }

    double send_cost(Member& member, Rank rank, Rank peer) {
        ++member.sends_in_row;
        member.receives_in_row = 0;
        member.batch_has_one_peer =
            member.sends_in_row == 1 || (member.batch_has_one_peer && member.batch_peer == peer);
        member.batch_peer = peer;
        return charges_.of(rank).step_overhead() +
               charges_.of(rank).send(rank, peer) *
                   charges_.of(rank).send_factor(rank, peer, member.sends_in_row,
                                                 member.batch_has_one_peer);
    }

    void send(StepNumber number, const Step& step, Rank rank) {
        Member& member = members_[index(rank)];
        if (const StepNumber room = matching_.needs_room(number);
            room != no_step && !matching_.is_rendezvous(number)) {
            begin_ = std::max(begin_, finished_[room]);
        }
        begin_ = runs_.awake(rank, begin_);
        if (step.via == Mechanism::exchange) {
            end_ = available_[number] = after(rank, begin_, charges_.of(rank).step_overhead());
            member.sends_in_row = member.receives_in_row = 0;
            return;
        }
        const double cost = send_cost(member, rank, step.peer);
        const bool lends =
            step.via == Mechanism::pull && step.kind == StepKind::send && !is_copied(step);
        double started =
            lends ? after(rank, begin_,
                          rewriting(member, rank, step.from, step.peer, bytes_of(step.from)), cost)
                  : after(rank, begin_, cost);
        if (is_copied(step)) { // Behind a line.
            started = after(rank, started, charges_.of(rank).send(rank, step.peer));
        }
        if (matching_.is_rendezvous(number)) {
            member.long_send_begin = begin_;
            available_[number] = started;
            return;
        }
        const bool copies =
            step.via == Mechanism::cells || step.via == Mechanism::network || is_copied(step);
        end_ =
            copies ? after(rank, started, charges_.of(rank).storing(bytes_of(step.from))) : started;
        note_copy(step, rank, started);
        available_[number] = is_stream(number) ? started : end_;
    }

    /// Whether the receiver takes the first cells of a message while the sender still copies.
    [[nodiscard]] bool is_stream(StepNumber send) const {
        const Step& step = matching_.step(send);
        return (step.via == Mechanism::cells || is_copied(step)) &&
               (matching_.is_rendezvous(send) || bytes_of(step.from) > cell_bytes);
    }

    /// Times of a message longer than a cell: both ends copy at the same pace, the receiver one
    /// cell behind. The sender begins to copy at `available_`.
    struct Stream {
        double first_cell; // when it can be taken
        double last_cell;  // when the sender has copied all of them
        double storing;    // of all of it, by the sender
        double fetching;   // by the receiver
        double cell;       // fetching one
        bool fits;         // the channel holds all of it
    };
    [[nodiscard]] Stream stream_of(StepNumber send) const {
        const std::uint64_t bytes = bytes_of(matching_.step(send).from);
        const Rank rank = matching_.rank_of(send);
        const auto cell = std::min<std::uint64_t>(bytes, cell_bytes);
        const double storing = charges_.of(rank).storing(bytes);
        const double slower = slower_.empty() ? 0 : slower_[send];
        return {after(rank, available_[send], charges_.of(rank).storing(cell)),
                after(rank, available_[send], storing) + slower,
                storing,
                charges_.of(rank).fetching(bytes),
                charges_.of(rank).fetching(cell),
                bytes <= plan_.cell_slots * cell_bytes};
    }

    /// The sender goes on when the last cell is in the channel.
    void finish_long_send(StepNumber number) {
        const StepNumber partner = matching_.partner(number);
        const Stream stream = stream_of(number);
        begin_ = members_[index(matching_.rank_of(number))].long_send_begin;
        end_ = stream.last_cell;
        if (!stream.fits) {
            const bool received = available_[partner] >= 0;
            const double taken_from =
                received ? available_[partner]
                         : std::max(members_[index(matching_.rank_of(partner))].clock,
                                    stream.first_cell);
            end_ = std::max(end_, after(matching_.rank_of(partner), taken_from, stream.fetching) -
                                      static_cast<double>(plan_.cell_slots) * stream.cell);
        }
        note_copy(matching_.step(number), matching_.rank_of(number), end_ - stream.storing);
    }

    void receive(StepNumber number, const Step& step, Rank rank) {
        Member& member = members_[index(rank)];
        const StepNumber source = matching_.partner(number);
        member.sends_in_row = 0;
        if (plan::is_reading(step.kind)) {
            read(number, step, rank);
            return;
        }
        if (step.via == Mechanism::exchange) {
            begin_ = runs_.awake(rank, std::max(begin_, available_[source]));
            end_ = after(rank, begin_, charges_.of(rank).step_overhead(),
                         charges_.of(rank).meeting(step.peer, rank));
            member.receives_in_row = 0;
            return;
        }
        const bool streams = is_stream(source);
        const Stream stream = streams ? stream_of(source) : Stream{};
        const double there = streams ? stream.first_cell : available_[source];
        member.receives_in_row = there <= begin_ ? member.receives_in_row + 1 : 1;
        begin_ = runs_.awake(rank, std::max(begin_, there));
        available_[number] = begin_;
        double cost = charges_.of(rank).step_overhead() +
                      charges_.of(rank).receive(step.peer, rank) *
                          charges_.of(rank).receive_factor(step.peer, rank, member.receives_in_row);
        cost += is_copied(source) ? charges_.of(rank).receive(step.peer, rank) : 0;
        const double copies = after(rank, begin_, cost);
        end_ = after(rank, copies, taking(number, step, rank));
        note_copy(step, rank, copies);
        if (streams) {
            end_ = std::max(end_, after(rank, stream.last_cell, cost, stream.cell));
        }
    }

    void read(StepNumber number, const Step& step, Rank rank) {
        const double stored = available_[matching_.partner(number)];
        const double taken = step.peer == rank ? 0 : charges_.of(rank).receive(step.peer, rank);
        const double seen =
            runs_.awake(rank, std::max(stored + delay_[number], after(rank, begin_, taken)));
        begin_ = runs_.awake(rank, std::max(begin_, stored));
        const double copies = after(rank, seen, charges_.of(rank).step_overhead());
        end_ = after(rank, copies, taking(number, step, rank));
        note_copy(step, rank, copies);
        members_[index(rank)].receives_in_row = 0;
    }

    [[nodiscard]] std::uint64_t taken_by_all(std::span<const StepNumber> readers) const {
        std::uint64_t bytes = 0;
        for (const StepNumber reader : readers) {
            bytes += bytes_of(matching_.step(reader).to);
        }
        return bytes;
    }

    void publish(StepNumber number, Rank rank) {
        const auto readers = matching_.readers(number);
        if (const StepNumber room = matching_.needs_room(number); room != no_step) {
            for (const StepNumber reader : matching_.readers(room)) {
                begin_ = std::max(begin_, finished_[reader]);
            }
        }
        begin_ = runs_.awake(rank, begin_);
        // PU numbers break ties, so that the names of ranks do not matter.
        std::vector<std::tuple<double, int, StepNumber>> by_distance;
        by_distance.reserve(readers.size());
        for (const StepNumber reader : readers) {
            const Rank peer = matching_.rank_of(reader);
            by_distance.emplace_back(charges_.of(rank).receive(rank, peer),
                                     charges_.of(rank).pu(peer), reader);
        }
        std::sort(by_distance.begin(), by_distance.end());
        double dearest = 0;
        double ahead = 0;
        int place = 0;
        for (const auto& [distance, pu, reader] : by_distance) {
            const Rank peer = matching_.rank_of(reader);
            if (peer == rank) { // The publisher has the line already.
                continue;
            }
            delay_[reader] = charges_.of(rank).publication_delay(rank, peer, ++place, ahead);
            ahead += charges_.of(rank).send(rank, peer);
            dearest = std::max(dearest, charges_.of(rank).send(rank, peer));
        }
        const Step& step = matching_.step(number);
        const double written = step.via == Mechanism::pull
                                   ? rewriting(members_[index(rank)], rank, step.from, rank,
                                               std::min(bytes_of(step.from), taken_by_all(readers)))
                                   : 0;
        end_ = after(rank, begin_, written, charges_.of(rank).step_overhead(), dearest);
        available_[number] = end_;
        members_[index(rank)].sends_in_row = 0;
        members_[index(rank)].receives_in_row = 0;
    }

    const plan::Matching& matching_;
    const Plan& plan_;
    const Costs& charges_;
    const Runs& runs_;
    std::uint64_t bytes_;
    std::vector<Member> members_;
    // By sending step: when its data is there, or a stream of cells begins; by receiving step: when
    // that begins.
    std::vector<double> available_;
    std::vector<double> finished_;
    std::vector<double> delay_;     // by reading step
    std::vector<double> slower_;    // by step: time that others add to its copy; may be empty
    std::vector<bool> is_fresh_;    // by sending step
    std::vector<bool> is_left_out_; // by step; empty if no message takes a copy along
    std::vector<std::vector<Activity>> activities_;
    double begin_ = 0; // of the step being performed or completed
    double end_ = 0;
    Copy copy_; // of that step, until somebody asks for it
};

} // namespace corymb::sim
