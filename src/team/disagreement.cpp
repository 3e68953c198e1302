// SPDX-License-Identifier: Apache-2.0
#include "team/disagreement.hpp"

#include "team/blame.hpp"

#include <corymb/detail/contents.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace corymb::detail {

namespace {

using RankState = team::LaneState<team::Env>;

/// The state of each rank on a lane; null: the rank has none.
std::vector<const RankState*> states_of(TeamShared& shared, team::LaneId lane) {
    std::vector<const RankState*> states;
    const auto edges = shared.lane(lane);
    for (Rank rank = 0; rank < shared.fabric.size(); ++rank) {
        states.push_back(lane == 0 ? &shared.fabric.state(rank) : edges.lane_state_if_made(rank));
    }
    return states;
}

std::uint64_t started(const RankState& state) noexcept {
    return state.started.load(std::memory_order_relaxed);
}

std::uint64_t finished(const RankState* state) noexcept {
    return state == nullptr ? 0 : state->finished.load(std::memory_order_relaxed);
}

/// Ranks that have made equal calls.
struct Party {
    team::CallTerms terms;
    std::vector<Rank> ranks;
};

/// The parties in operation `number`, the largest first.
std::vector<Party> parties(const std::vector<const RankState*>& states, std::uint64_t number) {
    std::vector<Party> all;
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
        const auto terms =
            states[rank] == nullptr ? std::nullopt : states[rank]->calls.read(number);
        if (!terms) {
            continue;
        }
        auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Party& party) { return party.terms == *terms; });
        if (found == all.end()) {
            found = all.insert(all.end(), {*terms, {}});
        }
        found->ranks.push_back(static_cast<Rank>(rank));
    }
    std::sort(all.begin(), all.end(), [](const Party& left, const Party& right) {
        return left.ranks.size() != right.ranks.size() ? left.ranks.size() > right.ranks.size()
                                                       : left.ranks.front() < right.ranks.front();
    });
    return all;
}

bool differ_in(const std::vector<const RankState*>& states, std::uint64_t number) {
    std::optional<team::CallTerms> first;
    for (const RankState* const state : states) {
        const auto terms = state == nullptr ? std::nullopt : state->calls.read(number);
        if (terms && first && *terms != *first) {
            return true;
        }
        first = first ? first : terms;
    }
    return false;
}

std::string on_lane(team::LaneId lane) {
    return lane == 0 ? std::string() : fmt::format(" on lane {}", lane);
}

team::Failure failure_of(TeamShared& shared, std::uint64_t number, team::LaneId lane,
                         const std::vector<Party>& all) {
    team::Failure failure{Errc::mismatch, "", {}};
    std::vector<std::string> texts;
    for (const Party& party : all) {
        texts.push_back(
            fmt::format("{} in {}", names_of(shared, party.ranks), describe(party.terms)));
        if (&party != &all.front()) {
            failure.ranks.insert(failure.ranks.end(), party.ranks.begin(), party.ranks.end());
        }
    }
    std::sort(failure.ranks.begin(), failure.ranks.end());
    failure.text = fmt::format("the ranks of a team of {} differ in operation {}{}: {}; {}",
                               shared.fabric.size(), number, on_lane(lane), fmt::join(texts, "; "),
                               all_call_the_same);
    return failure;
}

const char* name_of(OtherElements elements) noexcept {
    switch (elements) {
    case OtherElements::records: return "records";
    case OtherElements::text: return "text";
    case OtherElements::bytes: return "strings of bytes";
    case OtherElements::long_doubles: return "long double";
    case OtherElements::complex_long_doubles: return "complex long double";
    default: return "other elements";
    }
}

std::string elements_of(std::uint32_t identity) {
    const std::uint32_t upper = (identity - 1U) / 256U;
    const std::uint32_t lower = (identity - 1U) % 256U;
    if (lower == other_byte_order) {
        return fmt::format("{} of the other byte order", to_string(type_of_identity(identity)));
    }
    if (lower > other_byte_order || upper < first_other) {
        return to_string(type_of_identity(identity));
    }
    const std::uint32_t other = upper - first_other;
    return fmt::format("{} (digest of the format {:x})",
                       name_of(static_cast<OtherElements>(other / other_span)),
                       other % other_span * 256U + lower);
}

std::string describe(const ObjectCall& object, const team::CallTerms& terms) {
    std::string text = fmt::format("{} of an object", to_string(object.called));
    if (object.with) {
        text += fmt::format(" with {}", to_string(*object.with));
    }
    const bool says_root = is_rooted(object.called) && is_rooted(team::op_of(terms));
    return says_root ? fmt::format("{}, root {}", text, team::root_of(terms)) : text;
}

/// The call that a rank is in, or was in last: "broadcast of 8 bytes, root 0".
std::string latest_call(const RankState& state) {
    const auto terms = state.calls.read(started(state));
    return terms ? detail::describe(*terms) : "an operation";
}

