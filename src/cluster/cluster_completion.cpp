// SPDX-License-Identifier: Apache-2.0
// How a rank waits for operations over several nodes, and why they fail.
#include "base/clock.hpp"
#include "cluster/attic.hpp"
#include "cluster/cluster_pending.hpp"
#include "team/disagreement.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
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

void ClusterPending::wait(Operation& operation) {
    only_ = &queued(operation);
    try {
        Executor::wait(operation);
    } catch (...) {
        only_ = nullptr;
        throw;
    }
    only_ = nullptr;
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
    if (auto differ = doubts_.look()) {
        return differ->code == Errc::timeout ? late_here().value_or(*differ) : differ;
    }
    for (FarLane* lane : busy_) {
        if (lane->first == nullptr) {
            continue;
        }
        if (auto differ = near_contradiction(*lane)) {
            return station_->as_seen_by_all(std::move(*differ));
        }
        if (!station_->lost(lane->told, lane->begun).empty()) {
            return station_->local_failure(lane->told, lane->begun);
        }
    }
    return foreign_message();
}

/// Whom another node waits for in vain, if this rank waits for a late one of its node.
std::optional<team::Failure> ClusterPending::late_here() {
    for (const FarLane* const lane : busy_) {
        if (lane->first != nullptr && !lane->first->needs_carrier &&
            !station_->missing(lane->told, lane->begun).empty()) {
            return station_->local_failure(lane->told, lane->begun);
        }
    }
    return std::nullopt;
}

/// Whether a rank of the node has called something else than the first operation of the lane.
std::optional<team::Failure> ClusterPending::near_contradiction(FarLane& lane) {
    const FarOperation& first = *lane.first;
    const bool waits_here = !first.needs_carrier && first.near >= 0;
    return lane.doubts.contradiction(
        *shared_, lane.told, station_->own,
        {lane.begun, first.near, first.steps(), first.activation.offset}, lane.digest,
        waits_here ? lane.looks : 0);
}

std::optional<team::Failure> ClusterPending::foreign_message() {
    constexpr std::int64_t patience_ns = 500'000'000; // The other rank may have to wait for a CPU.
    std::vector<FarWait> all = waits();
    const auto met = std::ranges::find_if(all, &FarWait::is_foreign);
    if (met == all.end()) {
        return std::nullopt;
    }
    const std::int64_t now = now_ns();
    foreign_since_ns_ = foreign_since_ns_ == 0 ? now : foreign_since_ns_;
    if (station_->carrier->has_notices() && now - foreign_since_ns_ < patience_ns) {
        return std::nullopt;
    }
    return station_->foreign_message(met->peer, detail::describe(met->last.back()));
}

// What FarDoubts asks
// -------------------------------------------------------------------------------------------------

FarLane* ClusterPending::lane_of_sequence(int sequence) {
    if (sequence == 0) {
        return &blocking_lane_;
    }
    const auto found = lanes_.find(cluster_lane + static_cast<team::LaneId>(sequence));
    return found == lanes_.end() ? nullptr : &found->second;
}

const FarOperation* ClusterPending::persistent_of(int sequence) const {
    const auto found = std::ranges::find_if(operations_, [sequence](const auto& one) {
        return one->is_persistent && one->mail.lane() == sequence;
    });
    return found == operations_.end() ? nullptr : found->get();
}

std::optional<CallPlace> ClusterPending::place(int sequence) {
    if (sequence == notices_pair) {
        const auto made = static_cast<std::uint64_t>(own_made_);
        return CallPlace{made, made, made_digest_.value() + starts_sum_};
    }
    if (sequence > notices_pair) {
        const FarOperation* const own = persistent_of(sequence);
        if (own == nullptr) {
            return sequence - notices_pair > own_made_ ? std::optional(CallPlace{})
                   : std::ranges::count(freed_, sequence) > 0
                       ? std::optional(CallPlace{CallPlace::all,
                                                 agreements_.has(sequence) ? 0 : CallPlace::all, 0})
                       : std::nullopt;
        }
        const std::uint64_t under_way = own->state == Operation::State::pending ? 1 : 0;
        return CallPlace{1 + own->starts,
                         agreements_.has(sequence) ? 0 : 1 + own->starts - under_way,
                         own->digest.value()};
    }
    const FarLane* const lane = lane_of_sequence(sequence);
    if (lane == nullptr) {
        return CallPlace{};
    }
    const std::uint64_t finished = lane->state->finished.load(std::memory_order_relaxed);
    return CallPlace{lane->begun - lane->begun_before,
                     std::max(finished, lane->begun_before) - lane->begun_before,
                     lane->digest.value()};
}

