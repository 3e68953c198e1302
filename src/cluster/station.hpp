// SPDX-License-Identifier: Apache-2.0
// The part of a team over several nodes that all operations of one rank share: its place, its
// teammates, and its reports of failures.
#pragma once

#include "cluster/node_part.hpp"
#include "cluster/node_program.hpp"
#include "cluster/node_tree.hpp"
#include "team/team_shared.hpp"

#include <corymb/carrier.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace corymb::detail {
struct Member;
} // namespace corymb::detail

namespace corymb::cluster {

/// The lane of the node's team for blocking operations. Other operations have the lanes after it.
inline constexpr team::LaneId cluster_lane = team::first_own_lane + team::own_lanes_max;
/// Nonblocking collective number s has lane cluster_lane + 1 + s mod lanes, and the carrier's
/// channels of that number; there are at most so many.
inline constexpr int nonblocking_lanes_max = 8;
/// Persistent operations have the lanes after the nonblocking ones, as they come free on the node,
/// and a pair of the carrier's channels for as long as the team lives: notices_pair + its number,
/// from 1.
inline constexpr int notices_pair = nonblocking_lanes_max + 1;
inline constexpr team::LaneId first_persistent_lane = cluster_lane + 1 + nonblocking_lanes_max;
/// Deadline of a wait within the node. It is a little longer than that of a wait for another node,
/// so that the waiting rank hears the reason from its teammate.
[[nodiscard]] constexpr std::int64_t deadline_within_node(std::int64_t deadline_ns) noexcept {
    return deadline_ns + deadline_ns / 8;
}

/// An answer of rank 0: one text for all ranks, or a text for each node.
using Texts = std::vector<std::string>;

/// Messages to and from one rank on one channel so far.
struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t got = 0;
};
/// The tallies of a pair of channels.
class Tallies {
public:
    [[nodiscard]] Tally& of(Rank peer, Carrier::Channel kind) {
        return all_[2 * peer + static_cast<Rank>(kind)];
    }

private:
    std::unordered_map<Rank, Tally> all_;
};

/// Thrown when a message has come that belongs to another call than that which waits for it.
struct ForeignMessage {
    Rank from;
};

struct Station {
    Station(detail::Member& local, Carrier& of_messages, const ClusterOptions& options);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    std::shared_ptr<detail::TeamShared> shared; ///< Shared by the ranks on this node.
    Carrier* carrier;
    PlanSource plans;
    /// The default plans are proven, which takes seconds for a thousand ranks.
    bool are_plans_proven;
    Rank rank;
    Home home;
    NodeTree tree;
    Rank own;                 ///< Number on the node.
    std::int64_t deadline_ns; ///< Longest wait for another node.
    Carried carried;
    bool plans_for_pull = true; ///< Asked by the default plans: all nodes allow copies.
    /// By number of the pair of channels; a place in it stays.
    std::map<int, Tallies> tallies;

    [[nodiscard]] int size() const noexcept { return static_cast<int>(home.node_of_rank.size()); }
    [[nodiscard]] int nodes() const noexcept;
    [[nodiscard]] bool can_pull() const noexcept {
        return !shared->company || shared->company->pull;
    }
    [[nodiscard]] std::string name_of(Rank rank) const;
    /// The mark of a carrier's message.
    [[nodiscard]] static int mark_of(channel::Signature signature) noexcept {
        return signature & 0x7FFF;
    }

    /// On rank 0: the part of a plan for each node, as bytes; with '!' in front, the reason why
    /// there is none.
    [[nodiscard]] Texts plan_texts(const team::PlanKey& key, bool all_can_pull);
    /// Reads the part of a plan for this rank's node. Throws Errc::unsupported with the reason.
    [[nodiscard]] NodePart part_of(const team::PlanKey& key, std::string_view text) const;
    /// On rank 0: whether there are plans that may be better than the present one.
    [[nodiscard]] bool has_alternatives(const team::PlanKey& key, bool all_can_pull);
    /// On rank 0, after has_alternatives: numbers of up to `most` alternatives, from 1.
    /// Alternatives that it has not given before come first or, with `best`, the fastest so far.
    [[nodiscard]] std::vector<int> next_alternatives(const team::PlanKey& key, std::size_t most,
                                                     bool best);
    /// On rank 0: the texts of these alternatives for each node, behind `head`.
    [[nodiscard]] Texts alternatives_texts(const team::PlanKey& key, std::span<const int> numbers,
                                           const std::string& head) const;
    struct Alternative {
        int number;
        NodePart part;
    };
    /// The alternatives for this rank's node in such a text without its head.
    [[nodiscard]] std::vector<Alternative> alternatives_of(std::string_view text) const;
    /// On rank 0: records that alternative `number` took `slowdown` times as long as the best one.
    /// 0 stands for the plan that was the first.
    void note(const team::PlanKey& key, int number, double slowdown);
    /// On rank 0: makes this alternative the plan for the key from now on.
    void settle(const team::PlanKey& key, int number) { settled_[key] = number; }

    /// As TeamShared::take_own_lane, apart from the lanes that the local team has taken before.
    /// None: all are in use.
    [[nodiscard]] std::optional<team::LaneId> take_own_lane(std::uint64_t number);
    void give_back_own_lane(team::LaneId id) noexcept;

    /// False: the message belongs to another call than that which waits for it.
    [[nodiscard]] static bool is_of_call(const Carrier::Arrival& arrival, std::size_t bytes,
                                         int mark) noexcept {
        return arrival.mark == mark && arrival.bytes == bytes;
    }
    /// The failure if a foreign message has come from `peer` to this rank, which is in `call`, and
    /// nobody says what `peer` has called.
    [[nodiscard]] team::Failure foreign_message(Rank peer, const std::string& call) const;
    /// Ranks of the node that have not begun operation `number` of a lane.
    [[nodiscard]] std::vector<int> missing(team::LaneId lane, std::uint64_t number);
    /// Ranks of the node that have ended without finishing operation `number` of a lane.
    [[nodiscard]] std::vector<int> lost(team::LaneId lane, std::uint64_t number);
    /// Why a wait for the own node has ended, of `met_other_call` and `cannot_copy` as the engine
    /// says. Ranks in the team's count.
    [[nodiscard]] team::Failure local_failure(team::LaneId lane, std::uint64_t number,
                                              bool met_other_call = false,
                                              bool cannot_copy = false);
    /// The failure when nothing has come from a rank on another node within the deadline.
    [[nodiscard]] team::Failure vain_wait(Rank peer) const;
    /// A failure whose ranks count from 0 on the node, with ranks that count in the team.
    [[nodiscard]] team::Failure as_seen_by_all(team::Failure failure) const;
    /// Breaks the team on this node because this rank `why`, as of WideTeam.
    bool interrupt(const char* why) noexcept;
    void abandon(const std::string& why) noexcept;
    /// Asks the user's hook; if it says so, the team is broken.
    [[nodiscard]] bool is_interrupted() noexcept;
    /// Breaks the team on this node, if it is not broken yet, and throws the failure that counts.
    [[noreturn]] void fail(const team::Failure& failure);
    /// Breaks the team because of the exception that is being handled; returns.
    void break_team();

private:
    /// The plan of this number if this team can run it, otherwise a plan of no ranks.
    [[nodiscard]] Plan checked_plan(const team::PlanKey& key, bool all_can_pull, int alternative);

    /// A plan that is timed beside others.
    struct Rival {
        int number = 0; ///< Number in the order of finding.
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
