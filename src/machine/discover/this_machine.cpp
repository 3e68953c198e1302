// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/this_machine.hpp"

#include "base/cpu_list.hpp"
#include "machine/discover/fingerprint.hpp"
#include "machine/discover/topology_reader.hpp"

#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace corymb::discover {
namespace {

std::vector<int> chosen_cpus(std::vector<int> cpus) {
    std::vector<int> allowed = usable_cpus().allowed;
    if (cpus.empty()) {
        return allowed;
    }
    std::sort(cpus.begin(), cpus.end());
    if (std::adjacent_find(cpus.begin(), cpus.end()) != cpus.end()) {
        throw Error(Errc::invalid_argument, "a CPU is named twice; name each CPU once");
    }
    for (const int cpu : cpus) {
        if (!std::binary_search(allowed.begin(), allowed.end(), cpu)) {
            throw Error(Errc::invalid_argument,
                        fmt::format("CPU {} may not be used by this process; the allowed ones are "
                                    "{}",
                                    cpu, format_cpu_list(allowed)));
        }
    }
    return cpus;
}

} // namespace

ThisMachine describe_this_machine(const std::vector<int>& cpus) {
    const std::vector<int> chosen = chosen_cpus(cpus);
    ThisMachine result;
    Machine& machine = result.machine;
    result.handle = hwloc_of_this_machine();
    if (hwloc_topology_is_thissystem(result.handle.get()) != 0) {
        machine.topology.pus = read_pus_here(result.handle.get(), chosen);
        machine.quality.remarks = unknown_levels(machine.topology.pus);
        machine.topology.source = "hwloc";
        machine.fingerprint =
            fingerprint_of_this_machine(machine.topology.pus, cpu_model(result.handle.get()));
    } else {
        result.handle.reset();
        for (const int cpu : chosen) {
            machine.topology.pus.push_back(Pu{.cpu = cpu});
        }
        machine.topology.source = "none";
        machine.fingerprint = fingerprint_of_this_machine(machine.topology.pus, "");
        machine.quality.remarks.emplace_back(
            "hwloc was told to describe another machine (HWLOC_XMLFILE or HWLOC_SYNTHETIC), so "
            "nothing is known about the topology of this one.");
    }
    machine.name = host_name();
    machine.created = utc_now();
    return result;
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32] = {};
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::string host_name() {
    char host[256] = {};
    const bool known = gethostname(host, sizeof host - 1) == 0 && host[0] != '\0';
    return known ? host : "unknown";
}

} // namespace corymb::discover
