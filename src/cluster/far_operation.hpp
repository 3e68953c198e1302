// SPDX-License-Identifier: Apache-2.0
// A nonblocking or persistent operation over several nodes, its place in the queue of a lane, and
// the plans that such operations share.
#pragma once

#include "cluster/mail.hpp"
#include "cluster/node_program.hpp"
#include "cluster/plan_exchange.hpp"
#include "cluster/station.hpp"
#include "cluster/vector_plan.hpp"
#include "cluster/vector_run.hpp"
#include "team/call.hpp"
#include "team/driver.hpp"
#include "team/engine.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace corymb::cluster {

struct FarLane;

/// What all ranks have agreed on for a key, seen by one rank.
struct FarPlan {
    std::exception_ptr refusal; ///< Why there is none.
    Plan local;                 ///< What it says to the ranks of the node.
    std::uint64_t number = 0;
    team::Readers readers;
    std::vector<FarStep> far;
    std::optional<VectorPlan> vector; ///< Of parts that differ in length.
};

/// `text` is what rank 0 has said to the node about the key.
[[nodiscard]] FarPlan far_plan_of(const Station& station, const team::PlanKey& key,
                                  std::string_view text);

struct FarOperation;

/// A key that operations were started or, if persistent, made with. All ranks do so in the same
/// order, so that the first one can bring the plan for all.
struct FarKey {
    std::optional<FarPlan> plan;           ///< Once the ranks have agreed.
    const FarOperation* bringer = nullptr; ///< Until then, if a started one brings it.
    Rank awaited = -1;                     ///< Until then: as of an operation.
};

/// Of an operation whose parts differ in length, while it is under way.
struct FarVector {
    FarVector(const VectorPlan& plan, const Station& station, const team::Operands& call)
        : run(plan, station.home, station.rank, call), operands(call) {}

    VectorRun run;
    team::Operands told;                 ///< Of the exchange of lengths.
    team::Activation<team::Env> telling; ///< Without a program: there is none, or it is over.
    team::Operands operands;             ///< Of the operation itself.
};

struct FarOperation final : detail::Operation {
    FarOperation(FarLane& of, Carrier& carrier, Carried& carried, int lane_number) noexcept
        : lane(&of), mail(carrier, carried, lane_number) {}

    FarLane* lane;
    std::size_t index = 0; ///< Among all operations that a request holds.
    detail::Call call;
    std::shared_ptr<const void> keep;       ///< What it needs beside the caller's buffers.
    FarKey* key = nullptr;                  ///< Null: there is nothing to move.
    std::unique_ptr<PlanExchange> exchange; ///< While it brings the plan.
    Mail mail;
    team::Activation<team::Env> activation;
    std::unique_ptr<FarVector> vector;
    std::size_t next = 0; ///< Of the plan's far steps.
    Rank awaited = -1;    ///< On another node; -1: it waits within the node.
    int mark = 0;         ///< Of its messages to other nodes.
    /// Persistent: of its making and of all starts so far. Other nodes may give its lane to another
    /// one, so that their messages cannot be marked by the digest of the lane.
    team::CallDigest digest;
};

/// Operations that must happen one after the other, in memory and on channels of their own.
struct FarLane {
    FarLane(detail::TeamShared& shared, Rank own, team::LaneId which)
        : id(which), state(&shared.lane(which).lane_state(own)) {}

    team::LaneId id;
    team::LaneState<team::Env>* state; ///< Where the rank says what it has begun.
    std::deque<FarOperation*> queue;   ///< The first one is under way.
    std::uint64_t begun = 0;
    std::uint64_t moves = 0;  ///< Looks after which an operation had come further.
    std::uint64_t tested = 0; ///< The round of tests that has looked at it.
    team::CallDigest digest;  ///< Of their terms.
    team::Compiler<team::Env>::Peers peers;
    std::map<const FarPlan*, std::unique_ptr<team::Program<team::Env>>> programs;
    std::optional<team::Program<team::Env>> telling; ///< Of lengths; compiled when first needed.
    std::vector<std::byte> scratch;
};

} // namespace corymb::cluster
