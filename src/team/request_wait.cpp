// SPDX-License-Identifier: Apache-2.0
#include "team/request_wait.hpp"

#include "team/disagreement.hpp"

#include <fmt/format.h>

#include <string>

namespace corymb::detail {

namespace {

using RankState = team::LaneState<team::Env>;

// The word has, from the lowest bit: 16 bits of a call that is far from all that the rank is in, so
// that nobody takes it for a standstill in a call; 12 of the lane; 16 of the peer; 1 for `sends`;
// 19 of the number.
constexpr std::uint64_t far_away = 1U << 15U;
constexpr std::uint64_t lanes_max = 1U << 12U;
constexpr std::uint64_t ranks_max = 1U << 16U;
constexpr std::uint64_t numbers = 1U << 19U;

std::uint64_t started(const RankState& state) noexcept {
    return state.started.load(std::memory_order_relaxed);
}

std::uint64_t mark_of(const RankState& state) noexcept {
    return (started(state) + far_away) & 0xFFFFU;
}

std::optional<RequestWait> shown_by(const RankState& state) noexcept {
    const std::uint64_t word = state.standstill.load(std::memory_order_relaxed);
    if (word == 0 || (word & 0xFFFFU) != mark_of(state)) {
        return std::nullopt;
    }
    return RequestWait{static_cast<team::LaneId>((word >> 16U) % lanes_max),
                       static_cast<Rank>((word >> 28U) % ranks_max), (word >> 44U & 1U) != 0,
                       word >> 45U};
}

/// Whether no rank is through with the call before all have begun it.
bool needs_all(const team::CallTerms& terms) noexcept {
    switch (team::op_of(terms)) {
    case Collective::barrier: return true;
    case Collective::allreduce:
    case Collective::allgather:
    case Collective::alltoall:
    case Collective::reduce_scatter: return terms.bytes != 0 && !team::is_vector(terms);
    default: return false;
    }
}

/// The state of `rank` on the lane of a wait; null: it has had nothing to do there.
const RankState* state_in(TeamShared& shared, Rank rank, Rank peer, bool sends, team::LaneId lane) {
    const auto edges = shared.lane(lane);
    return lane == team::pair_lane ? edges.pair_state_if_made(rank, peer, sends)
                                   : edges.lane_state_if_made(rank);
}

/// "message 3 from rank 0", or "barrier, its operation 1 on lane 2".
std::string text_of(TeamShared& shared, Rank awaited, const RequestWait& wait,
                    const RankState& waiting) {
    const std::uint64_t number = started(waiting);
    if (wait.lane == team::pair_lane) {
        return fmt::format("message {} {} {}", number, wait.sends ? "to" : "from",
                           shared.name_of(awaited));
    }
    const auto terms = waiting.calls.read(number);
    return fmt::format("a request of {}, number {} on lane {}",
                       terms ? describe(*terms) : std::string("an operation"), number, wait.lane);
}

} // namespace

void ShownWait::show(TeamShared& shared, Rank own, const RequestWait& wait) noexcept {
    if (wait.peer < 0 || wait.lane >= lanes_max ||
        static_cast<std::uint64_t>(wait.peer) >= ranks_max) {
        return;
    }
    is_shown_ = true;
    RankState& state = shared.fabric.state(own);
    state.standstill.store(mark_of(state) | static_cast<std::uint64_t>(wait.lane) << 16U |
                               static_cast<std::uint64_t>(wait.peer) << 28U |
                               std::uint64_t{wait.sends} << 44U | (wait.number % numbers) << 45U,
                           std::memory_order_relaxed);
}

std::optional<team::Failure> waits_in_request(TeamShared& shared, Rank own, Rank awaited) {
    const RankState& mine = shared.fabric.state(own);
    const std::uint64_t number = started(mine);
    const auto terms = mine.calls.read(number);
    if (!terms) {
        return std::nullopt;
    }
    for (Rank other = 0; other < shared.fabric.size(); ++other) {
        const RankState& theirs = shared.fabric.state(other);
        const auto wait = shown_by(theirs);
        if (other == own || !wait || wait->peer != own || started(theirs) >= number ||
            !(needs_all(*terms) || other == awaited)) {
            continue;
        }
        const RankState* const waiting = state_in(shared, other, own, wait->sends, wait->lane);
        const RankState* const wanted = state_in(shared, own, other, !wait->sends, wait->lane);
        if (waiting == nullptr || started(*waiting) % numbers != wait->number ||
            (wanted != nullptr && started(*wanted) >= started(*waiting))) {
            continue;
        }
        return team::Failure{
            Errc::mismatch,
            fmt::format("{} waits in operation {} of a team of {}, {}, for {}, which waits for {} "
                        "and has not begun that operation; blocking calls, requests and messages "
                        "do not meet each other: all ranks make the same kind of call",
                        shared.name_of(own), number, shared.fabric.size(), detail::describe(*terms),
                        shared.name_of(other), text_of(shared, own, *wait, *waiting)),
            {own, other}};
    }
    return std::nullopt;
}

} // namespace corymb::detail
