// SPDX-License-Identifier: Apache-2.0
// How operations over several nodes that do not block come to their end, good or bad.
#include "cluster/attic.hpp"
#include "cluster/cluster_pending.hpp"
#include "team/disagreement.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace corymb::cluster {

using State = detail::Operation::State;

namespace {

/// The operation that `make` has made.
FarOperation& own(detail::Operation& operation) noexcept {
    return static_cast<FarOperation&>(operation);
}

} // namespace

// Completing
// -------------------------------------------------------------------------------------------------

FarOperation& ClusterPending::first_pending() noexcept {
    const auto lane =
        std::ranges::find_if(busy_, [](const FarLane* one) { return !one->queue.empty(); });
    return *(*lane)->queue.front();
}

void ClusterPending::consume(Operation& operation) {
    const State state = std::exchange(operation.state, State::idle);
    if (state == State::failed) {
        if (operation.error != nullptr) {
            std::rethrow_exception(operation.error);
        }
        throw_failure();
    }
}

bool ClusterPending::look_once(Operation& operation) {
    if (operation.state == State::pending) {
        go_on();
    }
    return operation.state != State::pending;
}

bool ClusterPending::test(Operation& operation) {
    if (!look_in_turn(own(operation))) {
        if (must_fail()) {
            give_up(&own(operation));
            throw_failure();
        }
        return false;
    }
    consume(operation);
    return true;
}

void ClusterPending::wait(Operation& operation) {
    wait_until_over(own(operation));
    consume(operation);
}

bool ClusterPending::cancel(Operation& /*operation*/) {
    return false;
}

void ClusterPending::wait_until_over(FarOperation& operation) {
    NetworkPatience patience(station_->shared->oversubscribed);
    while (!look_once(operation)) {
        if (wait_in_vain(patience, *operation.lane)) {
            give_up(&operation);
            return;
        }
    }
}

bool ClusterPending::wait_in_vain(NetworkPatience& patience, const FarLane& lane) {
    if (has_failed()) {
        return true;
    }
    const FarOperation& first = *lane.queue.front();
    if (!first.needs_carrier) {
        return wait_within_node(lane);
    }
    patience.follow(lane.moves);
    const std::int64_t before_ns = patience.waited_ns();
    const bool is_long = patience.is_long();
    if (patience.waited_ns() > before_ns) {
        far_waits_.note_wait_goes_on(first.awaited, patience.waited_ns() - before_ns,
                                     before_ns == 0);
    }
    return is_long && must_end(patience, first);
}

/// Waits for ranks of the node, which wake this one. It returns when something has moved.
bool ClusterPending::wait_within_node(const FarLane& lane) {
    const std::uint64_t moves = lane.moves;
    const std::size_t pending = pending_count_;
    auto done = [&]() noexcept {
        go_on();
        return lane.moves != moves || pending_count_ != pending || has_failed() ||
               lane.queue.front()->needs_carrier;
    };
    const FarOperation& first = *lane.queue.front();
    // A receiver may wait for the rest of a message.
    ladder_.set_visits_urgent(station_->shared->oversubscribed && first.mail.has_sent());
    const bool is_done = ladder_.until(
        done, team::moved_bytes(first.call.key.op, first.call.operands, station_->size()));
    ladder_.attribute_last_wait(looking_.expected());
    return !is_done || has_failed();
}

bool ClusterPending::visit() noexcept {
    go_on();
    return station_->shared->options.interrupted_every.count() > 0 && station_->is_interrupted();
}

bool ClusterPending::is_lost() noexcept {
    return station_->is_interrupted() || is_hopeless();
}

std::size_t ClusterPending::wait_any(const std::vector<Operation*>& operations) {
    NetworkPatience patience(station_->shared->oversubscribed);
    for (;;) {
        go_on();
        const auto found = std::ranges::find_if(operations, [](const Operation* operation) {
            return operation->state != State::pending;
        });
        if (found != operations.end()) {
            return static_cast<std::size_t>(found - operations.begin());
        }
        FarOperation& first = own(*operations.front());
        if (wait_in_vain(patience, *first.lane)) {
            give_up(&first);
        }
    }
}

void ClusterPending::drain(Operation& operation) noexcept {
    if (operation.state != State::pending) {
        return;
    }
    try {
        if (std::uncaught_exceptions() == 0) {
            wait_until_over(own(operation));
            return;
        }
        station_->shared->fail({Errc::team_broken,
                                station_->name_of(station_->rank) +
                                    " left with an exception while an operation was under way",
                                {station_->rank}});
        station_->shared->wait_for_copies();
    } catch (...) { // The team is broken: everybody has been told or will be.
    }
    abandon_all();
}

void ClusterPending::abandon(const std::string& why) noexcept {
    station_->abandon(why);
}

void ClusterPending::forget(Operation& given) noexcept {
    auto& operation = own(given);
    std::erase(resumable_, &given);
    auto& slot = operations_[operation.index];
    const std::unique_ptr<FarOperation> mine = std::move(slot);
    if (&slot != &operations_.back()) {
        slot = std::move(operations_.back());
        slot->index = mine->index;
    }
    operations_.pop_back();
    if (mine->is_persistent) {
        station_->give_back_own_lane(mine->lane->id);
    }
}

