// SPDX-License-Identifier: Apache-2.0
// How a rank waits for operations over several nodes, and why they fail.
#include "cluster/attic.hpp"
#include "cluster/cluster_pending.hpp"
#include "team/disagreement.hpp"

#include <exception>
#include <string>
#include <utility>

namespace corymb::cluster {

bool ClusterPending::cancel(Operation& /*operation*/) {
    return false;
}

bool ClusterPending::wait_in_vain(NetworkPatience& patience, const FarLane& lane) {
    if (has_stopped()) {
        return true;
    }
    const FarOperation& first = *lane.first;
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
        advance_all(all_steps);
        return lane.moves != moves || pending_count_ != pending || has_stopped() ||
               lane.first->needs_carrier;
    };
    const FarOperation& first = *lane.first;
    // A receiver may wait for the rest of a message.
    ladder_.set_visits_urgent(shared_->oversubscribed && first.mail.has_sent());
    const bool is_done = ladder_.until(
        done, team::moved_bytes(first.call.key.op, first.call.operands, station_->size()));
    ladder_.attribute_last_wait(looking_.expected());
    return !is_done || has_stopped();
}

bool ClusterPending::visit() noexcept {
    advance_all(all_steps);
    return shared_->options.interrupted_every.count() > 0 && station_->is_interrupted();
}

bool ClusterPending::is_lost() noexcept {
    return station_->is_interrupted() || is_hopeless();
}

void ClusterPending::abandon(const std::string& why) noexcept {
    station_->abandon(why);
}

/// Whether a long wait for a message by the carrier is at its end.
bool ClusterPending::must_end(NetworkPatience& patience, const FarOperation& blamed) {
    const std::int64_t deadline_ns = station_->deadline_ns;
    if (patience.waited_ns() >=
        (blamed.awaited < 0 ? deadline_within_node(deadline_ns) : deadline_ns)) {
        return true;
    }
    const bool must_watch = patience.must_watch();
    const std::int64_t ask_every_ns = shared_->options.interrupted_every.count();
    const bool must_ask = must_watch || (ask_every_ns > 0 && patience.must_ask(ask_every_ns));
    return (must_ask && station_->is_interrupted()) || (must_watch && is_hopeless());
}

bool ClusterPending::is_hopeless() noexcept {
    try {
        return hopeless().has_value();
    } catch (...) { // Another rank has failed meanwhile, or memory is short.
        return has_stopped();
    }
}

std::optional<team::Failure> ClusterPending::hopeless() {
    for (const FarLane* lane : busy_) {
        if (lane->first == nullptr) {
            continue;
        }
        if (auto differ = detail::disagreement(*shared_, lane->told, lane->begun)) {
            return station_->as_seen_by_all(std::move(*differ));
        }
        if (!station_->lost(lane->told, lane->begun).empty()) {
            return station_->local_failure(lane->told, lane->begun);
        }
    }
    return std::nullopt;
}

team::Failure ClusterPending::reason(const FarOperation& operation, bool /*timed_out*/) {
    if (auto known = hopeless()) {
        return *known;
    }
    const FarLane& lane = *operation.queue;
    const FarOperation& blamed = *lane.first;
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

void ClusterPending::let_go(FarOperation& operation) noexcept {
    if (operation.mail.abandon_all()) {
        keep_for_good(std::move(operation.exchange));
        keep_for_good(std::exchange(operation.queue->scratch, {}));
    }
    operation.exchange.reset();
}

void ClusterPending::note_idle() noexcept {
    agreements_.abandon_all();
    for (auto& [of, key] : keys_) {
        key.bringer = nullptr;
    }
}

void ClusterPending::finish_agreements() noexcept {
    NetworkPatience patience(shared_->oversubscribed);
    try {
        while (!agreements_.are_over() && !has_stopped() && std::uncaught_exceptions() == 0) {
            advance_all(all_steps);
            patience.follow(agreements_.moves());
            if (patience.is_long() && patience.waited_ns() >= station_->deadline_ns) {
                break; // A rank that needs this one learns of it by its own deadline.
            }
        }
    } catch (...) { // No memory.
    }
    agreements_.abandon_all();
}

} // namespace corymb::cluster
