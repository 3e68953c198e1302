// SPDX-License-Identifier: Apache-2.0
// Purpose: ranks make the same calls in the same order, but must not wait for each other in them.
// Each tells what it knows, once a term. The first rank that comes to a call says whether the term
// ends with that call: it does if all ranks have told. All ranks end the term at one call, and then
// know what all have told.
//
// Roles: the ranks of one shared memory. Each keeps its FirstComerEnd in private memory. The ends
// are equal on all ranks whenever they have made the same calls, except for who has told.
//
// Layout: by the parity of the term, as ranks may be in two terms at once:
//   field                 written by          read by
//   decided               who comes first     all       2 * call + 1 if the term ends with it
//   told                  each rank, once     all       how often ranks have told
//   facts[rank]           the rank            all
//
// Protocol:
//   tell   1. write facts[rank]; 2. count it in `told` (P1).
//   ends   1. look at `decided`: if it names this call or a later one, the call is decided (P2);
//          2. else look whether all have told (P1), and replace `decided` by this call and what it
//          is (P2); 3. if another rank came in between, its decision holds (P2).
//   skip   replace `decided` by the last call that the rank has made without a look, unless it
//          names a later one. The rank tells only then (P1): no call up to that one ends the term.
//   A call that is later than this one, and is in `decided`, did not end the term, and neither did
//   this one. The two words of a term are used again two terms later. By then all ranks have told
//   in the term between, so they have read what they need here: P1 and P2 of that term order it.
//   Calls are numbered on, and `told` is counted on, so that nothing is ever reset.
//
// Order:
//   P1: release addition to `told` in tell -> acquire load in ends: publishes facts; that the rank
//       has read the facts of the term before; and the calls that it has skipped in `decided`.
//   P2: release replacement of `decided` in ends -> acquire load in ends: the facts of all ranks,
//       for those who come later.
//
// Progress: wait-free. A rank that never tells keeps its term open.
//
// Checked by: verify/worlds/first_comer_world.cpp.
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb::channel {

/// In shared memory, with `2 * ranks` Facts beside it. Zeroed memory is ready for use.
template <class Env, std::size_t Words>
struct alignas(cache_line_bytes) FirstComer {
    using Facts = typename Env::template Bytes<Words * sizeof(std::uint64_t)>;

    struct Term {
        typename Env::template Atomic<std::uint64_t> decided;
        typename Env::template Atomic<std::uint64_t> told;
    };
    Term term[2];
};

/// The private end of one rank.
template <class Env, std::size_t Words>
class FirstComerEnd {
public:
    using Shared = FirstComer<Env, Words>;
    using Facts = std::array<std::uint64_t, Words>;

    FirstComerEnd(Shared& shared, typename Shared::Facts* facts, std::size_t rank,
                  std::size_t ranks) noexcept
        : shared_(&shared), facts_(facts), rank_(rank), ranks_(ranks) {}

    [[nodiscard]] bool has_told() const noexcept { return has_told_; }
    /// Calls of this term so far.
    [[nodiscard]] std::uint64_t calls() const noexcept { return call_[parity()] - first_; }

    /// A rank that has made so many calls, from the first one on, before it could look: none of
    /// them ends the first term. Before it tells, or has looked.
    void skip(std::uint64_t calls) {
        CORYMB_ASSERT(number_ == 0 && !has_told_ && call_[0] == 0);
        auto& decided = shared_->term[0].decided;
        std::uint64_t known = decided.load(std::memory_order_relaxed);
        while (known / 2 < calls && !decided.replace(known, 2 * calls, std::memory_order_relaxed)) {
            known = decided.load(std::memory_order_relaxed);
        }
        call_[0] = calls;
    }
    /// Once a term.
    void tell(const Facts& mine) {
        CORYMB_ASSERT(!has_told_);
        auto& own = facts_[parity() * ranks_ + rank_];
        own.put(mine.data(), sizeof mine);
        CORYMB_DEBUG_ASSERT(std::memcmp(own.view(sizeof mine), mine.data(), sizeof mine) == 0);
        const std::uint64_t before =
            shared_->term[parity()].told.fetch_add(1, std::memory_order_release); // P1 release
        CORYMB_ASSERT(before / ranks_ == number_ / 2);
        has_told_ = true;
    }
    /// The rank's next call. True: the term ends with it, on all ranks; `facts` can be read until
    /// `begin_term`.
    [[nodiscard]] bool ends() {
        CORYMB_ASSERT(call_[parity()] >= first_);
        auto& term = shared_->term[parity()];
        const std::uint64_t call = ++call_[parity()];
        std::uint64_t decided = term.decided.load(std::memory_order_acquire); // P2 acquire
        if (decided / 2 < call) {
            const std::uint64_t all = (number_ / 2 + 1) * ranks_;
            const std::uint64_t told = term.told.load(std::memory_order_acquire); // P1 acquire
            CORYMB_ASSERT(told <= all && told + ranks_ >= all);
            const bool is_last = told == all;
            const std::uint64_t mine = 2 * call + (is_last ? 1 : 0);
            CORYMB_ASSERT(decided < 2 * call);                        // A call is decided once.
            CORYMB_ASSERT(decided % 2 == 0 || decided / 2 == first_); // No call follows the end.
            if (term.decided.replace(decided, mine, std::memory_order_release)) { // P2 release
                return is_last;
            }
            decided = term.decided.load(std::memory_order_acquire); // P2 acquire
        }
        CORYMB_ASSERT(decided / 2 >= call);
        const bool is_end = decided == 2 * call + 1;
        CORYMB_DEBUG_ASSERT(!is_end || Env::peek(term.told) == (number_ / 2 + 1) * ranks_);
        return is_end;
    }
    /// The call is none, and is to be made again. Only after `ends` has returned false.
    void take_back() noexcept { --call_[parity()]; }
    /// What a rank has told in the term that has ended.
    [[nodiscard]] Facts facts(std::size_t rank) const {
        Facts of_rank;
        const auto& there = facts_[parity() * ranks_ + rank];
        std::memcpy(of_rank.data(), there.view(sizeof of_rank), sizeof of_rank);
        CORYMB_DEBUG_ASSERT(
            std::memcmp(of_rank.data(), there.view(sizeof of_rank), sizeof of_rank) == 0);
        return of_rank;
    }
    /// After the end of a term.
    void begin_term() {
        CORYMB_ASSERT(has_told_); // A term ends only if all have told.
        ++number_;
        first_ = call_[parity()];
        has_told_ = false;
    }

private:
    [[nodiscard]] std::size_t parity() const noexcept { return number_ % 2; }

    Shared* shared_;
    typename Shared::Facts* facts_;
    std::size_t rank_;
    std::size_t ranks_;
    std::uint64_t number_ = 0;            ///< Terms that are over.
    std::array<std::uint64_t, 2> call_{}; ///< The last call of each parity's terms.
    std::uint64_t first_ = 0;             ///< The last call before this term.
    bool has_told_ = false;               ///< In this term.
};

} // namespace corymb::channel
