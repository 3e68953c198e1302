// SPDX-License-Identifier: Apache-2.0
// From hwloc's tree of objects to the model's flat table of PUs.
#pragma once

#include "machine/discover/hwloc_handle.hpp"
#include "machine/discover/levels.hpp"

#include <corymb/machine.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corymb::discover {

/// The PUs of `handle` in hwloc's order, so that neighbours are near; only those in `allowed`,
/// unless it is empty. PUs in `allowed` that hwloc does not know are appended with unknown groups.
std::vector<Pu> read_pus(hwloc_topology_t handle, const std::vector<int>& allowed);

/// The same of this machine, with the nodes that the kernel names.
std::vector<Pu> read_pus_here(hwloc_topology_t handle, const std::vector<int>& allowed);

/// How far the nodes of these PUs are apart. Nothing, if that is not known of all of them.
NodeDistances node_distances(hwloc_topology_t handle, const std::vector<Pu>& pus);

/// One sentence for each level that is known of some PUs only, and so tells nothing.
std::vector<std::string> unknown_levels(const std::vector<Pu>& pus);

/// Name of the processor as hwloc reports it, else empty.
std::string cpu_model(hwloc_topology_t handle);

/// Bytes of the cache of this level (1..3) that holds data for the PU, else 0.
std::int64_t cache_bytes(hwloc_topology_t handle, int cpu, int level);

} // namespace corymb::discover
