// SPDX-License-Identifier: Apache-2.0
// Whether a rank on another node has called something else, so that a wait cannot end.
#pragma once

#include "cluster/notices.hpp"
#include "cluster/station.hpp"
#include "team/call_terms.hpp"
#include "team/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corymb::cluster {

/// How far a rank is in a sequence of calls (FarWait::sequence).
struct CallPlace {
    static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t begun = 0;    ///< `all`: it calls none any more.
    std::uint64_t finished = 0; ///< Calls up to this one send and take nothing more.
    std::uint64_t digest = 0;   ///< Digest of all that have begun.
};

/// The calls of this rank, as far as they can be compared with those of others.
class OwnCalls {
public:
    OwnCalls() = default;
    OwnCalls(const OwnCalls&) = delete;
    OwnCalls& operator=(const OwnCalls&) = delete;

    /// None: nobody knows it any more.
    [[nodiscard]] virtual std::optional<CallPlace> place(int sequence) = 0;
    [[nodiscard]] virtual std::optional<team::CallTerms> terms(int sequence,
                                                               std::uint64_t number) = 0;
    /// What this rank waits for.
    [[nodiscard]] virtual std::vector<FarWait> waits() = 0;
    /// All that this rank has called, at least one.
    [[nodiscard]] virtual std::vector<FarCalls> all_calls() = 0;
    /// Nonblocking operations that were started, and the sequences that they go to in turn.
    [[nodiscard]] virtual std::uint64_t nonblocking_started() const = 0;
    [[nodiscard]] virtual int nonblocking_sequences() const = 0;

protected:
    ~OwnCalls() = default;
};

/// A rank that waits for long tells the awaited rank where, and what it has called. The awaited
/// rank looks at that in long waits of its own, and finds out whether the calls contradict.
///
/// They do in these cases:
/// - A call of the same number, or one before, differs.
/// - A message has come that belongs to no call of that number.
/// - The awaited rank is done with the call, and all its messages have come: it sends nothing more.
/// - Each waits in a call which the other has not begun, and can do nothing else before.
/// - A rank has said farewell, and has called less, or the awaited one does.
class FarDoubts {
public:
    FarDoubts(Station& station, OwnCalls& own) noexcept
        : station_(&station), own_(&own), notices_(*station.carrier) {}

    /// In long waits: says why they cannot end, if so.
    [[nodiscard]] std::optional<team::Failure> look();
    /// Tells the other nodes why the team is broken, once.
    void tell(const team::Failure& failure);

    /// This rank calls nothing more. All ranks say so along the tree that brings plans, up and down
    /// again, and compare their calls meanwhile.
    void begin_farewell() noexcept { is_leaving_ = notices_.are_carried(); }
    /// After `look`. True: all ranks have said farewell, or nobody can be told.
    [[nodiscard]] bool has_said_farewell();

private:
    [[nodiscard]] std::optional<team::Failure> look_at_notices();
    void tell_waits(const std::vector<FarWait>& waits);
    [[nodiscard]] std::optional<team::Failure> contradiction(const FarWait& wait);
    [[nodiscard]] std::optional<team::Failure> contradiction(const Farewell& farewell);
    [[nodiscard]] std::optional<team::Failure> other_call(const FarCalls& calls);
    [[nodiscard]] bool is_silent(const FarWait& wait, const CallPlace& own);
    [[nodiscard]] bool wait_for_each_other(const FarWait& wait, const FarWait& own);
    [[nodiscard]] bool has_begun(const FarWait& call, std::uint64_t blocking_begun,
                                 std::uint64_t nonblocking_started) const;
    [[nodiscard]] std::string where(const FarCalls& calls) const;
    [[nodiscard]] std::string own_place(int sequence);
    [[nodiscard]] team::Failure differ(const FarCalls& calls, const std::string& how) const;
    [[nodiscard]] team::Failure differ_in_count(const FarCalls& calls, const std::string& its,
                                                const std::string& own) const;

    Station* station_;
    OwnCalls* own_;
    Notices notices_;
    std::map<std::pair<Rank, int>, FarWait> others_; ///< By rank and sequence.
    std::map<int, FarWait> told_;                    ///< By sequence.
    /// Ranks that have not taken the last wait. They are told no other, since a rank that is never
    /// in a long wait takes none.
    std::set<Rank> has_to_take_;
    std::optional<team::Failure> known_;
    bool has_told_failure_ = false;
    bool is_leaving_ = false;
    std::vector<Farewell> farewells_;
    std::size_t children_left_ = 0; ///< Children of the tree that have said farewell.
    bool has_told_parent_ = false;
    bool is_released_ = false;
};

} // namespace corymb::cluster
