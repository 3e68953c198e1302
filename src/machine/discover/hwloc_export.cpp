// SPDX-License-Identifier: Apache-2.0
// Writes the costs as hwloc distances, so that every program that reads hwloc XML can use them.
#include "machine/discover/hwloc_handle.hpp"
#include "machine/discover/levels.hpp"
#include "machine/discover/statistics.hpp"
#include "machine/discover/topology_reader.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

namespace corymb {
namespace {

using namespace discover;

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

struct Bitmap {
    hwloc_bitmap_t bits = hwloc_bitmap_alloc();
    Bitmap() = default;
    ~Bitmap() { hwloc_bitmap_free(bits); }
    Bitmap(const Bitmap&) = delete;
    Bitmap& operator=(const Bitmap&) = delete;
};

/// What a row of the matrix stands for: an object of hwloc and the PUs of the model in it.
struct Row {
    hwloc_obj_t object = nullptr;
    std::vector<int> pus;
};

/// This machine's own topology if the model belongs to it, else one flat level of PUs with the same
/// numbers: hwloc cannot be given an uneven tree by hand.
HwlocHandle topology_for(const Machine& machine) {
    HwlocHandle own = hwloc_of_this_machine();
    if (read_pus_here(own.get(), usable_cpus().allowed) == machine.topology.pus) {
        return own;
    }
    std::string cpus;
    for (const Pu& pu : machine.topology.pus) {
        cpus += (cpus.empty() ? "" : ",") + std::to_string(pu.cpu);
    }
    return hwloc_of_synthetic(machine.size() == 1
                                  ? fmt::format("numa:1 pu:1")
                                  : fmt::format("numa:1 pu:{}(indexes={})", machine.size(), cpus));
}

void insert_group(hwloc_topology_t topology, const Machine& machine, const std::vector<int>& pus) {
    const hwloc_obj_t group = hwloc_topology_alloc_group_object(topology);
    if (group == nullptr) {
        return;
    }
    group->cpuset = hwloc_bitmap_alloc();
    for (const int pu : pus) {
        hwloc_bitmap_set(group->cpuset, static_cast<unsigned>(machine.topology.pus[at(pu)].cpu));
    }
    hwloc_topology_insert_group_object(topology, group);
}

/// The smallest object that holds exactly these PUs.
hwloc_obj_t object_of(hwloc_topology_t topology, const Machine& machine,
                      const std::vector<int>& pus) {
    const Bitmap set;
    for (const int pu : pus) {
        hwloc_bitmap_set(set.bits, static_cast<unsigned>(machine.topology.pus[at(pu)].cpu));
    }
    const hwloc_obj_t object = hwloc_get_obj_covering_cpuset(topology, set.bits);
    return object;
}

/// A row a PU for machines of up to 128, else a row an object of the finest level with at most 128:
/// 512 PUs would be 262 144 entries a matrix and several megabytes of XML.
std::vector<Row> rows_of(hwloc_topology_t topology, const Machine& machine) {
    constexpr int rows_max = 128;
    std::vector<Row> rows;
    if (machine.size() <= rows_max) {
        for (int pu = 0; pu < machine.size(); ++pu) {
            const auto cpu = static_cast<unsigned>(machine.topology.pus[at(pu)].cpu);
            rows.push_back({hwloc_get_pu_obj_by_os_index(topology, cpu), {pu}});
        }
        return rows;
    }
    Level level;
    for (Level& candidate : distinct_levels(machine.topology.pus)) {
        if (candidate.count >= 2 && candidate.count <= rows_max) {
            level = std::move(candidate);
            break;
        }
    }
    if (level.count == 0) { // No reported level is coarse enough: the measured groups are.
        level = {"group", machine.group, machine.group_count()};
    }
    rows.resize(at(level.count));
    for (int pu = 0; pu < machine.size(); ++pu) {
        rows[at(level.object[at(pu)])].pus.push_back(pu);
    }
    for (const Row& row : rows) {
        insert_group(topology, machine, row.pus);
    }
    std::set<hwloc_obj_t> distinct;
    for (Row& row : rows) {
        row.object = object_of(topology, machine, row.pus);
        distinct.insert(row.object);
    }
    if (distinct.size() < rows.size()) { // Not a partition that hwloc can hold: leaders stand in.
        for (Row& row : rows) {
            const auto cpu = static_cast<unsigned>(machine.topology.pus[at(row.pus[0])].cpu);
            row.object = hwloc_get_pu_obj_by_os_index(topology, cpu);
        }
    }
    return rows;
}

/// The usual cost from PUs of one row to those of another, of at most 64 pairs; 0 if there is none.
template <class Cost>
double usual_cost(const Row& from, const Row& to, Cost cost) {
    constexpr std::size_t side_max = 8;
    std::vector<double> costs;
    for (std::size_t i = 0; i < std::min(from.pus.size(), side_max); ++i) {
        for (std::size_t j = 0; j < std::min(to.pus.size(), side_max); ++j) {
            if (from.pus[i] != to.pus[j]) {
                costs.push_back(cost(from.pus[i], to.pus[j]));
            }
        }
    }
    return costs.empty() ? 0 : median(costs);
}

template <class Cost>
void add_matrix(hwloc_topology_t topology, std::vector<Row>& rows, const char* name, double scale,
                Cost cost) {
    std::vector<hwloc_obj_t> objects;
    std::vector<hwloc_uint64_t> values;
    for (const Row& from : rows) {
        objects.push_back(from.object);
        for (const Row& to : rows) {
            values.push_back(
                static_cast<hwloc_uint64_t>(std::llround(usual_cost(from, to, cost) * scale)));
        }
    }
    const unsigned long kind = HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
    const hwloc_distances_add_handle_t handle = hwloc_distances_add_create(topology, name, kind, 0);
    if (handle == nullptr ||
        hwloc_distances_add_values(topology, handle, static_cast<unsigned>(objects.size()),
                                   objects.data(), values.data(), 0) != 0 ||
        hwloc_distances_add_commit(topology, handle, 0) != 0) {
        throw Error(Errc::unsupported,
                    fmt::format("hwloc does not accept the distances '{}' of {} objects", name,
                                objects.size()));
    }
}

} // namespace

void export_hwloc_distances(const Machine& machine, const std::filesystem::path& xml_file) {
    machine.check();
    if (machine.size() < 2) {
        throw Error(Errc::invalid_argument, "a machine with one CPU has no distances to export");
    }
    const HwlocHandle topology = topology_for(machine);
    std::vector<Row> rows = rows_of(topology.get(), machine);
    // hwloc keeps whole numbers, so picoseconds. Cycles of unknown length stay thousandths of one.
    const double scale = 1000 * (std::isnan(machine.unit_ns) ? 1 : machine.unit_ns);
    const bool time = !std::isnan(machine.unit_ns);
    add_matrix(topology.get(), rows, time ? "corymb:send_ps" : "corymb:send_millicycles", scale,
               [&](int a, int b) { return machine.send_cost(a, b); });
    add_matrix(topology.get(), rows, time ? "corymb:receive_ps" : "corymb:receive_millicycles",
               scale, [&](int a, int b) { return machine.receive_cost(a, b); });
    char* text = nullptr;
    int length = 0; // With the zero at its end.
    if (hwloc_topology_export_xmlbuffer(topology.get(), &text, &length, 0) != 0) {
        throw Error(Errc::unsupported, "hwloc cannot export this machine as XML");
    }
    const auto free_text = [&topology](char* exported) {
        hwloc_free_xmlbuffer(topology.get(), exported);
    };
    const std::unique_ptr<char, decltype(free_text)> held(text, free_text);
    detail::write_output(xml_file, {text, static_cast<std::size_t>(length - 1)});
}

} // namespace corymb
