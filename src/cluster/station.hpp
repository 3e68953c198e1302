// SPDX-License-Identifier: Apache-2.0
// What one rank of a team over several nodes has for all of its operations: where it is, with whom,
// and how it says what went wrong.
#pragma once

#include "cluster/node_part.hpp"
#include "cluster/node_program.hpp"
#include "cluster/node_tree.hpp"
#include "team/team_shared.hpp"

#include <corymb/cluster_team.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::cluster {

/// A lane of the node's team that nothing else uses: for blocking operations. Those that do not
/// block have the lanes after it.
inline constexpr team::LaneId cluster_lane = team::first_own_lane + team::own_lanes_max;
/// Nonblocking collective number s has lane cluster_lane + 1 + s mod lanes, and the carrier's
/// channels of that number; there are at most so many.
inline constexpr int nonblocking_lanes_max = 8;
/// Persistent ones have the lanes after those, as they come free on the node, and a pair of the
/// carrier's channels for as long as the team lives: nonblocking_lanes_max + its number, from 1.
inline constexpr team::LaneId first_persistent_lane = cluster_lane + 1 + nonblocking_lanes_max;
/// Who waits within the node waits a little longer than who waits for another node, and so hears
/// from that rank what is wrong.
[[nodiscard]] constexpr std::int64_t deadline_within_node(std::int64_t deadline_ns) noexcept {
    return deadline_ns + deadline_ns / 8;
}

/// What rank 0 answers: one text for all ranks, or one for those of each node, by node.
using Texts = std::vector<std::string>;

struct Station {
    Station(Team&& local_team, Carrier& of_messages, const ClusterTeamOptions& options);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    Team local;
    std::shared_ptr<detail::TeamShared> shared;
    Carrier* carrier;
    PlanSource plans;
    bool are_plans_proven; ///< As the default ones are, which takes seconds for a thousand ranks.
    Rank rank;
    Home home;
    NodeTree tree;
    Rank own; ///< On the node.
    Carried carried;
    bool plans_for_pull = true; ///< Asked by the default plans: all nodes allow copies.

    [[nodiscard]] int size() const noexcept { return static_cast<int>(home.node_of_rank.size()); }
    [[nodiscard]] int nodes() const noexcept;
    [[nodiscard]] bool can_pull() const noexcept {
        return !shared->company || shared->company->pull;
    }
    [[nodiscard]] std::string name_of(Rank rank) const;
    /// What a carrier takes as a mark.
    [[nodiscard]] static int mark_of(channel::Signature signature) noexcept {
        return signature & 0x7FFF;
    }

    /// On rank 0: what a plan says to each node, as bytes; with '!' in front, why there is none.
    [[nodiscard]] Texts plan_texts(const team::PlanKey& key, bool all_can_pull);
    /// What it says to this rank's node. Throws Errc::unsupported with the reason.
    [[nodiscard]] NodePart part_of(const team::PlanKey& key, std::string_view text) const;
    /// On rank 0: whether there are plans that may be better than the present one.
    [[nodiscard]] bool has_alternatives(const team::PlanKey& key, bool all_can_pull);
    /// On rank 0, after that: up to `most` of them, by their numbers, from 1: those that it has not
    /// given before come first or, with `best`, those that have taken the least time.
    [[nodiscard]] std::vector<int> next_alternatives(const team::PlanKey& key, std::size_t most,
                                                     bool best);
    /// On rank 0: what these say to each node, behind `head`.
    [[nodiscard]] Texts alternatives_texts(const team::PlanKey& key, std::span<const int> numbers,
                                           const std::string& head) const;
    struct Alternative {
        int number;
        NodePart part;
    };
    /// What such a text, without the head, says to this rank's node.
    [[nodiscard]] std::vector<Alternative> alternatives_of(std::string_view text) const;
    /// On rank 0: the alternative of this number, or 0, the plan that was the first, has taken so
    /// many times as long as the best one.
    void note(const team::PlanKey& key, int number, double slowdown);
    /// On rank 0: this is the plan for the key from now on.
    void settle(const team::PlanKey& key, int number) { settled_[key] = number; }

    /// As of TeamShared, and apart from what the local team has taken before.
    /// None: all are in use.
    [[nodiscard]] std::optional<team::LaneId> take_own_lane(std::uint64_t number);
    void give_back_own_lane(team::LaneId id) noexcept;

    /// False: the message belongs to another call than that which waits for it.
    [[nodiscard]] static bool is_of_call(const Carrier::Arrival& arrival, std::size_t bytes,
                                         int mark) noexcept {
        return arrival.mark == mark && arrival.bytes == bytes;
    }
    /// Such a message has come from `peer` to this rank, which is in `call`.
    [[noreturn]] void fail_foreign(Rank peer, const std::string& call);
    /// Ranks of the node that have not begun operation `number` of a lane.
    [[nodiscard]] std::vector<int> missing(team::LaneId lane, std::uint64_t number);
    /// Those that have ended without finishing it.
    [[nodiscard]] std::vector<int> lost(team::LaneId lane, std::uint64_t number);
    /// Why a wait for the own node has ended, of `met_other_call` and `cannot_copy` as the engine
    /// says. Ranks in the team's count.
    [[nodiscard]] team::Failure local_failure(team::LaneId lane, std::uint64_t number,
                                              bool met_other_call = false,
                                              bool cannot_copy = false);
    /// Of a rank on another node that nothing has come from within the deadline.
    [[nodiscard]] team::Failure vain_wait(Rank peer) const;
    /// The same of a failure whose ranks count from 0 on the node.
    [[nodiscard]] team::Failure as_seen_by_all(team::Failure failure) const;
    /// Asks the user's hook; if it says so, the team is broken.
    [[nodiscard]] bool is_interrupted() noexcept;
    /// Breaks the team on this node, if it is not broken yet, and throws what counts.
    [[noreturn]] void fail(const team::Failure& failure);
    /// The same while an exception is handled, which is the reason; returns.
    void break_team();

private:
    /// One that this team can run, or a plan of no ranks.
    [[nodiscard]] Plan checked_plan(const team::PlanKey& key, bool all_can_pull, int alternative);

    /// A plan that is timed beside others.
    struct Rival {
        int number = 0; ///< As they were found.
        std::string hash{};
        std::string bytes{};
        double slowdown = std::numeric_limits<double>::infinity();
    };
    void find_rivals(const team::PlanKey& key, bool all_can_pull, std::vector<Rival>& found);
    [[nodiscard]] Plan plan_of_rival(const team::PlanKey& key, int number) const;

    std::map<team::PlanKey, int> settled_;
    std::map<team::PlanKey, std::vector<Rival>> rivals_;
};

} // namespace corymb::cluster
