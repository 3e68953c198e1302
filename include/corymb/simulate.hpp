// SPDX-License-Identifier: Apache-2.0
// Runs a plan on a machine model instead of on a machine.
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/machine.hpp>
#include <corymb/noise.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace corymb {

/// A busy or waiting stretch of one rank, in the model's time unit.
struct Activity {
    std::uint32_t step = 0; ///< Index in plan.steps[rank].
    double wait_from = 0;   ///< When the rank reached the step.
    double begin = 0;       ///< When it stopped waiting and became busy.
    double end = 0;
};

/// Result of a simulation. `simulated_on` names the model; print it beside every figure.
struct Timeline {
    std::vector<double> finish;               ///< finish[rank]: end of its last step.
    double makespan = 0;                      ///< Latest finish.
    std::vector<std::vector<Activity>> ranks; ///< Filled only when asked for.
    std::string simulated_on;
};

/// Replays `plan`, whose rank r runs on PU index placement[r] of `machine`, for a payload of
/// `bytes`.
///
/// The cost rules (docs/explain/model.md, "What the simulator charges"): a message of at most one
/// line costs the sender send(p, q), is available at the end of that, and costs the receiver
/// receive(p, q) from the later of its own clock and availability. Larger payloads add their
/// copying time at the memory level's bandwidth; a publication costs one send and reaches k readers
/// by the model's shared_line curve. All ranks start at 0. O(total steps) time and memory.
///
/// An interruption of `noise` delays the step of its rank that it hits: what the rank was doing
/// takes that much longer, and a rank that is to go on after a wait goes on behind it. The times
/// are those of replay 0; without noise ranks always run.
/// Throws Errc::invalid_argument (placement does not fit, noise) or Errc::invalid_plan (deadlock).
CORYMB_EXPORT Timeline simulate(const Plan& plan, const Machine& machine,
                                std::span<const int> placement, std::uint64_t bytes = 8,
                                bool with_activities = false, const Noise& noise = {});

/// Replays a plan on several nodes: ranks are where `cluster` puts them, times are in ns. Steps
/// between nodes are messages of the network (docs/explain/nodes.md, "What the network charges");
/// steps within a node are charged as on one machine. Messages share a node's link in the order in
/// which they come to it. O(steps x log ranks). Throws Errc::invalid_argument when the plan has
/// another number of ranks than the cluster or is for a smaller payload, Errc::invalid_plan for a
/// deadlock or a step that reaches another node other than via the network. Noise interrupts ranks,
/// not the network.
CORYMB_EXPORT Timeline simulate(const Plan& plan, const Cluster& cluster, std::uint64_t bytes = 8,
                                bool with_activities = false, const Noise& noise = {});

/// The makespans of replays 0 to `replays` - 1 of a plan under noise, each with times of its own.
/// O(replays x steps). Throws as `simulate`, and Errc::invalid_argument without noise.
CORYMB_EXPORT std::vector<double> noisy_makespans(const Plan& plan, const Machine& machine,
                                                  std::span<const int> placement,
                                                  std::uint64_t bytes, const Noise& noise,
                                                  std::uint32_t replays);
CORYMB_EXPORT std::vector<double> noisy_makespans(const Plan& plan, const Cluster& cluster,
                                                  std::uint64_t bytes, const Noise& noise,
                                                  std::uint32_t replays);

/// Times of a barrier of one counter, which all ranks change atomically, and one word, which the
/// last of them changes and all others poll. OpenMP runtimes have such barriers.
struct CounterBarrier {
    double arrival = 0; ///< Until all ranks have changed the counter.
    double release = 0; ///< From then on until the last rank has seen the word.
    /// Where `arrival` comes from. Assumed: the model has no SharedUse::word for these ranks, so
    /// each is charged the receive cost of a message from the rank before it.
    DataOrigin origin = DataOrigin::assumed;

    [[nodiscard]] double total() const noexcept { return arrival + release; }
};

/// The barrier among ranks that come at once, with rank r on PU index placement[r]. The narrowest
/// part of the machine that has all ranks and a curve of words counts. In the model's unit.
/// O(ranks log ranks). Throws Errc::invalid_argument for a PU that the machine does not have.
[[nodiscard]] CORYMB_EXPORT CounterBarrier counter_barrier(const Machine& machine,
                                                           std::span<const int> placement);

/// The traffic between the nodes of a cluster, counted from the steps of a plan and not from a
/// model.
struct NodeTraffic {
    std::vector<std::uint64_t> in;      ///< Bytes of payload that the network brings to each node.
    std::vector<std::uint64_t> out;     ///< Bytes that each node gives to it.
    std::vector<std::uint64_t> rank_in; ///< Bytes that it brings to each rank.
    std::uint64_t messages = 0;         ///< Messages of all nodes, notifications too.
    std::uint32_t rounds = 0; ///< Most messages of the network that follow from one another.
};

/// For a plan that `check_plan` accepts; `node_of_rank[rank]` counts nodes from 0. O(steps).
CORYMB_EXPORT NodeTraffic node_traffic(const Plan& plan, std::span<const int> node_of_rank,
                                       std::uint64_t bytes = 8);

/// The data that the ranks of a plan move, counted from its steps and not from a model.
struct Traffic {
    /// Cache lines that reach this rank out of another's cache: signals, messages with their
    /// sequence numbers and descriptors, and data that is read in place. Slots that are used again
    /// and lines that are evicted meanwhile are not counted.
    std::vector<std::uint64_t> lines;
    /// Bytes that this rank copies or combines: into cells, out of them or of a peer's buffer, and
    /// within the rank. Data that fits a line costs nothing beside the line.
    std::vector<std::uint64_t> copied;
};

/// Traffic of a plan that `check_plan` accepts, for parts of `bytes`. O(steps).
CORYMB_EXPORT Traffic traffic(const Plan& plan, std::uint64_t bytes = 8);

} // namespace corymb