bool ClusterPending::must_fail() {
    if (has_failed()) {
        return true;
    }
    auto& patrol = first_pending().awaited < 0 ? patrol_within_ : patrol_;
    switch (patrol.after_failed_test()) {
    case detail::Patrol::Duty::none: return false;
    case detail::Patrol::Duty::give_up: return true;
    case detail::Patrol::Duty::look_around: break;
    }
    return is_hopeless();
}

/// Whether a long wait for a message by the carrier is at its end.
bool ClusterPending::must_end(NetworkPatience& patience, const FarOperation& blamed) {
    const std::int64_t deadline_ns = station_->deadline_ns;
    if (patience.waited_ns() >=
        (blamed.awaited < 0 ? deadline_within_node(deadline_ns) : deadline_ns)) {
        return true;
    }
    const bool must_watch = patience.must_watch();
    const std::int64_t ask_every_ns = station_->shared->options.interrupted_every.count();
    const bool must_ask = must_watch || (ask_every_ns > 0 && patience.must_ask(ask_every_ns));
    return (must_ask && station_->is_interrupted()) || (must_watch && is_hopeless());
}

bool ClusterPending::is_hopeless() noexcept {
    try {
        return hopeless().has_value();
    } catch (...) { // Another rank has failed meanwhile, or memory is short.
        return has_failed();
    }
}

std::optional<team::Failure> ClusterPending::hopeless() {
    for (const FarLane* lane : busy_) {
        if (lane->queue.empty()) {
            continue;
        }
        if (auto differ = detail::disagreement(*station_->shared, lane->told, lane->begun)) {
            return station_->as_seen_by_all(std::move(*differ));
        }
        if (!station_->lost(lane->told, lane->begun).empty()) {
            return station_->local_failure(lane->told, lane->begun);
        }
    }
    return std::nullopt;
}

team::Failure ClusterPending::reason(const FarOperation& operation) {
    if (auto known = hopeless()) {
        return *known;
    }
    const FarLane& lane = *operation.lane;
    const FarOperation& blamed = *lane.queue.front();
    team::Failure failure = blamed.awaited >= 0 ? station_->vain_wait(blamed.awaited)
                                                : station_->local_failure(lane.told, lane.begun);
    if (lane.is_blocking()) {
        return failure;
    }
    failure.text = std::string(to_string(blamed.call.key.op)) + " (" +
                   (blamed.is_persistent ? "persistent" : "nonblocking") + " operation " +
                   std::to_string(lane.begun) + " on lane " + std::to_string(lane.id) +
                   "): " + failure.text;
    return failure;
}

void ClusterPending::give_up(const FarOperation* blamed) noexcept {
    try {
        if (!has_failed()) {
            station_->shared->fail(reason(*blamed));
        }
    } catch (...) { // No memory for the reason, or the team was broken meanwhile.
    }
    if (has_failed()) {
        station_->shared->wait_for_copies(); // The caller may free its buffers now.
    }
    abandon_all();
}

void ClusterPending::abandon_all() noexcept {
    for (FarLane* const lane : busy_) {
        while (!lane->queue.empty()) {
            FarOperation& operation = *lane->queue.front();
            lane->queue.pop_front();
            if (operation.mail.abandon_all()) {
                keep_for_good(std::move(operation.exchange));
                keep_for_good(std::exchange(lane->scratch, {}));
            }
            operation.exchange.reset();
            finish(operation, State::failed);
        }
    }
    busy_.clear();
    agreements_.abandon_all();
    for (auto& [of, key] : keys_) {
        key.bringer = nullptr;
    }
}

void ClusterPending::finish_agreements() noexcept {
    NetworkPatience patience(station_->shared->oversubscribed);
    try {
        while (!agreements_.are_over() && !has_failed() && std::uncaught_exceptions() == 0) {
            go_on();
            patience.follow(agreements_.moves());
            if (patience.is_long() && patience.waited_ns() >= station_->deadline_ns) {
                break; // A rank that needs this one learns of it by its own deadline.
            }
        }
    } catch (...) { // No memory.
    }
    agreements_.abandon_all();
}

void ClusterPending::throw_failure() {
    if (thrown_ != nullptr) {
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    station_->shared->throw_failure();
}

// Coroutines
// -------------------------------------------------------------------------------------------------

void ClusterPending::resume_coroutines() {
    while (!resumable_.empty()) {
        Operation& operation = *resumable_.front();
        resumable_.erase(resumable_.begin());
        std::exchange(operation.coroutine, {}).resume();
    }
}

std::size_t ClusterPending::progress() {
    go_on();
    if (pending_count_ > 0 && must_fail()) {
        give_up(&first_pending());
    }
    resume_coroutines();
    return pending_count_;
}

void ClusterPending::complete_all() {
    go_on();
    resume_coroutines();
    while (pending_count_ > 0) {
        NetworkPatience patience(station_->shared->oversubscribed);
        const std::size_t before = pending_count_;
        while (pending_count_ == before) {
            go_on();
            if (pending_count_ == before && wait_in_vain(patience, *first_pending().lane)) {
                give_up(pending_count_ > 0 ? &first_pending() : nullptr);
                resume_coroutines(); // Coroutines learn of the failure first.
                throw_failure();
            }
        }
        resume_coroutines();
    }
}

} // namespace corymb::cluster
