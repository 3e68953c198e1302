// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/topology_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

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
