// SPDX-License-Identifier: Apache-2.0
#include "machine/model/networks.hpp"

#include <corymb/cluster.hpp>
#include <corymb/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace corymb {

namespace {

constexpr double send_of_latency = 0.28; // As for imported machines: docs/explain/model.md.
constexpr int shape_cores_max = 4096;

[[noreturn]] void refuse(const std::string& field, const std::string& what) {
    throw Error(Errc::invalid_model, field + ": " + what);
}

void require_positive(const std::string& field, double value) {
    if (!std::isfinite(value) || value <= 0) {
        refuse(field, fmt::format("must be above 0, is {}", value));
    }
}

void check_shape(const NodeShape& shape, const std::string& field) {
    if (shape.packages < 1 || shape.packages > shape_cores_max) {
        refuse(field + ".packages", fmt::format("must be from 1 to {}", shape_cores_max));
    }
    if (shape.cores < 1 || shape.cores > shape_cores_max / shape.packages) {
        refuse(field + ".cores",
               fmt::format("must be at least 1, and at most {} in all packages", shape_cores_max));
    }
    require_positive(field + ".near_ns", shape.near_ns);
    require_positive(field + ".far_ns", shape.far_ns);
    require_positive(field + ".copy_gbs", shape.copy_gbs);
    const int cores = shape.packages * shape.cores;
    if (shape.controllers < 0 || (shape.controllers > 0 && cores % shape.controllers != 0)) {
        refuse(field + ".controllers",
               fmt::format("must divide the {} cores, or be 0, is {}", cores, shape.controllers));
    }
    if (shape.controllers > 0) {
        require_positive(field + ".controller_gbs", shape.controller_gbs);
    } else if (shape.controller_gbs != 0) {
        refuse(field + ".controller_gbs", "needs \"controllers\", their number");
    }
}

/// Each rank of a node on a PU of its own.
void check_pus(const NodeRun& run, int pus, const std::string& field) {
    if (!run.pus.empty() && run.pus.size() != static_cast<std::size_t>(run.ranks)) {
        refuse(field,
               fmt::format("must name {} PUs, one a rank, names {}", run.ranks, run.pus.size()));
    }
    std::vector<bool> taken(static_cast<std::size_t>(pus), false);
    for (std::size_t rank = 0; rank < run.pus.size(); ++rank) {
        const int pu = run.pus[rank];
        if (pu < 0 || pu >= pus) {
            refuse(fmt::format("{}[{}]", field, rank),
                   fmt::format("must be from 0 to {}, an index of the machine's PUs, is {}",
                               pus - 1, pu));
        }
        if (taken[static_cast<std::size_t>(pu)]) {
            refuse(fmt::format("{}[{}]", field, rank),
                   fmt::format("PU {} has another rank already", pu));
        }
        taken[static_cast<std::size_t>(pu)] = true;
    }
}

PairClass class_of_latency(const char* name, double latency) {
    PairClass made;
    made.name = name;
    const double send = send_of_latency * latency;
    made.send = {send, send, send, 1};
    made.receive = {latency, latency, latency, 1};
    return made;
}

Machine machine_of(const NodeShape& shape) {
    Machine machine;
    machine.name = fmt::format("shape-{}x{}", shape.packages, shape.cores);
    machine.source = "shape";
    machine.assumption = "receive = L, send = 0.28 L";
    machine.topology.source = "synthetic";
    for (int package = 0; package < shape.packages; ++package) {
        for (int core = 0; core < shape.cores; ++core) {
            Pu pu;
            pu.cpu = pu.core = package * shape.cores + core;
            pu.package = package;
            if (shape.controllers > 0) {
                pu.numa = pu.core / (shape.packages * shape.cores / shape.controllers);
            }
            machine.topology.pus.push_back(pu);
            machine.group.push_back(package);
        }
    }
    machine.classes = {class_of_latency("same-package", shape.near_ns),
                       class_of_latency("cross-package", shape.far_ns)};
    for (int from = 0; from < shape.packages; ++from) {
        for (int to = 0; to < shape.packages; ++to) {
            machine.group_class.push_back(from == to ? 0 : 1);
        }
    }
    machine.memory = {
        {"dram", std::int64_t{1} << 30, shape.copy_gbs, shape.copy_gbs, shape.copy_gbs}};
    if (shape.controllers > 0) {
        machine.shared = {{SharedUse::copies_from,
                           Scope::numa,
                           DataOrigin::assumed,
                           0,
                           {1},
                           {shape.controller_gbs}}};
    }
    return machine;
}

} // namespace

