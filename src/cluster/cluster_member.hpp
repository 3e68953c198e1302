// SPDX-License-Identifier: Apache-2.0
// One rank of a team over several nodes. The engine runs steps within the node, in memory that the
// ranks of the node share; steps between nodes are messages of a carrier.
#pragma once

#include "base/one_user.hpp"
#include "channel/wait_ladder.hpp"
#include "cluster/cluster_pending.hpp"
#include "cluster/mail.hpp"
#include "cluster/network_patience.hpp"
#include "cluster/node_program.hpp"
#include "cluster/plan_exchange.hpp"
#include "cluster/rehearsal.hpp"
#include "cluster/station.hpp"
#include "cluster/vector_plan.hpp"
#include "cluster/vector_run.hpp"
#include "team/call_terms.hpp"
#include "team/engine.hpp"
#include "team/wide_team.hpp"

#include <corymb/carrier.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace corymb::cluster {

class ClusterMember final : public detail::WideTeam, private channel::Watch {
public:
    /// `local` is the handle that will have this.
    ClusterMember(detail::Member& local, Carrier& carrier, const ClusterOptions& options);
    ~ClusterMember() override;

    void run(const detail::Call& call) override;
    [[nodiscard]] detail::Operation& make(const detail::Call& call, bool is_persistent,
                                          std::shared_ptr<const void> keep) override;
    std::size_t progress() override { return pending().progress(); }
    void complete_all() override { pending().complete_all(); }
    [[nodiscard]] ChosenPlan plan(const team::PlanKey& key) override {
        return {key.op, key.root, key.bytes, known(key).algorithm};
    }
    [[nodiscard]] std::vector<ChosenPlan> chosen_plans() const override;
    void set_deadline(std::int64_t deadline_ns) noexcept override;
    bool interrupt(const char* why) noexcept override { return station_.interrupt(why); }
    void abandon(const std::string& why) noexcept override { station_.abandon(why); }
    [[nodiscard]] const Carried& carried() const noexcept override { return station_.carried; }

private:
    [[nodiscard]] Rank rank() const noexcept { return station_.rank; }
    [[nodiscard]] int size() const noexcept { return station_.size(); }
    [[nodiscard]] ClusterPending& pending();
    struct Known {
        Collective op;
        std::string algorithm;
        /// Number of an alternative of Station, on rank 0; 0: the first plan for the key.
        int alternative = 0;
        NodeProgram program;
        std::optional<VectorPlan> vector; ///< For parts that differ in length.
    };
    /// While the rank waits within its node: a message that it has sent may need it to go on.
    struct Visitor final : channel::Watch {
        explicit Visitor(ClusterMember& asking) noexcept : member(&asking) {}
        [[nodiscard]] bool is_lost() noexcept override { return member->visit(); }
        ClusterMember* member;
    };

    [[nodiscard]] bool is_lost() noexcept override;
    [[nodiscard]] bool visit() noexcept;
    template <class Action>
    void or_break(const Action& action);
    void begin(const team::CallTerms& terms);
    void end() noexcept;
    Known& known(const team::PlanKey& key);
    /// `number` tells plans for the same key apart.
    Known make_known(const team::PlanKey& key, NodePart&& part, unsigned number);
    /// The answer of rank 0, within an operation that has begun.
    [[nodiscard]] std::string exchanged(const team::PlanKey& key, PlanExchange::Answer answer);

    // Rehearsals (cluster_rehearsal.cpp)
    struct Contender;
    void rehearse(const detail::Call& call);
    template <class Buffers, class Action>
    void with_buffers(Buffers&& buffers, const Action& action);
    void prepare_and_compete(const detail::Call& call);
    [[nodiscard]] bool can_compare(bool all_can_pull);
    void measure_and_compete(const detail::Call& call, const detail::Call& stand_in);
    [[nodiscard]] std::string asked(const detail::Call& call, PlanExchange::Answer answer);
    void compete(const detail::Call& call, int samples, bool is_whole,
                 std::vector<Station::Alternative> alternatives);
    void narrow(std::vector<Contender>& field, const detail::Call& call, int samples);
    [[nodiscard]] std::vector<double> of_slowest(std::vector<double> times_ns);
    [[nodiscard]] std::int64_t timed(const detail::Call& call, Known* known);

    /// Begins, runs and ends an operation. Null: with the plan for its key.
    void perform(const detail::Call& call, Known* known);

    void execute(Known& known, const team::Operands& operands);
    void run_steps(NodeProgram& program, const team::Operands& operands);
    void tell(const VectorPlan& plan, VectorRun& run);
    void run_local(team::Activation<team::Env>& activation, std::size_t until);
    void receive_group(std::span<const FarStep> group, const team::Operands& operands);
    /// Returns when `look()` is true; `peer()` is waited for. Throws after a failure.
    template <class Look, class Peer>
    void await(const Look& look, const Peer& peer);
    /// After a look in vain that was not the first; throws when there is no hope.
    void check_wait(NetworkPatience& patience, Rank peer);
    [[nodiscard]] team::Failure local_failure();

    Station station_;
    detail::TeamShared* shared_;
    OneUser* user_; ///< Guards the handle.
    Visitor visitor_{*this};
    channel::WaitLadder ladder_;
    team::Engine<team::Env, channel::WaitLadder> engine_;
    team::Compiler<team::Env>::Peers peers_;
    std::map<team::PlanKey, std::unique_ptr<Known>> plans_known_;
    std::uint64_t operations_;
    team::CallDigest digest_;
    std::vector<std::byte> scratch_;
    Mail mail_;
    std::exception_ptr carrier_error_; ///< Thrown by a visit while this rank waited for its node.
    /// Program of the exchange of lengths; compiled when first needed.
    std::optional<team::Program<team::Env>> telling_;
    RehearsalPlan rehearsals_;
    std::unique_ptr<ClusterPending> pending_; ///< Made when first needed.
    struct Background {
        ClusterMember* member;
        bool operator()() const noexcept {
            member->pending_->go_on();
            return false;
        }
    } work_{this};
    channel::Look background_{work_}; ///< Run by the waits of blocking operations.
};

} // namespace corymb::cluster
