// SPDX-License-Identifier: Apache-2.0
// When operations that are under way cannot end: who is to blame, and how they are given up.
#include "team/ask_again.hpp"
#include "team/blame.hpp"
#include "team/disagreement.hpp"
#include "team/pending.hpp"

#include <algorithm>
#include <exception>

namespace corymb::detail {

using State = Operation::State;

bool Pending::must_fail() {
    if (shared_->is_broken() || has_stopped()) {
        return true;
    }
    switch (patrol_.after_failed_test()) {
    case Patrol::Duty::none: return false;
    case Patrol::Duty::give_up: return true;
    case Patrol::Duty::look_around: break;
    }
    return hopeless().has_value();
}

/// Ranks that have ended and left the first operation of the queue undone.
std::vector<int> Pending::ended(const Queue& queue) {
    std::vector<int> ranks;
    if (!shared_->company) {
        return ranks;
    }
    auto lane = shared_->lane(queue.lane->id());
    shared_->company->watch.look();
    for (Rank rank = 0; rank < shared_->fabric.size(); ++rank) {
        const bool is_needed =
            queue.state == nullptr
                ? rank == queue.first->pair.peer
                : lane.lane_state(rank).finished.load(std::memory_order_relaxed) < queue.begun;
        if (is_needed && shared_->is_elsewhere(rank) &&
            shared_->company->watch.has_ended(shared_->fabric.state(rank).pid)) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

std::optional<team::Failure> Pending::hopeless() {
    for (const Queue* queue : busy_) {
        if (queue->first == nullptr) {
            continue;
        }
        if (queue->state != nullptr) {
            if (auto differ = disagreement(*shared_, queue->lane->id(), queue->begun)) {
                return differ;
            }
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
        return blame_operator(*shared_, rank_);
    }
    if (uncopied_ != nullptr) { // What it finds, `hopeless` finds again.
        static_cast<void>(lost_soon([this] { return ended(*uncopied_->queue); }));
    }
    if (has_met_other_call()) {
        const auto known =
            ask_again([this] { return hopeless(); },
                      [](const auto& found) { return found.has_value(); }, logs_are_late);
        return known ? *known : foreign_message(*shared_, rank_);
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
    return blamed.pair.peer < 0 ? blame_collective(*shared_, rank_, queue, blamed, is_too_late)
                                : blame_pair(*shared_, rank_, blamed, is_too_late);
}

void Pending::give_up(const LaneOperation& operation, bool timed_out) {
    if (!shared_->is_broken()) {
        shared_->fail(reason(operation, timed_out));
    }
    shared_->wait_for_copies(); // The caller may free its buffers now.
    abandon_all();
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

void Pending::throw_failure() {
    if (thrown_ != nullptr) {
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    shared_->throw_failure();
}

void Pending::fail(const LaneOperation& operation, bool timed_out) {
    give_up(operation, timed_out);
    throw_failure();
}

void Pending::abandon_all() noexcept {
    for (Queue* queue : busy_) {
        while (queue->first != nullptr) {
            LaneOperation& operation = *queue->first;
            queue->first = operation.next;
            finish(operation, State::failed);
        }
        queue->is_listed = false;
    }
    busy_.clear();
    ladder_->set_background(nullptr);
}

} // namespace corymb::detail
