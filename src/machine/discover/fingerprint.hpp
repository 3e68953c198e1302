// SPDX-License-Identifier: Apache-2.0
// What tells this machine, and the part of it that a process may use, from another.
#pragma once

#include <corymb/machine.hpp>

#include <string>
#include <vector>

namespace corymb::discover {

/// SHA-256 over (cpu, core, l2, l3, die, package, numa) of every PU.
std::string topology_hash(const std::vector<Pu>& pus);

/// Fingerprint of a topology that is not this machine: no kernel and no virtualisation.
Fingerprint fingerprint_of(const std::vector<Pu>& pus, const std::string& cpu);
/// The same with the running kernel and hypervisor.
Fingerprint fingerprint_of_this_machine(const std::vector<Pu>& pus, const std::string& cpu);

/// "kvm", "vmware", ..., "unknown hypervisor", or "none".
std::string virtualization();

} // namespace corymb::discover