/// The failure of ranks whose digests up to `number` differ, when no log goes back to the first
/// difference.
team::Failure differ_before(TeamShared& shared, team::LaneId lane, Rank own, Rank other,
                            std::uint64_t number, const RankState& at_own) {
    const std::uint64_t known = number - std::min(number - 1, RankState::Log::entries - 1);
    return {Errc::mismatch,
            fmt::format("{} and {} of a team of {} have called different operations{} before "
                        "number {}, and now wait in number {}, {}; {}",
                        shared.name_of(own), shared.name_of(other), shared.fabric.size(),
                        on_lane(lane), known, number, latest_call(at_own), all_call_the_same),
            {own, other}};
}

/// The awaited rank has nothing more to send for operation `number`.
team::Failure awaits_nothing(TeamShared& shared, team::LaneId lane, Rank own, Rank other,
                             std::uint64_t number, const std::vector<const RankState*>& states) {
    const RankState& at_own = *states[static_cast<std::size_t>(own)];
    const RankState& at_other = *states[static_cast<std::size_t>(other)];
    return {Errc::mismatch,
            fmt::format("{} waits in operation {}{} of a team of {}, {}, for {}, which has done "
                        "its operation {} and has come to operation {}, {}; {}",
                        shared.name_of(own), number, on_lane(lane), shared.fabric.size(),
                        latest_call(at_own), shared.name_of(other), number, started(at_other),
                        latest_call(at_other), all_call_the_same),
            {own, other}};
}

/// In one word: operation `number`, and the calls up to it.
std::uint64_t standstill_of(std::uint64_t number, const team::CallDigest& digest) noexcept {
    const std::uint64_t word = digest.value() << 16U | (number & 0xFFFFU);
    return word == 0 ? 1U << 16U : word;
}

/// Whether two words of the function above describe different calls of one operation.
bool contradict(std::uint64_t one, std::uint64_t other) noexcept {
    return one != 0 && other != 0 && one != other && (one & 0xFFFFU) == (other & 0xFFFFU);
}

/// "has sent 8 bytes" of message `number`, or where the log no longer has it, of a later one.
std::string said_of_message(const RankState& state, std::uint64_t number, const char* what) {
    if (const auto terms = state.calls.read(number)) {
        return fmt::format("{} {} bytes", what, terms->bytes);
    }
    const std::uint64_t latest = started(state);
    const auto terms = state.calls.read(latest);
    return fmt::format("{} it and has come to message {}{}", what, latest,
                       terms ? fmt::format(", of {} bytes", terms->bytes) : std::string());
}

/// The failure of a message whose ends disagree. Both have begun a message with this peer.
team::Failure pair_failure(TeamShared& shared, Rank own, Rank peer, bool sends,
                           std::uint64_t number) {
    const auto edges = shared.lane(team::pair_lane);
    const Rank sender = sends ? own : peer;
    const Rank receiver = sends ? peer : own;
    return {
        Errc::mismatch,
        fmt::format(
            "message {} from {} to {}: the sender {}, the receiver {}; both give the "
            "same number of bytes",
            number, shared.name_of(sender), shared.name_of(receiver),
            said_of_message(*edges.pair_state_if_made(sender, receiver, true), number, "has sent"),
            said_of_message(*edges.pair_state_if_made(receiver, sender, false), number, "wants")),
        {sender, receiver}};
}

} // namespace

std::string describe(const team::CallTerms& terms) {
    const Collective op = team::op_of(terms);
    if (op == Collective::barrier) {
        return std::string(to_string(op));
    }
    const std::uint32_t identity = team::identity_of(terms);
    if (const auto object = object_call_of_identity(identity)) {
        return describe(*object, terms);
    }
    std::string text = fmt::format("{} of {} bytes", to_string(op), terms.bytes);
    if (team::is_vector(terms)) {
        text = fmt::format("{}v", to_string(op));
        if (terms.bytes != 0) {
            text += fmt::format(" with counts of digest {:012x}", terms.bytes);
        }
    }
    if (identity != 0) {
        text += " of " + elements_of(identity);
        if (is_reduction(op)) {
            text += fmt::format(" with {}", to_string(operator_of_identity(identity)));
        }
    }
    if (team::is_in_rank_order(terms)) {
        text += ", in rank order";
    }
    if (is_rooted(op)) {
        text += fmt::format(", root {}", team::root_of(terms));
    }
    if (team::is_reproducible(terms)) {
        text += ", reproducible";
    }
    return text;
}

std::optional<team::Failure> disagreement(TeamShared& shared, team::LaneId lane,
                                          std::uint64_t last) {
    const auto states = states_of(shared, lane);
    for (std::uint64_t number = last - std::min(last, RankState::Log::entries) + 1; number <= last;
         ++number) {
        if (differ_in(states, number)) {
            const auto all = parties(states, number);
            if (all.size() > 1) { // A log may have gone on.
                return failure_of(shared, number, lane, all);
            }
        }
    }
    return std::nullopt;
}

