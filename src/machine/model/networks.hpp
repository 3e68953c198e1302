// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/cluster.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corymb {

/// Throws Errc::invalid_model, "field.start_up_ns: must be >= 0, is -1".
void check_network(const Network& network, const std::string& field);

/// What a message of so many bytes costs between two nodes such as each of these.
std::vector<double> message_ns_of_nodes(const Cluster& cluster, std::uint64_t bytes);

/// The worst of all nodes in each number: those that exchange go on together.
Network slowest_network(const Cluster& cluster);

} // namespace corymb
