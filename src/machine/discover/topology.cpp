// SPDX-License-Identifier: Apache-2.0
// Machines that are known by their topology alone.
#include "machine/discover/fingerprint.hpp"
#include "machine/discover/hwloc_handle.hpp"
#include "machine/discover/kernel_nodes.hpp"
#include "machine/discover/levels.hpp"
#include "machine/discover/this_machine.hpp"
#include "machine/discover/topology_reader.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

/// A meeting on one line moves it once, where a message is sent and received.
void assume_meetings(Machine& machine) {
    constexpr double share = 0.75; // Of a message, as first measured on a two-CPU virtual machine.
    for (int index = 0; index < static_cast<int>(machine.classes.size()); ++index) {
        const PairClass& pair = machine.classes[static_cast<std::size_t>(index)];
        machine.exchange.push_back(
            {index, {1}, {share * (pair.send.median + pair.receive.median)}});
    }
}

Machine unmeasured(std::vector<Pu> pus, const discover::NodeDistances& distances,
                   const char* source) {
    Machine machine;
    machine.topology.pus = std::move(pus);
    if (machine.topology.pus.empty()) {
        throw Error(Errc::invalid_model, "the topology has no processing unit that may be used");
    }
    machine.topology.source = source;
    machine.source = "topology only, not measured";
    machine.assumption = "typical costs of each topology level, good for comparison only";
    discover::classes_from_topology(machine, distances);
    machine.quality.remarks.emplace_back(
        "Costs were not measured: they are typical of each topology level.");
    for (std::string& text : discover::unknown_levels(machine.topology.pus)) {
        machine.quality.remarks.push_back(std::move(text));
    }
    return machine;
}

Machine unmeasured(const discover::HwlocHandle& handle, const char* source) {
    std::vector<Pu> pus = discover::read_pus(handle.get(), {});
    const discover::NodeDistances distances = discover::node_distances(handle.get(), pus);
    return unmeasured(std::move(pus), distances, source);
}

Machine unmeasured_here(const discover::HwlocHandle& handle) {
    std::vector<Pu> pus = discover::read_pus_here(handle.get(), usable_cpus().allowed);
    const discover::NodeDistances distances = discover::read_kernel_nodes().distances(pus);
    return unmeasured(std::move(pus), distances, "hwloc");
}

} // namespace

Machine discover_topology() {
    const discover::HwlocHandle handle = discover::hwloc_of_this_machine();
    const bool real = hwloc_topology_is_thissystem(handle.get()) != 0;
    // HWLOC_XMLFILE may describe another machine, on which this process's mask means nothing.
    Machine machine = real ? unmeasured_here(handle) : unmeasured(handle, "hwloc-xml");
    if (real) {
        assume_meetings(machine); // Teams plan on this model until there is a measured one.
    }
    const std::string cpu = discover::cpu_model(handle.get());
    machine.fingerprint = real ? discover::fingerprint_of_this_machine(machine.topology.pus, cpu)
                               : discover::fingerprint_of(machine.topology.pus, cpu);
    machine.name = real ? discover::host_name() : "hwloc";
    return machine;
}

Machine topology_from_xml(const std::filesystem::path& file) {
    const discover::HwlocHandle handle = discover::hwloc_of_xml(file);
    Machine machine = unmeasured(handle, "hwloc-xml");
    machine.name = file.stem().string();
    machine.fingerprint =
        discover::fingerprint_of(machine.topology.pus, discover::cpu_model(handle.get()));
    return machine;
}

Machine topology_from_synthetic(const std::string& description) {
    const discover::HwlocHandle handle = discover::hwloc_of_synthetic(description);
    Machine machine = unmeasured(handle, "synthetic");
    machine.name = description;
    machine.fingerprint = discover::fingerprint_of(machine.topology.pus, "synthetic");
    return machine;
}

} // namespace corymb