std::optional<team::Failure> WaitDoubts::contradiction(TeamShared& shared, team::LaneId lane,
                                                       Rank own, const LongWait& wait,
                                                       const team::CallDigest& digest,
                                                       std::uint64_t looks) {
    const auto states = states_of(shared, lane);
    const std::uint64_t number = wait.number;
    const std::uint64_t standstill = standstill_of(number, digest);
    RankState& mine = lane == 0 ? shared.fabric.state(own) : shared.lane(lane).lane_state(own);
    mine.standstill.store(standstill, std::memory_order_relaxed);
    if (!known_ && differ_in(states, number)) {
        known_ = disagreement(shared, lane, number);
    }
    if (known_) {
        return known_;
    }
    bool are_done = true; // The awaited ranks are done with the operation.
    Rank done = -1;
    for (Rank rank = 0; rank < shared.fabric.size(); ++rank) {
        const RankState* const other = states[static_cast<std::size_t>(rank)];
        if (rank == own) {
            continue;
        }
        if (other != nullptr &&
            contradict(standstill, other->standstill.load(std::memory_order_relaxed)) &&
            started(*other) == number) {
            known_ = disagreement(shared, lane, number);
            known_ = known_ ? known_ : differ_before(shared, lane, own, rank, number, mine);
            return known_;
        }
        if (wait.peer < 0 || rank == wait.peer) {
            are_done = are_done && finished(other) >= number;
            done = rank;
        }
    }
    if (looks == 0 || !are_done || done < 0 || !is_certain(wait, looks)) {
        return std::nullopt;
    }
    auto found = disagreement(shared, lane, number);
    return found ? found : awaits_nothing(shared, lane, own, done, number, states);
}

std::optional<team::Failure> WaitDoubts::contradiction(TeamShared& shared, Rank own, bool sends,
                                                       const LongWait& wait, std::uint64_t looks) {
    auto edges = shared.lane(team::pair_lane);
    RankState& mine = edges.pair_state(own, wait.peer, sends);
    mine.standstill.store(standstill_of(wait.number, {}), std::memory_order_relaxed);
    const RankState* const other = edges.pair_state_if_made(wait.peer, own, !sends);
    if (other == nullptr) {
        return std::nullopt;
    }
    const bool both_wait = other->standstill.load(std::memory_order_relaxed) ==
                           mine.standstill.load(std::memory_order_relaxed);
    if (both_wait) {
        known_ = known_ ? known_ : message_mismatch(shared, own, wait.peer, sends, wait.number);
        if (known_) {
            return known_;
        }
    }
    if (looks == 0 || finished(other) < wait.number || !is_certain(wait, looks)) {
        return std::nullopt;
    }
    return pair_failure(shared, own, wait.peer, sends, wait.number);
}

std::optional<team::Failure> message_mismatch(TeamShared& shared, Rank own, Rank peer, bool sends,
                                              std::uint64_t number) {
    const auto edges = shared.lane(team::pair_lane);
    const RankState* const mine = edges.pair_state_if_made(own, peer, sends);
    const RankState* const other = edges.pair_state_if_made(peer, own, !sends);
    const auto here = mine == nullptr ? std::nullopt : mine->calls.read(number);
    const auto there = other == nullptr ? std::nullopt : other->calls.read(number);
    if (!here || !there || *here == *there) {
        return std::nullopt;
    }
    return pair_failure(shared, own, peer, sends, number);
}

team::Failure foreign_message(TeamShared& shared, Rank rank) {
    return {Errc::mismatch,
            fmt::format("{} has met a message that belongs to another call: ranks have called "
                        "different operations, or sent and received different numbers of bytes or "
                        "different kinds of contents",
                        shared.name_of(rank)),
            {}};
}

team::Failure foreign_message(TeamShared& shared, team::LaneId lane, Rank own, Rank peer,
                              std::uint64_t number) {
    const auto states = states_of(shared, lane);
    const RankState* const mine = states[static_cast<std::size_t>(own)];
    const RankState* const other = peer < 0 ? nullptr : states[static_cast<std::size_t>(peer)];
    if (mine == nullptr || other == nullptr) {
        return foreign_message(shared, own);
    }
    return {Errc::mismatch,
            fmt::format("{} is in operation {}{} of a team of {}, {}, and has met a message of "
                        "another call, or with different numbers of bytes, by {}, which has come "
                        "to operation {}, {}; {}",
                        shared.name_of(own), number, on_lane(lane), shared.fabric.size(),
                        latest_call(*mine), shared.name_of(peer), started(*other),
                        latest_call(*other), all_call_the_same),
            {own, peer}};
}

} // namespace corymb::detail
