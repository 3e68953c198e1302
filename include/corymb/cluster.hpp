// SPDX-License-Identifier: Apache-2.0
// Several machines and the network between them as data; docs/explain/nodes.md has the file format.
#pragma once

#include <corymb/export.hpp>
#include <corymb/machine.hpp>
#include <corymb/rank.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {

/// The charges of a node's network: a class of adapters. Nodes may be of different classes.
struct Network {
    double start_up_ns = 0;    ///< From handing a message over until its first byte arrives.
    double message_gap_ns = 0; ///< Least time between two messages of one node, each way.
    double stream_gbs = 0;     ///< 10^9 bytes per second of one message alone.
    double node_gbs = 0;       ///< 10^9 bytes per second of all messages of a node, each way.

    bool operator==(const Network&) const = default;
};

/// The charges of messages between two nodes of these classes: half of each start-up, the smaller
/// bandwidths, the larger gap. Two equal classes give that class.
[[nodiscard]] CORYMB_EXPORT Network network_between(const Network& one,
                                                    const Network& other) noexcept;

/// The network class of each node.
struct Networks {
    std::vector<Network> classes;
    std::vector<int> of_node; ///< Index in `classes`. Empty: all nodes are of the first.

    bool operator==(const Networks&) const = default;
};

/// Reads "2000,400,3,12": one class, the numbers of corymb-cluster/1 in their order. Further
/// classes name their nodes: "2000,400,3,12/20000,2000,1,1@2,5-7"; the others of `nodes` nodes are
/// of the first. Throws Errc::invalid_model with the reason.
[[nodiscard]] CORYMB_EXPORT Networks networks_from(std::string_view text, int nodes);
/// The text that networks_from reads.
[[nodiscard]] CORYMB_EXPORT std::string to_text(const Networks& networks);

/// A made-up machine: packages with equal cores. A message within a package takes `near_ns`, one
/// between packages `far_ns` (receive = L, send = 0.28 L, as for imported machines).
struct NodeShape {
    int packages = 1;
    int cores = 1; ///< Cores of one package.
    double near_ns = 100;
    double far_ns = 200;
    double copy_gbs = 10; ///< 10^9 bytes per second that one core copies.
    /// Memory controllers, each of a NUMA node of as many neighbouring cores; 0: none is ever busy.
    int controllers = 0;
    double controller_gbs = 0; ///< 10^9 bytes per second of all copies out of one NUMA node.

    bool operator==(const NodeShape&) const = default;
};

/// A machine of the gallery, of a shape, from which `machine` is made, or any other.
struct CORYMB_EXPORT NodeKind {
    std::string gallery; ///< Empty: of the shape, or given.
    NodeShape shape;
    Machine machine;
    bool is_given = false; ///< `machine` is a model of its own: one that was measured.

    /// Throws Errc::unknown_name.
    static NodeKind of_gallery(std::string_view name);
    /// Throws Errc::invalid_model naming the field.
    static NodeKind of_shape(const NodeShape& shape);
    static NodeKind of_machine(Machine machine);
};

/// `count` equal nodes in a row with `ranks` ranks each.
struct NodeRun {
    int kind = 0; ///< Index in Cluster::kinds.
    int count = 1;
    int ranks = 1;
    int network = 0;        ///< Index in Cluster::networks.
    std::vector<int> pus{}; ///< PU index of each rank of a node; empty: the first ones, in order.

    bool operator==(const NodeRun&) const = default;
};

/// How ranks are dealt out: node after node, or one to each node that still has room, in turns.
enum class RankOrder : std::uint8_t { block, cyclic };

/// The place of a rank.
struct NodePlace {
    int node = 0;
    int pu = 0; ///< PU index in the machine of the node.

    bool operator==(const NodePlace&) const = default;
};

/// Nodes and their network. Memory grows with kinds and runs of nodes, not with ranks.
class CORYMB_EXPORT Cluster {
public:
    std::string name, source;
    std::vector<NodeKind> kinds;
    std::vector<NodeRun> runs;
    RankOrder order = RankOrder::block;
    std::vector<Network> networks; ///< Classes of adapters; mostly one.

    [[nodiscard]] int node_count() const noexcept;
    /// Number of ranks.
    [[nodiscard]] Rank size() const noexcept;
    /// places()[rank]; O(ranks) time and memory.
    [[nodiscard]] std::vector<NodePlace> places() const;
    /// kind_of_node()[node].
    [[nodiscard]] std::vector<int> kind_of_node() const;
    /// network_of_node()[node].
    [[nodiscard]] std::vector<int> network_of_node() const;
    /// Throws Errc::invalid_model naming the field: sizes, indexes, machines that count in
    /// cycles, more ranks than PUs, a network that is no network.
    void check() const;
};

inline constexpr int cluster_ranks_max = 1 << 20;

/// JSON form ("corymb-cluster/1").
CORYMB_EXPORT std::string to_json(const Cluster& cluster);
/// Throws Errc::invalid_model naming the field; never crashes on hostile text.
CORYMB_EXPORT Cluster cluster_from_json(std::string_view text);
/// As `cluster_from_json`, with the name of the file in errors; Errc::io when it cannot be read.
CORYMB_EXPORT Cluster load_cluster(const std::filesystem::path& file);

} // namespace corymb