NodeKind NodeKind::of_gallery(std::string_view name) {
    return {std::string(name), {}, gallery_machine(name), false};
}

NodeKind NodeKind::of_machine(Machine machine) {
    return {"", {}, std::move(machine), true};
}

NodeKind NodeKind::of_shape(const NodeShape& shape) {
    check_shape(shape, "shape");
    return {"", shape, machine_of(shape), false};
}

int Cluster::node_count() const noexcept {
    int count = 0;
    for (const NodeRun& run : runs) {
        count += run.count;
    }
    return count;
}

Rank Cluster::size() const noexcept {
    Rank ranks = 0;
    for (const NodeRun& run : runs) {
        ranks += run.count * run.ranks;
    }
    return ranks;
}

std::vector<int> Cluster::kind_of_node() const {
    std::vector<int> kind;
    for (const NodeRun& run : runs) {
        kind.insert(kind.end(), static_cast<std::size_t>(run.count), run.kind);
    }
    return kind;
}

std::vector<int> Cluster::network_of_node() const {
    std::vector<int> network;
    for (const NodeRun& run : runs) {
        network.insert(network.end(), static_cast<std::size_t>(run.count), run.network);
    }
    return network;
}

std::vector<NodePlace> Cluster::places() const {
    std::vector<const NodeRun*> run_of_node;
    for (const NodeRun& run : runs) {
        run_of_node.insert(run_of_node.end(), static_cast<std::size_t>(run.count), &run);
    }
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<NodePlace> places;
    places.reserve(ranks);
    const auto add = [&](std::size_t node, int number) {
        const NodeRun& run = *run_of_node[node];
        const int pu = run.pus.empty() ? number : run.pus[static_cast<std::size_t>(number)];
        places.push_back({static_cast<int>(node), pu});
    };
    if (order == RankOrder::block) {
        for (std::size_t node = 0; node < run_of_node.size(); ++node) {
            for (int number = 0; number < run_of_node[node]->ranks; ++number) {
                add(node, number);
            }
        }
        return places;
    }
    for (int number = 0; places.size() < ranks; ++number) {
        for (std::size_t node = 0; node < run_of_node.size(); ++node) {
            if (number < run_of_node[node]->ranks) {
                add(node, number);
            }
        }
    }
    return places;
}

void Cluster::check() const {
    if (kinds.empty()) {
        refuse("machines", "there must be at least one");
    }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const Machine& machine = kinds[i].machine;
        if (machine.unit != TimeUnit::nanoseconds) {
            refuse(fmt::format("machines[{}]", i), "counts in cycles, a cluster in ns");
        }
    }
    if (networks.empty()) {
        refuse("network", "there must be one");
    }
    for (std::size_t i = 0; i < networks.size(); ++i) {
        check_network(networks[i],
                      networks.size() == 1 ? "network" : fmt::format("networks[{}]", i));
    }
    std::int64_t ranks = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const NodeRun& run = runs[i];
        const std::string field = fmt::format("nodes[{}]", i);
        if (run.kind < 0 || static_cast<std::size_t>(run.kind) >= kinds.size()) {
            refuse(field + ".machine", fmt::format("there are only {} machines", kinds.size()));
        }
        if (run.count < 1 || run.count > cluster_ranks_max) {
            refuse(field + ".count", fmt::format("must be from 1 to {}", cluster_ranks_max));
        }
        const int pus = kinds[static_cast<std::size_t>(run.kind)].machine.size();
        if (run.ranks < 1 || run.ranks > pus) {
            refuse(field + ".ranks", fmt::format("must be from 1 to {}, the PUs of the machine, "
                                                 "is {}",
                                                 pus, run.ranks));
        }
        check_pus(run, pus, field + ".pus");
        if (run.network < 0 || static_cast<std::size_t>(run.network) >= networks.size()) {
            refuse(field + ".network",
                   fmt::format("there are {} classes of the network", networks.size()));
        }
        ranks += std::int64_t{run.count} * run.ranks;
        if (ranks > cluster_ranks_max) {
            refuse(field, fmt::format("more than {} ranks", cluster_ranks_max));
        }
    }
    if (runs.empty()) {
        refuse("nodes", "there must be at least one");
    }
}

} // namespace corymb
