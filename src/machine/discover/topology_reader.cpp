// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/topology_reader.hpp"

#include <algorithm>
#include <map>

namespace corymb::discover {
namespace {

/// Gives numbers dense from 0 to the keys of one kind of object, in the order of appearance.
class DenseNumbers {
public:
    int of(long key) {
        return key < 0 ? -1
                       : numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
    }

private:
    std::map<long, int> numbers_;
};

long ancestor(hwloc_topology_t handle, hwloc_obj_t pu, hwloc_obj_type_t type) {
    const hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(handle, type, pu);
    return object != nullptr ? static_cast<long>(object->logical_index) : -1;
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
        Pu pu;
        pu.cpu = cpu;
        pu.core = core.of(ancestor(handle, object, HWLOC_OBJ_CORE));
        pu.l2 = l2.of(ancestor(handle, object, HWLOC_OBJ_L2CACHE));
        pu.l3 = l3.of(ancestor(handle, object, HWLOC_OBJ_L3CACHE));
        pu.die = die.of(ancestor(handle, object, HWLOC_OBJ_DIE));
        pu.package = package.of(ancestor(handle, object, HWLOC_OBJ_PACKAGE));
        // A PU near two kinds of memory has two nodes; either tells which PUs share them.
        pu.numa = numa.of(object->nodeset != nullptr ? hwloc_bitmap_first(object->nodeset) : -1);
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
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
        const hwloc_obj_t object = hwloc_get_obj_by_type(handle, type, 0);
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
