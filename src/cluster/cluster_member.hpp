// SPDX-License-Identifier: Apache-2.0
// What one rank of a team over several nodes holds. Steps within the node are run by the engine,
// in memory that the ranks of the node share; those between nodes are messages of a carrier.
#pragma once

#include "channel/wait_ladder.hpp"
#include "cluster/node_program.hpp"
#include "team/call_terms.hpp"
#include "team/engine.hpp"
#include "team/team_shared.hpp"

#include <corymb/cluster_team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corymb::cluster {

/// The default plans of a team over several nodes; defined by the layer that knows the planner.
/// `can_pull`, asked with each plan: ranks of a node can copy out of each other's memory.
[[nodiscard]] PlanSource default_plans(const ClusterTeamOptions& options,
                                       std::function<bool()> can_pull);

class ClusterMember final : private channel::Watch {
public:
    ClusterMember(Team&& local, Carrier& carrier, const ClusterTeamOptions& options);
    ClusterMember(const ClusterMember&) = delete;
    ClusterMember& operator=(const ClusterMember&) = delete;
    ~ClusterMember();

    [[nodiscard]] Rank rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return static_cast<int>(home_.node_of_rank.size()); }
    [[nodiscard]] const Carried& carried() const noexcept { return carried_; }

    void run(const detail::Wish& wish);
    [[nodiscard]] const Plan& plan(const team::PlanKey& key) { return known(key).plan; }
    [[noreturn]] void fail(const team::Failure& failure);

private:
    using Ticket = Carrier::Ticket;

    struct Known {
        Plan plan;
        NodeProgram program;
    };
    /// A receive that has been posted.
    struct Posted {
        Ticket ticket;
        std::vector<std::byte> incoming; ///< Of a fold.
    };
    /// While the rank waits within its node: a message that it has sent may need it to go on.
    struct Visitor final : channel::Watch {
        explicit Visitor(ClusterMember& asking) noexcept : member(&asking) {}
        [[nodiscard]] bool is_lost() noexcept override { return member->visit(); }
        ClusterMember* member;
    };
    struct Bytes {
        std::byte* data;
        std::size_t count;
    };

    /// What a carrier takes as a mark.
    [[nodiscard]] static int mark_of(channel::Signature signature) noexcept;
    [[nodiscard]] bool is_lost() noexcept override;
    [[nodiscard]] bool is_interrupted() noexcept;
    [[nodiscard]] bool visit() noexcept;
    template <class Action>
    void or_break(const Action& action);
    void break_team();
    void begin(const team::CallTerms& terms);
    void end() noexcept;
    Known& known(const team::PlanKey& key);
    Known make_known(const team::PlanKey& key);
    Plan common_plan(const team::PlanKey& key);
    std::string make_text(const team::PlanKey& key) const;
    [[nodiscard]] bool common_pull();
    std::string pass_on_text(std::string text);

    void execute(Known& known, const team::Operands& operands);
    void run_local(team::Activation<team::Env>& activation, std::size_t until);
    [[nodiscard]] Bytes bytes_of(const team::Operands& operands, const team::Places& places) const;
    void send(const FarStep& step, const team::Operands& operands);
    void receive_group(const std::vector<FarStep>& far, std::size_t first, std::size_t count,
                       const team::Operands& operands);
    void arrive(const FarStep& step, const Posted& posted, const team::Operands& operands);
    /// Of another node; waited for.
    Carrier::Arrival receive_one(void* data, std::size_t bytes, Rank from);
    /// Throws after all that is under way is abandoned, while its memory is still there.
    Carrier::Arrival await(Ticket ticket, Rank peer);
    Carrier::Arrival look_until_here(Ticket ticket, Rank peer);
    void abandon_all() noexcept;
    void await_sent(std::vector<std::pair<Ticket, Rank>>& sent);
    void check_mark(const Carrier::Arrival& arrival, std::size_t bytes, Rank peer);
    [[nodiscard]] std::string name_of(Rank rank) const;
    [[nodiscard]] team::Failure local_failure();

    Team local_;
    std::shared_ptr<detail::TeamShared> shared_;
    Carrier* carrier_;
    PlanSource plans_;
    Rank rank_;
    Home home_;
    Rank own_; ///< On the node.
    /// Whether ranks of a node can copy out of each other's memory, on all nodes; known to rank 0
    /// once there is a plan, to others of their own nodes.
    std::optional<bool> can_pull_;
    Visitor visitor_{*this};
    channel::WaitLadder ladder_;
    team::Engine<team::Env, channel::WaitLadder> engine_;
    team::Compiler<team::Env>::Peers peers_;
    std::map<team::PlanKey, std::unique_ptr<Known>> plans_known_;
    std::uint64_t operations_;
    team::CallDigest digest_;
    std::vector<std::byte> scratch_;
    std::vector<std::pair<Ticket, Rank>> sent_;
    std::vector<Posted> posted_;
    Carried carried_;
};

} // namespace corymb::cluster
