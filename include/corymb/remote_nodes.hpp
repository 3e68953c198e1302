// SPDX-License-Identifier: Apache-2.0
// Ranks that call each other, on several nodes. docs/reference/remote.md, "Several nodes".
#pragma once

#include <corymb/carrier.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>

#include <chrono>
#include <vector>

namespace corymb {

/// Makes this thread or process `rank` of a group over several nodes: ranks of one node call each
/// other through shared memory, those of different nodes through the carrier. All that a rank of a
/// RemoteGroup can do works there. Collective: all ranks do so.
///
/// The carrier has notices, belongs to the group alone, and outlives the RemoteRank.
/// `node_of_rank` is that of ClusterOptions, equal on all ranks. `options` are equal on all ranks
/// of a node; `name` and `between_processes` are not asked. `deadline` is the longest wait for
/// other ranks here.
///
/// When the carrier throws, calls of ranks on other nodes fail with Errc::team_broken and its text.
/// So do calls of a rank that the carrier has lost (`Carrier::loss_of`), and the others go on. If a
/// carrier does not say that a single rank has ended, calls of such a rank are not answered, except
/// by the ranks of its own node.
///
/// Throws Errc::invalid_argument for places that are none and for a carrier without notices,
/// Errc::timeout, and as MailboxGroup with a name.
[[nodiscard]] CORYMB_EXPORT RemoteRank
join_over_nodes(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                const RemoteOptions& options = {},
                std::chrono::nanoseconds deadline = std::chrono::seconds(60));

} // namespace corymb
