// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/fingerprint.hpp"

#include "base/cpu_list.hpp"
#include "base/sha256.hpp"
#include "base/small_file.hpp"

#include <sys/utsname.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <cstring>
#include <set>
#include <utility>

namespace corymb::discover {
namespace {

bool has_siblings(const std::vector<Pu>& pus) {
    std::set<int> cores;
    for (const Pu& pu : pus) {
        if (pu.core >= 0 && !cores.insert(pu.core).second) {
            return true;
        }
    }
    return false;
}

} // namespace

std::string topology_hash(const std::vector<Pu>& pus) {
    std::string text;
    for (const Pu& pu : pus) {
        for (const int value : {pu.cpu, pu.core, pu.l2, pu.l3, pu.die, pu.package, pu.numa}) {
            text += std::to_string(value) + ' ';
        }
        text += '\n';
    }
    return sha256_hex(text);
}

Fingerprint fingerprint_of(const std::vector<Pu>& pus, const std::string& cpu) {
    Fingerprint result;
    result.cpu = cpu;
    result.topology_sha256 = topology_hash(pus);
    std::vector<int> cpus;
    for (const Pu& pu : pus) {
        cpus.push_back(pu.cpu);
    }
    result.cpuset = format_cpu_list(std::move(cpus));
    result.virtualization = "none";
    result.smt = has_siblings(pus);
    return result;
}

Fingerprint fingerprint_of_this_machine(const std::vector<Pu>& pus, const std::string& cpu) {
    Fingerprint result = fingerprint_of(pus, cpu);
    utsname system{};
    if (uname(&system) == 0) {
        result.kernel = system.release;
    }
    result.virtualization = virtualization();
    return result;
}

std::string virtualization() {
#if defined(__x86_64__) || defined(__i386__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & (1u << 31)) == 0) {
        return "none";
    }
    __cpuid(0x40000000u, eax, ebx, ecx, edx); // The hypervisor's signature, by convention.
    char signature[13] = {};
    std::memcpy(signature, &ebx, 4);
    std::memcpy(signature + 4, &ecx, 4);
    std::memcpy(signature + 8, &edx, 4);
    const std::pair<const char*, const char*> known[] = {
        {"KVMKVMKVM", "kvm"},        {"Linux KVM Hv", "kvm"},  {"VMwareVMware", "vmware"},
        {"Microsoft Hv", "hyper-v"}, {"XenVMMXenVMM", "xen"},  {"TCGTCGTCGTCG", "qemu"},
        {"bhyve bhyve ", "bhyve"},   {"ACRNACRNACRN", "acrn"}, {"QNXQVMBSQG", "qnx"}};
    for (const auto& [text, name] : known) {
        if (std::strncmp(signature, text, std::strlen(text)) == 0) {
            return name;
        }
    }
    return "unknown hypervisor";
#else
    // Device trees of guests name their hypervisor; bare metal has no such node.
    const auto compatible = read_small_file("/proc/device-tree/hypervisor/compatible");
    if (compatible) {
        return compatible->find("xen") != std::string::npos ? "xen" : "kvm";
    }
    const auto product = read_small_file("/sys/class/dmi/id/product_name").value_or("");
    return product.find("KVM") != std::string::npos ? "kvm" : "none";
#endif
}

} // namespace corymb::discover
