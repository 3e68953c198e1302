// SPDX-License-Identifier: Apache-2.0
// NUMA nodes as the kernel shows them in /sys. hwloc leaves nodes out whose memory the cpuset does
// not allow, and those that cut other objects; the CPUs near them are as far from others all the
// same.
#pragma once

#include "machine/discover/levels.hpp"

#include <corymb/machine.hpp>

#include <filesystem>
#include <map>
#include <vector>

namespace corymb::discover {

struct KernelNodes {
    std::map<int, int> row_of_cpu; ///< Rows of `distance`, in the order of the nodes' numbers.
    std::vector<std::vector<double>> distance; ///< Empty: the kernel does not say.

    /// Fills Pu::numa, dense from 0 in the order of appearance. False, and nothing changes, if the
    /// node of a CPU is not known.
    bool number(std::vector<Pu>& pus) const;
    /// Between the nodes of these PUs, by Pu::numa as filled above.
    [[nodiscard]] NodeDistances distances(const std::vector<Pu>& pus) const;
};

/// Nothing where /sys is hidden or the kernel knows no nodes.
KernelNodes read_kernel_nodes(const std::filesystem::path& folder = "/sys/devices/system/node");

} // namespace corymb::discover
