// SPDX-License-Identifier: Apache-2.0
#include "cluster/far_doubts.hpp"

#include "team/disagreement.hpp"

#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace corymb::cluster {

namespace {

bool is_nonblocking(int sequence) noexcept {
    return sequence > 0 && sequence < notices_pair;
}
bool is_persistent(int sequence) noexcept {
    return sequence > notices_pair;
}
bool is_makings(int sequence) noexcept {
    return sequence == notices_pair;
}

/// "operation 3" or "start 2 of persistent operation 1".
std::string name_of(int sequence, std::uint64_t number) {
    if (is_persistent(sequence)) {
        const std::string operation =
            "persistent operation " + std::to_string(sequence - notices_pair);
        return number <= 1 ? operation : "start " + std::to_string(number - 1) + " of " + operation;
    }
    if (is_makings(sequence)) {
        return "persistent operation " + std::to_string(number);
    }
    return (is_nonblocking(sequence) ? "nonblocking operation " : "operation ") +
           std::to_string(number) +
           (is_nonblocking(sequence) ? " on lane " + std::to_string(sequence) : "");
}

/// Whether `rank` has no result of this call before `other` has begun it, whatever the plan.
bool needs(const team::CallTerms& call, Rank rank, Rank other) {
    const Rank root = team::root_of(call);
    switch (team::op_of(call)) {
    case Collective::broadcast:
    case Collective::scatter: return other == root && rank != root;
    case Collective::reduce:
    case Collective::gather: return rank == root;
    case Collective::scan:
    case Collective::exscan: return other < rank;
    default: return true;
    }
}

} // namespace

std::optional<team::Failure> FarDoubts::look() {
    if (!known_ && notices_.are_carried()) {
        known_ = look_at_notices();
        if (!known_) {
            tell_waits(own_->waits());
        }
    }
    return known_;
}

std::optional<team::Failure> FarDoubts::look_at_notices() {
    while (auto notice = notices_.next()) {
        if (auto* const failure = std::get_if<team::Failure>(&*notice)) {
            has_told_failure_ = true; // Those who know it tell it.
            return std::move(*failure);
        }
        if (auto* const wait = std::get_if<FarWait>(&*notice)) {
            notices_.tell(wait->rank, Taken{station_->rank});
            others_[{wait->rank, wait->sequence}] = std::move(*wait);
        } else if (auto* const farewell = std::get_if<Farewell>(&*notice)) {
            children_left_ += farewell->is_last ? 1 : 0;
            farewells_.push_back(std::move(*farewell));
        } else if (const auto* const taken = std::get_if<Taken>(&*notice)) {
            has_to_take_.erase(taken->rank);
        } else {
            is_released_ = true;
        }
    }
    for (auto at = others_.begin(); at != others_.end();) {
        const FarWait& wait = at->second;
        if (auto found = contradiction(wait)) {
            return found;
        }
        const auto place = own_->place(wait.sequence);
        const bool is_spent = !place || place->finished >= wait.number; // What it needs is sent.
        at = is_spent ? others_.erase(at) : std::next(at);
    }
    for (const Farewell& farewell : farewells_) {
        if (auto found = contradiction(farewell)) {
            return found;
        }
    }
    return std::nullopt;
}

void FarDoubts::tell_waits(const std::vector<FarWait>& waits) {
    for (const FarWait& wait : waits) {
        FarWait& told = told_[wait.sequence];
        if (told != wait && has_to_take_.insert(wait.peer).second) {
            notices_.tell(wait.peer, wait);
            told = wait;
        }
    }
}

std::optional<team::Failure> FarDoubts::contradiction(const FarWait& wait) {
    if (auto found = other_call(wait)) {
        return found;
    }
    const auto place = own_->place(wait.sequence);
    if (!place) {
        return std::nullopt;
    }
    if (wait.is_foreign || is_silent(wait, *place)) {
        return differ(wait, "has come to " + own_place(wait.sequence));
    }
    if (is_leaving_ && place->begun < wait.number) {
        return differ(wait, "has called nothing after " + own_place(wait.sequence));
    }
    for (const FarWait& own : own_->waits()) {
        if (wait_for_each_other(wait, own)) {
            return differ(wait, "waits in " + where(own) + ", which the other has not begun");
        }
    }
    return std::nullopt;
}

std::optional<team::Failure> FarDoubts::contradiction(const Farewell& farewell) {
    if (auto found = other_call(farewell)) {
        return found;
    }
    const auto place = own_->place(farewell.sequence);
    if (!place) {
        return std::nullopt;
    }
    if (place->begun > farewell.number || (is_leaving_ && place->begun < farewell.number)) {
        return differ_in_count(farewell, where(farewell), own_place(farewell.sequence));
    }
    const std::uint64_t started = own_->nonblocking_started();
    if (is_leaving_ && farewell.nonblocking_started < started) {
        const auto turns = static_cast<std::uint64_t>(own_->nonblocking_sequences());
        return differ_in_count(
            farewell, std::to_string(farewell.nonblocking_started) + " nonblocking operations",
            own_place(static_cast<int>(1 + (started - 1) % turns)));
    }
    return std::nullopt;
}

/// The first call that differs, as far as both know their calls.
std::optional<team::Failure> FarDoubts::other_call(const FarCalls& calls) {
    std::uint64_t number = calls.number - calls.last.size();
    for (const team::CallTerms& its : calls.last) {
        ++number;
        const auto own = own_->terms(calls.sequence, number);
        if (own && *own != its) {
            FarCalls at = calls;
            at.number = number;
            at.last = {its};
            return differ(at, "in " + detail::describe(*own));
        }
    }
    const auto place = own_->place(calls.sequence);
    if (place && place->begun == calls.number && place->digest != calls.digest) {
        return differ(calls, "has called something else before " + own_place(calls.sequence));
    }
    return std::nullopt;
}