std::optional<team::CallTerms> ClusterPending::terms(int sequence, std::uint64_t number) {
    if (sequence >= notices_pair) {
        return made_.read(sequence == notices_pair
                              ? number
                              : static_cast<std::uint64_t>(sequence - notices_pair));
    }
    const FarLane* const lane = lane_of_sequence(sequence);
    if (lane == nullptr || number == 0 || number > lane->begun - lane->begun_before) {
        return std::nullopt;
    }
    return lane->state->calls.read(lane->begun_before + number);
}

/// Up to the last one that has begun; there must be a place.
FarCalls ClusterPending::calls_of(int sequence) {
    const CallPlace own = *place(sequence);
    FarCalls calls{sequence,
                   own.begun,
                   station_->rank,
                   own.digest,
                   blocking_lane_.begun - blocking_lane_.begun_before,
                   started_,
                   {}};
    const std::uint64_t entries =
        sequence > notices_pair ? 1 : std::min(own.begun, team::CallLog<team::Env>::entries);
    for (std::uint64_t at = own.begun - entries + 1; at <= own.begun; ++at) {
        if (const auto known = terms(sequence, at)) {
            calls.last.push_back(*known);
        }
    }
    return calls;
}

/// The wait of the first operation of a lane; none: it waits for the plan of another one.
std::optional<FarWait> ClusterPending::wait_of(const FarLane& lane) {
    const FarOperation& first = *lane.first;
    FarWait wait{calls_of(first.mail.lane())};
    wait.is_only = only_ != nullptr && only_->queue == &lane;
    if (first.needs_carrier || first.foreign_from >= 0) {
        return say_where(wait, first.mail, first.foreign_from) ? std::optional(std::move(wait))
                                                               : std::nullopt;
    }
    if (first.near < 0) {
        return std::nullopt;
    }
    wait.peer = station_->home.members[static_cast<std::size_t>(first.near)];
    return wait;
}

std::vector<FarWait> ClusterPending::waits() {
    std::vector<FarWait> all;
    for (const FarLane* const lane : busy_) {
        if (lane->first == nullptr) {
            continue;
        }
        if (auto wait = wait_of(*lane)) {
            all.push_back(std::move(*wait));
        }
    }
    for (FarWait& agreement : agreements_.waits()) {
        agreement.rank = station_->rank;
        all.push_back(std::move(agreement));
    }
    return all;
}

std::vector<FarCalls> ClusterPending::all_calls() {
    std::vector<FarCalls> all;
    for (int sequence = 0; sequence <= notices_pair; ++sequence) {
        FarCalls calls = calls_of(sequence);
        if (sequence == 0 || calls.number > 0) {
            all.push_back(std::move(calls));
        }
    }
    return all;
}

void ClusterPending::leave() noexcept {
    constexpr std::int64_t patience_ns = 1'000'000'000; // So that a rank may leave long before.
    complete_quietly();
    finish_agreements();
    NetworkPatience patience(shared_->oversubscribed);
    doubts_.begin_farewell();
    try {
        while (!has_stopped()) {
            if (const auto failure = doubts_.look()) {
                shared_->fail(*failure);
            } else if (doubts_.has_said_farewell() ||
                       (patience.is_long() &&
                        patience.waited_ns() >= std::min(patience_ns, station_->deadline_ns))) {
                break;
            }
        }
    } catch (...) { // No memory, or the carrier fails.
    }
    tell_failure();
}

void ClusterPending::tell_failure() noexcept {
    try {
        if (shared_->is_broken()) {
            doubts_.tell(shared_->failure());
        }
    } catch (...) { // No memory, or the carrier fails. Others miss this rank by their deadline.
    }
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
    tell_failure();
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
            if (!patience.is_long()) {
                continue;
            }
            if (patience.waited_ns() >= station_->deadline_ns) {
                break; // A rank that needs this one learns of it by its own deadline.
            }
            if (auto why = patience.must_watch() ? hopeless() : std::nullopt) {
                shared_->fail(*why);
            }
        }
    } catch (...) { // No memory.
    }
    agreements_.abandon_all();
}

} // namespace corymb::cluster
