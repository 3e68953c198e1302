// SPDX-License-Identifier: Apache-2.0
// An owned hwloc topology and the three ways to get one.
#pragma once

#include <hwloc.h>

#include <filesystem>
#include <memory>
#include <string>

namespace corymb::discover {

struct HwlocDeleter {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using HwlocHandle = std::unique_ptr<hwloc_topology, HwlocDeleter>;

/// The machine this process runs on. Honours HWLOC_XMLFILE and HWLOC_SYNTHETIC as every hwloc
/// program does. Throws Errc::unsupported.
HwlocHandle hwloc_of_this_machine();
/// Throws Errc::io if the file cannot be read, Errc::invalid_model if hwloc refuses its content.
HwlocHandle hwloc_of_xml(const std::filesystem::path& file);
/// Throws Errc::invalid_argument if hwloc refuses the text, or it describes over 65536 PUs.
HwlocHandle hwloc_of_synthetic(const std::string& description);

} // namespace corymb::discover
