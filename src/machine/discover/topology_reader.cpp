// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/topology_reader.hpp"

#include "base/cpu_list.hpp"
#include "machine/discover/kernel_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace corymb::discover {
namespace {

/// Gives numbers dense from 0 to the keys of one kind of object, in the order of appearance.
class DenseNumbers {
public:
    int of(std::uint64_t key) {
        return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
    }

    /// By the number that is the object's alone. Objects of one type can stand at several depths,
    /// as cores do when a sibling is offline; their logical indexes repeat then.
    int of(hwloc_obj_t object) { return object != nullptr ? of(object->gp_index) : -1; }

private:
    std::map<std::uint64_t, int> numbers_;
};

/// The first node of the PU's memory, or -1.
int node_of(hwloc_obj_t pu) {
    return pu->nodeset != nullptr ? hwloc_bitmap_first(pu->nodeset) : -1;
}

/// Rank of the PU's kind by efficiency, or -1 when the machine has one kind or hwloc knows none.
int efficiency_rank(hwloc_topology_t handle, hwloc_obj_t pu) {
    if (hwloc_cpukinds_get_nr(handle, 0) < 2) {
        return -1;
    }
    const int kind = hwloc_cpukinds_get_by_cpuset(handle, pu->cpuset, 0);
    int efficiency = -1;
    if (kind < 0 || hwloc_cpukinds_get_info(handle, static_cast<unsigned>(kind), nullptr,
                                            &efficiency, nullptr, nullptr, 0) != 0) {
        return -1;
    }
    return efficiency >= 0 ? efficiency : kind;
}

} // namespace

std::vector<Pu> read_pus(hwloc_topology_t handle, const std::vector<int>& allowed) {
    std::vector<Pu> pus;
    DenseNumbers core;
    DenseNumbers l2;
    DenseNumbers l3;
    DenseNumbers die;
    DenseNumbers package;
    DenseNumbers numa;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(handle, HWLOC_OBJ_PU, object)) != nullptr;) {
        const int cpu = static_cast<int>(object->os_index);
        if (!allowed.empty() && !std::binary_search(allowed.begin(), allowed.end(), cpu)) {
            continue;
        }
        const auto ancestor = [&](hwloc_obj_type_t type) {
            return hwloc_get_ancestor_obj_by_type(handle, type, object);
        };
        Pu pu;
        pu.cpu = cpu;
        pu.core = core.of(ancestor(HWLOC_OBJ_CORE));
        pu.l2 = l2.of(ancestor(HWLOC_OBJ_L2CACHE));
        pu.l3 = l3.of(ancestor(HWLOC_OBJ_L3CACHE));
        pu.die = die.of(ancestor(HWLOC_OBJ_DIE));
        pu.package = package.of(ancestor(HWLOC_OBJ_PACKAGE));
        // A PU near two kinds of memory has two nodes; either tells which PUs share them.
        const int node = node_of(object);
        pu.numa = node < 0 ? -1 : numa.of(static_cast<std::uint64_t>(node));
        pu.kind = efficiency_rank(handle, object);
        pus.push_back(pu);
    }
    for (const int cpu : allowed) {
        const auto same = [cpu](const Pu& pu) {
            return pu.cpu == cpu;
        };
        if (std::none_of(pus.begin(), pus.end(), same)) {
            pus.push_back(Pu{.cpu = cpu});
        }
    }
    return pus;
}

std::vector<Pu> read_pus_here(hwloc_topology_t handle, const std::vector<int>& allowed) {
    std::vector<Pu> pus = read_pus(handle, allowed);
    read_kernel_nodes().number(pus);
    return pus;
}

std::vector<std::string> unknown_levels(const std::vector<Pu>& pus) {
    constexpr std::pair<const char*, int Pu::*> columns[] = {
        {"core", &Pu::core},      {"L2", &Pu::l2},   {"L3", &Pu::l3},
        {"NUMA node", &Pu::numa}, {"die", &Pu::die}, {"package", &Pu::package}};
    std::vector<std::string> texts;
    for (const auto& [name, member] : columns) {
        std::vector<int> unknown;
        for (const Pu& pu : pus) {
            if (pu.*member < 0) {
                unknown.push_back(pu.cpu);
            }
        }
        if (!unknown.empty() && unknown.size() < pus.size()) {
            texts.push_back(
                fmt::format("The {} of CPUs {} is not known, so that level is left out.", name,
                            format_cpu_list(unknown)));
        }
    }
    return texts;
}

NodeDistances node_distances(hwloc_topology_t handle, const std::vector<Pu>& pus) {
    hwloc_distances_s* matrix = nullptr;
    unsigned found = 1;
    constexpr unsigned long kind =
        HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
    if (hwloc_distances_get_by_type(handle, HWLOC_OBJ_NUMANODE, &found, &matrix, kind, 0) != 0 ||
        found == 0) {
        return {};
    }
    NodeDistances distances;
    std::map<int, unsigned> row_of; // By number of the node in the model.
    for (const Pu& pu : pus) {
        const hwloc_obj_t object =
            hwloc_get_pu_obj_by_os_index(handle, static_cast<unsigned>(pu.cpu));
        const int node = object != nullptr ? node_of(object) : -1;
        for (unsigned row = 0; row < matrix->nbobjs && node >= 0 && pu.numa >= 0; ++row) {
            if (static_cast<int>(matrix->objs[row]->os_index) == node) {
                row_of[pu.numa] = row;
            }
        }
        distances.nodes = std::max(distances.nodes, pu.numa + 1);
    }
    const bool all_known =
        static_cast<int>(row_of.size()) == distances.nodes &&
        std::none_of(pus.begin(), pus.end(), [](const Pu& pu) { return pu.numa < 0; });
    for (const auto& [from, row] : row_of) {
        for (const auto& [to, column] : row_of) {
            const auto value = static_cast<double>(matrix->values[row * matrix->nbobjs + column]);
            distances.value.push_back(value);
        }
    }
    const bool all_positive = std::none_of(distances.value.begin(), distances.value.end(),
                                           [](double value) { return value <= 0; });
    hwloc_distances_release(handle, matrix);
    return all_known && all_positive ? distances : NodeDistances{};
}

std::string cpu_model(hwloc_topology_t handle) {
    const hwloc_obj_t pu = hwloc_get_obj_by_type(handle, HWLOC_OBJ_PU, 0);
    if (pu == nullptr) {
        return {};
    }
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
        const hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(handle, type, pu);
        const char* const model =
            object != nullptr ? hwloc_obj_get_info_by_name(object, "CPUModel") : nullptr;
        if (model != nullptr) {
            return model;
        }
    }
    return {};
}

std::int64_t cache_bytes(hwloc_topology_t handle, int cpu, int level) {
    const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(handle, static_cast<unsigned>(cpu));
    if (pu == nullptr || level < 1 || level > 3) {
        return 0;
    }
    const hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(handle, types[level - 1], pu);
    return cache != nullptr ? static_cast<std::int64_t>(cache->attr->cache.size) : 0;
}

} // namespace corymb::discover
