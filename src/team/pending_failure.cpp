// SPDX-License-Identifier: Apache-2.0
// Failures of operations under way: finds the ranks to blame, and gives the operations up.
#include "team/ask_again.hpp"
#include "team/blame.hpp"
#include "team/disagreement.hpp"
#include "team/pending.hpp"

#include <algorithm>
#include <exception>

namespace corymb::detail {

using State = Operation::State;

/// Undoes the records that `begin` has made.
void Pending::take_back_begin(Queue& queue) noexcept {
    queue.state->calls.erase(queue.begun);
    queue.state->started.store(--queue.begun, std::memory_order_relaxed);
}

/// Ranks that have ended, or given up their handles, and left the first operation of the queue
/// undone.
std::vector<int> Pending::ended(const Queue& queue) {
    if (queue.is_of_messages) {
        const auto [peer, direction, via] = queue.first->pair;
        const auto edges = shared_->lane(team::pair_lane);
        if (shared_->company) {
            shared_->company->watch.look();
        }
        const bool is_lost = shared_->has_left(peer, [&] {
            const auto* const state =
                edges.pair_state_if_made(peer, rank_, direction == team::Direction::receive);
            return state == nullptr ||
                   state->finished.load(std::memory_order_relaxed) < queue.begun;
        });
        return is_lost ? std::vector<int>{peer} : std::vector<int>{};
    }
    return shared_->lost(queue.lane->id(), queue.begun);
}

/// Why the first operation of the queue cannot end, if so.
std::optional<team::Failure> Pending::contradiction(Queue& queue) {
    const LaneOperation& first = *queue.first;
    // If only one operation is under way, its activation says its place after the engine has
    // stopped.
    const LongWait wait =
        waits_for_only_
            ? LongWait{queue.begun, ladder_->expected()}
            : LongWait{queue.begun, queue.awaited, first.activation.step, first.activation.offset};
    if (waits_for_only_ && !first.coroutine) {
        shown_wait_.show(
            *shared_, rank_,
            queue.is_of_messages
                ? RequestWait{team::pair_lane, first.pair.peer,
                              first.pair.direction == team::Direction::send, queue.begun}
                : RequestWait{queue.lane->id(), ladder_->expected(), false, queue.begun});
    }
    const bool is_looked_at = !has_stopped() && has_its_turn(first) && !first.activation.is_done();
    const std::uint64_t looks = is_looked_at ? queue.looks + long_waits_ + 1 : 0;
    if (queue.is_of_messages) {
        return queue.doubts.contradiction(
            *shared_, rank_, first.pair.direction == team::Direction::send,
            {wait.number, first.pair.peer, wait.step, wait.offset}, looks);
    }
    return queue.doubts.contradiction(*shared_, queue.lane->id(), rank_, wait, queue.digest, looks);
}

std::optional<team::Failure> Pending::hopeless() {
    for (Queue* queue : busy_) {
        if (queue->first == nullptr) {
            continue;
        }
        if (auto differ = contradiction(*queue)) {
            return differ;
        }
        if (const auto lost = ended(*queue); !lost.empty()) {
            return blame_lost(*shared_, rank_, *queue, lost);
        }
    }
    return std::nullopt;
}

std::optional<team::Failure> Pending::why_stopped() {
    if (pending_count_ == 0 || !has_stopped()) {
        return std::nullopt;
    }
    return reason(first_pending(), false);
}

const LaneOperation& Pending::held_up_by(const LaneOperation& operation) const noexcept {
    const auto first_of = [](const LaneOperation& of) -> const LaneOperation& {
        return of.queue->first != nullptr ? *of.queue->first : of;
    };
    const LaneOperation& first = first_of(operation);
    const auto next = std::ranges::find_if(operations_, [this](const auto& other) {
        return other->state == State::pending && other->long_number == long_done_ + 1;
    });
    return has_its_turn(first) || next == operations_.end() ? first : first_of(**next);
}

team::Failure Pending::reason(const LaneOperation& operation, bool timed_out) {
    if (thrown_ != nullptr) {
        return blame_exception(*shared_, rank_, thrown_);
    }
    // If a process has ended, `hopeless` finds it again, so the answer is not needed here.
    if (uncopied_ != nullptr) {
        static_cast<void>(lost_soon([this] { return ended(*uncopied_->queue); }));
    }
    if (has_met_other_call()) {
        const auto known =
            ask_again([this] { return other_call(); },
                      [](const auto& found) { return found.has_value(); }, logs_are_late);
        return known ? *known : met_in(operation);
    }
    if (auto known = hopeless()) {
        return *known;
    }
    const auto lost =
        timed_out
            ? std::vector<int>{}
            : shared_->lost(shared_->fabric.state(rank_).started.load(std::memory_order_relaxed));
    const LaneOperation& blamed = held_up_by(uncopied_ != nullptr ? *uncopied_ : operation);
    const Queue& queue = *blamed.queue;
    if (!lost.empty()) {
        return blame_lost(*shared_, rank_, queue, lost);
    }
    const bool is_too_late = uncopied_ == nullptr;
    return blamed.pair.peer < 0 ? blame_collective(*shared_, rank_, queue, blamed,
                                                   patrol_.deadline_ns(), is_too_late)
                                : blame_pair(rank_, blamed, patrol_.deadline_ns(), is_too_late);
}

/// The first operation of a queue has met a message of another call, most likely this one's.
team::Failure Pending::met_in(const LaneOperation& operation) {
    const Queue& queue = *operation.queue;
    if (queue.is_of_messages) {
        return foreign_message(*shared_, rank_);
    }
    return foreign_message(*shared_, queue.lane->id(), rank_,
                           waits_for_only_ ? ladder_->expected() : queue.awaited, queue.begun);
}

/// The failure of an operation that has met a message of another call, as far as it is known.
std::optional<team::Failure> Pending::other_call() {
    for (Queue* queue : busy_) {
        if (queue->first != nullptr && queue->is_of_messages) {
            const auto& pair = queue->first->pair;
            if (auto differ =
                    message_mismatch(*shared_, rank_, pair.peer,
                                     pair.direction == team::Direction::send, queue->begun)) {
                return differ;
            }
        }
    }
    return hopeless();
}

void Pending::give_up_own_lane(bool timed_out) {
    if (pending_count_ > 0 && has_stopped()) {
        fail(first_pending(), false);
    }
    if (!shared_->is_broken()) {
        shared_->fail({timed_out ? Errc::timeout : Errc::team_broken,
                       shared_->name_of(rank_) +
                           " makes a persistent collective, and others have "
                           "not let go of any of the " +
                           std::to_string(team::own_lanes_max) + " before it",
                       {rank_}});
    }
    shared_->wait_for_copies();
    abandon_all();
    throw_failure();
}

channel::EventCount<channel::StandardEnv>* Pending::events() noexcept {
    return &shared_->fabric.state(rank_).spot;
}

void Pending::abandon(const std::string& why) noexcept {
    try {
        shared_->abandon(rank_, why);
    } catch (const std::exception&) { // No memory to tell the others: they have the deadline.
        return;
    }
}

} // namespace corymb::detail
