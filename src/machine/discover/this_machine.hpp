// SPDX-License-Identifier: Apache-2.0
// The part of this machine that a measurement is about.
#pragma once

#include "machine/discover/hwloc_handle.hpp"

#include <corymb/machine.hpp>

#include <string>
#include <vector>

namespace corymb::discover {

/// Topology and fingerprint for `cpus` (empty: all that are allowed). The handle is empty when
/// hwloc describes another machine (HWLOC_XMLFILE): then the topology is flat and a remark says so.
struct ThisMachine {
    HwlocHandle handle;
    Machine machine; ///< name, created, fingerprint and topology are filled.
};
/// Throws Errc::invalid_argument if a CPU is named twice or may not be used.
ThisMachine describe_this_machine(const std::vector<int>& cpus);

/// Now, as "2026-01-31T12:00:00Z".
std::string utc_now();

/// Name of this computer, "unknown" if it has none.
std::string host_name();

} // namespace corymb::discover