/// Whether nothing is under way between this rank, which is done with the call, and the other.
bool FarDoubts::is_silent(const FarWait& wait, const CallPlace& own) {
    if (!wait.channel || own.finished < wait.number) {
        return false;
    }
    const auto kind = static_cast<Carrier::Channel>(static_cast<std::uint32_t>(*wait.channel) % 2);
    const Tally& tally = station_->tallies[wait.sequence].of(wait.rank, kind);
    return wait.sends ? tally.got < wait.messages : tally.sent == wait.messages;
}

bool FarDoubts::wait_for_each_other(const FarWait& wait, const FarWait& own) {
    if (!wait.is_only || !own.is_only || wait.sequence == own.sequence ||
        is_persistent(own.sequence)) { // Then the other rank, to which this one tells its wait.
        return false;
    }
    const auto place = own_->place(wait.sequence); // It is known: `contradiction` has looked.
    const bool is_begun_here = is_persistent(wait.sequence)
                                   ? place->begun >= wait.number
                                   : has_begun(wait, place->begun, own_->nonblocking_started());
    return !is_begun_here && !has_begun(own, wait.blocking_begun, wait.nonblocking_started) &&
           (own.peer == wait.rank || needs(own.last.back(), own.rank, wait.rank));
}

/// Whether a rank that has come so far has begun or queued this call, which is not persistent.
bool FarDoubts::has_begun(const FarWait& call, std::uint64_t blocking_begun,
                          std::uint64_t nonblocking_started) const {
    if (call.sequence == 0) {
        return blocking_begun >= call.number;
    }
    const auto turns = static_cast<std::uint64_t>(own_->nonblocking_sequences());
    return nonblocking_started >=
           (call.number - 1) * turns + static_cast<std::uint64_t>(call.sequence);
}

/// "operation 3, allreduce of 8 bytes".
std::string FarDoubts::where(const FarCalls& calls) const {
    return name_of(calls.sequence, calls.number) +
           (calls.last.empty() ? "" : ", " + detail::describe(calls.last.back()));
}

std::string FarDoubts::own_place(int sequence) {
    const auto place = own_->place(sequence);
    if (place && place->begun == CallPlace::all) {
        return name_of(sequence, 1) + ", which it has freed";
    }
    FarCalls own;
    own.sequence = sequence;
    own.number = place ? place->begun : 0;
    if (const auto terms = own_->terms(sequence, own.number)) {
        own.last = {*terms};
    }
    return where(own);
}

team::Failure FarDoubts::differ(const FarCalls& calls, const std::string& how) const {
    return {Errc::mismatch,
            "the ranks of a team of " + std::to_string(station_->size()) + " over " +
                std::to_string(station_->nodes()) + " nodes differ in " +
                name_of(calls.sequence, calls.number) + ": " + station_->name_of(calls.rank) +
                " in " +
                (calls.last.empty() ? "an operation" : detail::describe(calls.last.back())) + "; " +
                station_->name_of(station_->rank) + " " + how + "; " + detail::all_call_the_same,
            {calls.rank, station_->rank}};
}

team::Failure FarDoubts::differ_in_count(const FarCalls& calls, const std::string& its,
                                         const std::string& own) const {
    return {Errc::mismatch,
            station_->name_of(calls.rank) + " has left a team of " +
                std::to_string(station_->size()) + " over " + std::to_string(station_->nodes()) +
                " nodes after " + its + ", and " + station_->name_of(station_->rank) +
                " has come to " + own + "; " + detail::all_call_the_same,
            {calls.rank, station_->rank}};
}

bool FarDoubts::has_said_farewell() {
    const NodeTree& tree = station_->tree;
    if (!is_leaving_) {
        return true;
    }
    if (!has_told_parent_ && children_left_ == tree.children.size()) {
        has_told_parent_ = true;
        is_released_ = tree.parent < 0;
        const std::vector<FarCalls> all = own_->all_calls();
        for (std::size_t i = 0; i < all.size() && tree.parent >= 0; ++i) {
            notices_.tell(tree.parent, Farewell{all[i], i + 1 == all.size()});
        }
    }
    if (is_released_) {
        is_leaving_ = false;
        for (const NodeTree::Child& child : tree.children) {
            notices_.tell(child.rank, Release{});
        }
    }
    return is_released_;
}

/// To a rank of each other node, which tells its node. Each rank of this node tells another one, so
/// that nobody has to wait for a rank that is busy. The ranks that are named, and those that wait
/// for this one, may have nobody else to tell them.
void FarDoubts::tell(const team::Failure& failure) {
    if (has_told_failure_ || !notices_.are_carried()) {
        return;
    }
    has_told_failure_ = true;
    std::vector<std::vector<Rank>> members(static_cast<std::size_t>(station_->nodes()));
    for (Rank rank = 0; rank < station_->size(); ++rank) {
        members[static_cast<std::size_t>(
                    station_->home.node_of_rank[static_cast<std::size_t>(rank)])]
            .push_back(rank);
    }
    std::set<Rank> to(failure.ranks.begin(), failure.ranks.end());
    for (const auto& ranks : members) {
        to.insert(ranks[static_cast<std::size_t>(station_->own) % ranks.size()]);
    }
    for (const auto& [key, wait] : others_) {
        to.insert(wait.rank);
    }
    for (const Rank rank : to) {
        if (rank >= 0 && rank < station_->size() && station_->home.is_far(rank)) {
            notices_.tell(rank, failure);
        }
    }
}

} // namespace corymb::cluster
