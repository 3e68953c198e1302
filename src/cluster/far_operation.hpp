// SPDX-License-Identifier: Apache-2.0
// An operation over several nodes, its place in the queue of a lane, and the plans that operations
// share.
#pragma once

#include "cluster/mail.hpp"
#include "cluster/node_program.hpp"
#include "cluster/notices.hpp"
#include "cluster/plan_exchange.hpp"
#include "cluster/station.hpp"
#include "cluster/vector_plan.hpp"
#include "cluster/vector_run.hpp"
#include "team/call.hpp"
#include "team/disagreement.hpp"
#include "team/driver.hpp"
#include "team/engine.hpp"
#include "team/lane_queue.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::cluster {

struct FarLane;

/// The plan on which all ranks have agreed for a key, seen by one rank.
struct FarPlan {
    std::exception_ptr refusal; ///< The reason if there is no plan.
    Plan local;                 ///< The plan's part for the ranks of the node.
    std::uint64_t number = 0;
    team::Readers readers;
    std::vector<FarStep> far;
    std::optional<VectorPlan> vector; ///< For parts that differ in length.
    /// By lane: compiled when first needed there.
    std::map<team::LaneId, std::unique_ptr<team::Program<team::Env>>> programs;
};

/// `text` is the text of rank 0 to the node about the key.
[[nodiscard]] FarPlan far_plan_of(const Station& station, const team::PlanKey& key,
                                  std::string_view text);
/// `number` tells plans for one key apart. Throws Errc::invalid_plan.
[[nodiscard]] FarPlan far_plan_of(const Station& station, const team::PlanKey& key, NodePart&& part,
                                  unsigned number);

struct FarOperation;

/// A key with which operations were started or, if persistent, made. All ranks do so in one order,
/// so that the first operation can bring the plan for all.
struct FarKey {
    std::optional<FarPlan> plan; ///< Once the ranks have agreed.
    /// The operation that brings the plan, if a started one does.
    const FarOperation* bringer = nullptr;
    /// The awaited rank until the plan is there, as in FarOperation.
    Rank awaited = -1;
    /// Number of an alternative of Station, on rank 0; 0: the first plan for the key.
    int alternative = 0;
};

/// The state of an operation under way whose parts differ in length.
struct FarVector {
    FarVector(const VectorPlan& plan, const Station& station, const team::Operands& call)
        : run(plan, station.home, station.rank, call), operands(call) {}

    VectorRun run;
    team::Operands told;                 ///< Operands of the exchange of lengths.
    team::Activation<team::Env> telling; ///< Without a program: there is none, or it is over.
    team::Operands operands;             ///< Operands of the operation itself.
};

struct FarOperation final : detail::Operation {
    FarOperation(FarLane& of, Station& station, int lane_number) noexcept
        : queue(&of), mail(station, lane_number) {}

    /// Changes with every step within the node.
    [[nodiscard]] std::size_t steps() const noexcept {
        return activation.step + (vector == nullptr ? 0 : vector->telling.step);
    }

    FarLane* queue;
    FarOperation* next = nullptr; ///< The next in its queue.
    /// Invariant: its place among all operations that a request holds.
    std::size_t index = 0;
    detail::Call call;
    /// Objects that the operation needs beside the caller's buffers.
    std::shared_ptr<const void> keep;
    FarKey* key = nullptr;                  ///< Null: there is nothing to move.
    std::unique_ptr<PlanExchange> exchange; ///< While it brings the plan.
    /// Set if the operation does nothing but ask rank 0, which answers by this function.
    PlanExchange::Answer question;
    std::string answer; ///< The answer to `question`.
    Mail mail;
    team::Activation<team::Env> activation;
    std::unique_ptr<FarVector> vector;
    Rank awaited = -1;          ///< The awaited rank on another node; -1: it waits within the node.
    bool needs_carrier = false; ///< Whether the awaited message comes by the carrier.
    Rank near = -1;             ///< The awaited rank of the node otherwise, as it counts there.
    /// A message of this rank has come that belongs to another call; -1: none has.
    Rank foreign_from = -1;
    std::uint64_t starts = 0; ///< How often it has begun.
    int mark = 0;             ///< Mark of its messages to other nodes.
    /// For a persistent operation: digest of its making and of all its starts so far. Other nodes
    /// may give its lane to another operation, so the lane's digest cannot mark its messages.
    team::CallDigest digest;
};

/// Operations that must happen one after the other, in memory and on channels of their own.
struct FarLane : detail::LaneQueue<FarOperation> {
    FarLane(detail::TeamShared& shared, Rank own, team::LaneId which)
        : LaneQueue(shared.lane(which).lane_state(own)), id(which), told(which) {}
    /// The lane of blocking operations: they are recorded as those of a team on one node.
    FarLane(detail::TeamShared& shared, Rank own)
        : LaneQueue(shared.fabric.state(own)), id(cluster_lane), told(0) {
        begun = begun_before = state->started.load(std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_blocking() const noexcept { return told == 0; }

    team::LaneId id;                ///< The number of its channels within the node.
    team::LaneId told;              ///< The number under which its operations are recorded.
    std::uint64_t moves = 0;        ///< Looks after which an operation had come further.
    std::uint64_t looks = 0;        ///< Looks at its first operation.
    std::uint64_t begun_before = 0; ///< Operations of the node's team alone.
    detail::WaitDoubts doubts;      ///< About long waits within the node.
    team::Compiler<team::Env>::Peers peers;
    /// Program of the exchange of lengths; compiled when first needed.
    std::optional<team::Program<team::Env>> telling;
    std::vector<std::byte> scratch;
};

/// Completes a wait for the next message of `mail`, or for the reason of a message of another call
/// that `foreign_from` has sent, if that is a rank. False: there is no wait.
[[nodiscard]] bool say_where(FarWait& wait, const Mail& mail, Rank foreign_from);

} // namespace corymb::cluster
