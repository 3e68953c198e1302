// SPDX-License-Identifier: Apache-2.0
// All operations of one rank of a team over several nodes. Operations of different lanes overlap;
// each lane has memory and channels of its own, so that messages of different operations never mix.
// Blocking operations have a lane, and a persistent operation has one for itself.
#pragma once

#include "channel/look_once.hpp"
#include "channel/wait_ladder.hpp"
#include "cluster/agreements.hpp"
#include "cluster/far_doubts.hpp"
#include "cluster/far_operation.hpp"
#include "cluster/network_patience.hpp"
#include "cluster/station.hpp"
#include "team/executor.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corymb::cluster {

class ClusterPending final : public detail::Executor<ClusterPending, FarLane>,
                             private channel::Watch,
                             private OwnCalls {
public:
    using Operation = detail::Operation;

    ClusterPending(Station& station, OneUser& of_handle);
    /// Completes the operations under way as ~Request does; requests that are left keep their
    /// outcome.
    ~ClusterPending();

    /// Runs a blocking operation with the plan of its key or, if there is one, with `its`.
    void run(const detail::Call& call, FarKey* its = nullptr);
    /// An operation in which rank 0 answers a question of all.
    [[nodiscard]] std::string ask(const detail::Call& call, PlanExchange::Answer question);
    /// A key of blocking operations, whose plan may not be known yet. The key may be exchanged for
    /// another one.
    [[nodiscard]] std::unique_ptr<FarKey>& blocking_key(const team::PlanKey& key);
    /// Counts the messages of blocking operations there from now on.
    void count_blocking_in(Carried& carried) noexcept { blocking_.mail.count_in(carried); }

    /// Throw Errc::unsupported for a carrier without channels for such operations, or with none
    /// left.
    [[nodiscard]] FarOperation& make(const detail::Call& call, std::shared_ptr<const void> keep);
    [[nodiscard]] FarOperation& make_persistent(const detail::Call& call,
                                                std::shared_ptr<const void> keep);

    void start(Operation& operation) override;
    void wait(Operation& operation) override;
    bool cancel(Operation& operation) override; ///< Never: they are collectives.
    void abandon(const std::string& why) noexcept override;
    /// Nobody wakes a rank for messages by the carrier.
    [[nodiscard]] channel::EventCount<channel::StandardEnv>* events() noexcept override {
        return nullptr;
    }

    /// Completes what is under way, and waits a while for all ranks to compare their calls.
    void leave() noexcept;

    /// Longest wait for another node from now on.
    void set_deadline(std::int64_t deadline_ns) noexcept {
        patrol_.set_deadline(deadline_ns);
        patrol_within_.set_deadline(deadline_within_node(deadline_ns));
        ladder_.set_deadline(deadline_within_node(deadline_ns));
    }
    /// What this rank has begun, and its waits for ranks of the node, which count from 0.
    [[nodiscard]] const channel::WaitRecord& record() const noexcept { return ladder_.record(); }
    /// Its waits for the carrier; ranks count in the whole team.
    [[nodiscard]] const channel::WaitRecord& far_waits() const noexcept { return far_waits_; }
    /// The plans that this rank has needed so far.
    [[nodiscard]] std::vector<ChosenPlan> chosen_plans() const;
    /// The reason why an operation under way cannot end, if there is one: a rank has called
    /// something else, or one of the node has ended. Ranks in the team's count.
    [[nodiscard]] std::optional<team::Failure> hopeless();

private:
    friend class Executor<ClusterPending, FarLane>;

    // For Executor, which says what they do.
    [[nodiscard]] bool advance(FarOperation& operation, std::size_t& steps_left) noexcept;
    void begin(FarLane& lane) noexcept;
    static void note_end(FarOperation& /*operation*/) noexcept {}
    static void let_go(FarOperation& operation) noexcept;
    void note_idle() noexcept;
    void advance_all(std::size_t steps_left) noexcept;
    [[nodiscard]] bool has_stopped() const noexcept { return shared_->is_broken(); }
    [[nodiscard]] bool is_hopeless() noexcept;
    [[nodiscard]] team::Failure reason(const FarOperation& operation, bool timed_out);
    [[nodiscard]] bool wait_for(const auto& is_done, const FarOperation& operation) {
        NetworkPatience patience(shared_->oversubscribed);
        for (;;) {
            advance_all(all_steps);
            if (is_done()) {
                return true;
            }
            if (wait_in_vain(patience, *operation.queue)) {
                return false;
            }
        }
    }
    [[nodiscard]] static bool timed_out() noexcept { return false; } ///< `reason` does not ask.
    [[nodiscard]] detail::Patrol& patrol() noexcept {
        return first_pending().awaited < 0 ? patrol_within_ : patrol_;
    }
    [[nodiscard]] std::string own_name() const { return station_->name_of(station_->rank); }
    [[nodiscard]] Rank own_number() const noexcept { return station_->rank; }
    void give_back_lane(const FarOperation& operation) noexcept;
    static void keep_spare(std::unique_ptr<FarOperation> /*operation*/) noexcept {}

    /// While the rank sleeps: a message that it has sent may need it to go on.
    struct Visitor final : channel::Watch {
        explicit Visitor(ClusterPending& asking) noexcept : pending(&asking) {}
        [[nodiscard]] bool is_lost() noexcept override { return pending->visit(); }
        ClusterPending* pending;
    };
    [[nodiscard]] bool visit() noexcept;
    [[nodiscard]] bool is_lost() noexcept override;

    // For FarDoubts.
    [[nodiscard]] std::optional<CallPlace> place(int sequence) override;
    [[nodiscard]] std::optional<team::CallTerms> terms(int sequence, std::uint64_t number) override;
    [[nodiscard]] std::vector<FarWait> waits() override;
    [[nodiscard]] std::vector<FarCalls> all_calls() override;
    [[nodiscard]] std::uint64_t nonblocking_started() const override { return started_; }
    [[nodiscard]] int nonblocking_sequences() const override { return lane_count_; }
    [[nodiscard]] FarLane* lane_of_sequence(int sequence);
    [[nodiscard]] const FarOperation* persistent_of(int sequence) const;
    [[nodiscard]] std::optional<FarWait> wait_of(const FarLane& lane);
    [[nodiscard]] FarCalls calls_of(int sequence);
    /// After a message of another call: what the ranks have called, unless the other rank says more
    /// within a while.
    [[nodiscard]] std::optional<team::Failure> foreign_message();
    [[nodiscard]] std::optional<team::Failure> near_contradiction(FarLane& lane);
    [[nodiscard]] std::optional<team::Failure> late_here();
    /// Tells other nodes why the team is broken, if it is.
    void tell_failure() noexcept;

    void run_blocking(const detail::Call& call);
    [[nodiscard]] FarLane& lane_of(team::LaneId id);
    [[nodiscard]] team::LaneId take_own_lane();
    [[nodiscard]] FarOperation& add(FarLane& lane, int channels, const detail::Call& call,
                                    std::shared_ptr<const void> keep);
    void put_in_queue(FarOperation& operation);
    void note_progress() noexcept {
        patrol_.note_progress();
        patrol_within_.note_progress();
    }
    [[nodiscard]] bool perform(FarOperation& operation);
    [[nodiscard]] bool ask(FarOperation& operation);
    [[nodiscard]] bool bring_plan(FarOperation& operation);
    void load(FarOperation& operation, FarPlan& plan);
    [[nodiscard]] bool run(FarOperation& operation, team::Activation<team::Env>& activation);
    void begin_vector(FarOperation& operation, const VectorPlan& plan);
    [[nodiscard]] bool has_laid_out(FarOperation& operation);
    /// Breaks the team with the exception that is handled.
    void stop() noexcept;
    /// After a look in vain: waits for a while, so that the caller looks again. True: the wait for
    /// the lane, among others, is at its end.
    [[nodiscard]] bool wait_in_vain(NetworkPatience& patience, const FarLane& lane);
    [[nodiscard]] bool wait_within_node(const FarLane& lane);
    [[nodiscard]] bool must_end(NetworkPatience& patience, const FarOperation& blamed);
    /// Goes on with agreements: other ranks may need this one to hand plans on.
    void finish_agreements() noexcept;

    Station* station_;
    Visitor visitor_{*this};
    channel::WaitLadder ladder_;
    channel::WaitRecord far_waits_;
    channel::LookOnce looking_;
    team::Engine<team::Env, channel::LookOnce> engine_;
    detail::Patrol patrol_;        ///< Watches waits for other nodes.
    detail::Patrol patrol_within_; ///< Watches waits within the node.
    int lane_count_;
    int own_lane_count_;
    std::uint64_t started_ = 0; ///< Nonblocking operations.
    int own_made_ = 0;          ///< Persistent operations.
    FarLane blocking_lane_;
    FarOperation blocking_;
    std::map<team::PlanKey, std::unique_ptr<FarKey>> blocking_keys_;
    std::map<team::LaneId, FarLane> lanes_;
    std::map<team::PlanKey, FarKey> keys_;
    Agreements agreements_;
    team::CallLog<team::Env> made_; ///< Terms of the last persistent operations, by number.
    team::CallDigest made_digest_;  ///< Digest of the terms of all of them.
    std::deque<int> freed_;         ///< The last ones that are gone, by number of their channels.
    std::uint64_t starts_sum_ = 0;  ///< Sum of their digests. They may start in any order.
    FarDoubts doubts_;
    const FarOperation* only_ = nullptr; ///< The rank does nothing else before this one is over.
    std::int64_t foreign_since_ns_ = 0;  ///< When a message of another call was seen; 0: never.
};

} // namespace corymb::cluster
