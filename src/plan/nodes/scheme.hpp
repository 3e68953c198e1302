// SPDX-License-Identifier: Apache-2.0
// Describes how ranks on several nodes carry out an operation: the leaders, their exchange, and the
// way of data within a node. docs/explain/nodes.md explains the names.
#pragma once

#include <corymb/plan.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::nodes {

enum class Roles : std::uint8_t {
    flat,       ///< Every rank acts for itself, numbered node after node.
    lanes,      ///< Leaders of equal index exchange, each for its share of the node's ranks.
    node_major, ///< All leaders exchange as one group, numbered node after node (Kandalla 2009).
    slices,     ///< The node's data goes in k slices; each leader has all before the next round.
    objects,    ///< Leaders talk to k different nodes a round, each with all that the node has.
    /// As lanes, with runs of ranks that follow each other in a node: combines in rank order.
    runs,
};
enum class Exchange : std::uint8_t {
    doubling, ///< In a reduce-scatter: halving.
    ring,
    bruck,
    binomial,
    dissemination,
    folding, ///< Doubling among the fastest nodes only, to which the others give their sums.
    direct,  ///< All data at once, straight to the ranks that need it.
};
enum class Inside : std::uint8_t {
    messages, ///< Through rings of cells, from rank to rank.
    shared,   ///< Out of the buffer of the rank that has it.
};

struct Scheme {
    Roles roles = Roles::lanes;
    /// Leaders of each node, or run; a node with fewer ranks has as many as ranks.
    int leaders = 1;
    Exchange exchange = Exchange::doubling;
    Inside inside = Inside::shared;
    bool early = false; ///< Data goes around in the node after every round, not after the last.
    /// The payload goes in so many pieces, one after the other: while one goes around in a node the
    /// next one is on its way between nodes.
    std::uint32_t pieces = 1;
    /// Ranks of a node stand as they lie in it, not as they are numbered: leaders are for ranks
    /// near each other, and central ones lead.
    bool near = false;

    auto operator<=>(const Scheme&) const = default;
};

/// The numbers of pieces that a search tries; any other number may be named.
inline constexpr std::array<std::uint32_t, 4> numbers_of_pieces{1, 8, 32, 128};

/// "lanes/4/ring/shared/early"; "flat/ring/shared"; "lanes/1/ring/shared/near/pieces-8".
[[nodiscard]] std::string name_of(const Scheme& scheme);
[[nodiscard]] std::optional<Scheme> scheme_named(std::string_view name);

/// Every scheme with each of these numbers of leaders, whether anything can be done by it or not.
[[nodiscard]] std::vector<Scheme> all_schemes(std::span<const int> leaders);

/// The position of each rank in its node; both empty: as ranks are numbered.
struct Seats {
    /// Index among the node's ranks, in an order in which near ranks stand beside each other, a
    /// central one first.
    std::vector<int> place;
    std::vector<double> distance; ///< To all others of the node.
};

/// The nodes and their ranks.
struct Layout {
    std::vector<int> node_of_rank;
    std::vector<std::vector<Rank>> nodes; ///< Ranks of each node, increasing, or as seated.
    /// Nodes by the cost of their messages; empty where all cost the same.
    std::vector<std::size_t> fastest_first;
    std::size_t fastest = 0; ///< Nodes that are as fast as the first of these.

    /// This layout with the ranks of each node as they lie in it; null where that is as they are
    /// numbered.
    std::shared_ptr<const Layout> seated;
    std::vector<double> distance; ///< Seats::distance, for a seated layout.
    /// Ranks that read from several leaders begin with different ones, so that they do not all use
    /// one memory controller at once. For machines that say what ranks share: where one cache holds
    /// all, ranks had better read the same at the same time.
    bool readers_begin_apart = false;

    /// `message_ns` is the cost of a message of each node; empty: all are equal.
    explicit Layout(std::span<const int> node_of_rank, std::span<const double> message_ns = {},
                    const Seats& seats = {});
    [[nodiscard]] Rank size() const noexcept { return static_cast<Rank>(node_of_rank.size()); }
    /// Ranks are numbered node after node, and stand so.
    [[nodiscard]] bool is_block() const;
    /// The layout in which each run of ranks on one node is a node.
    [[nodiscard]] Layout runs() const;
    /// The ranks of a node in `groups` runs of about equal length; the first of each leads.
    [[nodiscard]] std::vector<std::vector<Rank>> groups(std::size_t node, int groups) const;
    /// The other nodes behind `first`, as they are numbered. If nodes differ in speed, the slow
    /// ones stand at the end of a chain, or at the leaves of a binomial tree.
    [[nodiscard]] std::vector<std::size_t> order_from(std::size_t first, Exchange exchange) const;
    /// The fastest `count` nodes before the others, each lot as it is numbered.
    [[nodiscard]] std::vector<std::size_t> fastest_inside(std::size_t count) const;

private:
    void order_by_speed(std::span<const double> message_ns);
};

/// Whether all plans of an operation by these roles combine in the order of the ranks.
[[nodiscard]] bool keeps_order(Collective op, Roles roles) noexcept;
/// The member that the one in `place` of `size` combines in turn 1, 2 and so on to keep the order:
/// first the members behind it, then those before it, the nearest first.
[[nodiscard]] constexpr std::size_t next_in_order(std::size_t place, std::size_t turn,
                                                  std::size_t size) noexcept {
    return place + turn < size ? place + turn : size - 1 - turn;
}

/// As next_in_order for `runs`. For other roles each rank begins with its own neighbour, so that
/// not all take from one rank at once.
[[nodiscard]] constexpr std::size_t next_to_combine(Roles roles, std::size_t place,
                                                    std::size_t turn, std::size_t size) noexcept {
    return roles == Roles::runs ? next_in_order(place, turn, size) : (place + turn) % size;
}

/// Whether there is a plan of this scheme: an exchange that the operation knows, a number of nodes
/// that it can do, a layout that it needs, not too many steps.
[[nodiscard]] bool applies(Collective op, const Layout& layout, const Scheme& scheme,
                           std::uint64_t bytes);
/// The plan; call only when `applies`. `root` counts for operations that have one.
[[nodiscard]] Plan plan_for(Collective op, const Layout& layout, const Scheme& scheme,
                            std::uint64_t bytes, Rank root);

[[nodiscard]] Plan allgather(const Layout& layout, const Scheme& scheme, std::uint64_t bytes);
[[nodiscard]] Plan allreduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes);
[[nodiscard]] Plan broadcast(const Layout& layout, const Scheme& scheme, std::uint64_t bytes,
                             Rank root);
[[nodiscard]] Plan reduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes,
                          Rank root);
[[nodiscard]] Plan gather(const Layout& layout, const Scheme& scheme, std::uint64_t bytes,
                          Rank root);
[[nodiscard]] Plan scatter(const Layout& layout, const Scheme& scheme, std::uint64_t bytes,
                           Rank root);
[[nodiscard]] Plan alltoall(const Layout& layout, const Scheme& scheme, std::uint64_t bytes);
[[nodiscard]] Plan reduce_scatter(const Layout& layout, const Scheme& scheme, std::uint64_t bytes);
/// Scan or exscan.
[[nodiscard]] Plan scan(Collective op, const Layout& layout, const Scheme& scheme,
                        std::uint64_t bytes);
[[nodiscard]] Plan barrier(const Layout& layout, const Scheme& scheme);

} // namespace corymb::nodes
