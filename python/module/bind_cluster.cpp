// SPDX-License-Identifier: Apache-2.0
// corymb/cluster.hpp, its part of corymb/planner.hpp and the simulation of clusters for Python.
#include "bindings.hpp"

#include <corymb/cluster.hpp>
#include <corymb/doubts.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace corymb::python {

namespace {

std::vector<int> nodes_of(const Cluster& cluster) {
    std::vector<int> nodes;
    for (const NodePlace& place : cluster.places()) {
        nodes.push_back(place.node);
    }
    return nodes;
}

PlanRequest request_for(const std::string& op, std::uint64_t bytes, bool ordered) {
    PlanRequest request;
    request.op = collective_from_string(op);
    request.bytes = bytes;
    request.ordered = ordered;
    return request;
}

nb::dict traffic_of(const Plan& plan, const Cluster& cluster, std::uint64_t bytes) {
    const NodeTraffic traffic = node_traffic(plan, nodes_of(cluster), bytes);
    nb::dict counts;
    counts["bytes_in"] = traffic.in;
    counts["bytes_out"] = traffic.out;
    counts["rank_bytes_in"] = traffic.rank_in;
    counts["messages"] = traffic.messages;
    counts["rounds"] = traffic.rounds;
    return counts;
}

/// (Costs of each class, class of each node.)
nb::tuple classes_from(const std::string& text, int nodes) {
    Networks networks = networks_from(text, nodes);
    nb::list classes;
    for (const Network& one : networks.classes) {
        classes.append(
            nb::make_tuple(one.start_up_ns, one.message_gap_ns, one.stream_gbs, one.node_gbs));
    }
    networks.of_node.resize(static_cast<std::size_t>(nodes), 0);
    return nb::make_tuple(classes, networks.of_node);
}

void bind_model(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<Cluster>(module, "Cluster", "Nodes and their network; docs/explain/nodes.md.")
        .def_static("from_json", &cluster_from_json, nb::arg("text"), unlocked,
                    "Raises corymb.Error that names the wrong field.")
        .def_static("load", &load_cluster, nb::arg("file"), unlocked)
        .def(
            "to_json", [](const Cluster& self) { return to_json(self); }, unlocked)
        .def_ro("name", &Cluster::name)
        .def_prop_ro("nodes", &Cluster::node_count, "Number of nodes.")
        .def("__len__", &Cluster::size, "Number of ranks.")
        .def_prop_ro(
            "doubts", [](const Cluster& self) { return doubts(self); },
            "What the models of its nodes lack, assume or doubt, one sentence each.")
        .def_prop_ro("node_of_rank", &nodes_of, "Node of each rank, counted from 0.");
    module.def("networks_from", &classes_from, nb::arg("text"), nb::arg("nodes"),
               nb::sig("def networks_from(text: str, nodes: int) -> "
                       "tuple[list[tuple[float, float, float, float]], list[int]]"),
               "Classes of the network, as --network and CORYMB_NETWORK say them, and which of "
               "them each node is of.");
}

} // namespace

void bind_cluster(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    bind_model(module);
    module.def(
        "make_cluster_plan",
        [](const Cluster& cluster, const std::string& op, std::uint64_t bytes, int root,
           const std::string& algorithm, bool exhaustive, bool proven, bool ordered,
           const std::string& objective, const Noise* noise, std::uint32_t replays) {
            PlanRequest request = request_for(op, bytes, ordered);
            request.root = root;
            request.algorithm = algorithm;
            request.exhaustive = exhaustive;
            request.proven = proven;
            request.objective = objective_from_string(objective);
            request.noise = noise != nullptr ? *noise : Noise{};
            request.replays = replays;
            return make_plan(cluster, request);
        },
        nb::arg("cluster"), nb::arg("op"), nb::kw_only(), nb::arg("bytes") = std::uint64_t{8},
        nb::arg("root") = 0, nb::arg("algorithm") = "best", nb::arg("exhaustive") = false,
        nb::arg("proven") = true, nb::arg("ordered") = false, nb::arg("objective") = "median",
        nb::arg("noise") = nb::none(), nb::arg("replays") = 1000u, unlocked,
        "Simulates schemes on the cluster and returns the fastest (or the named) plan.");
    module.def(
        "scheme_names",
        [](const Cluster& cluster, const std::string& op, std::uint64_t bytes, bool ordered) {
            return scheme_names(cluster, request_for(op, bytes, ordered));
        },
        nb::arg("cluster"), nb::arg("op"), nb::arg("bytes") = std::uint64_t{8}, nb::kw_only(),
        nb::arg("ordered") = false, "Names of the schemes for an operation on a cluster.");
    module.def(
        "simulate_cluster",
        [](const Plan& plan, const Cluster& cluster, std::uint64_t bytes, bool activities,
           const Noise* noise) {
            return simulate(plan, cluster, bytes, activities, noise != nullptr ? *noise : Noise{});
        },
        nb::arg("plan"), nb::arg("cluster"), nb::arg("bytes") = std::uint64_t{8},
        nb::arg("activities") = false, nb::arg("noise") = nb::none(), unlocked,
        "Replays a plan on the model of a cluster. Nothing runs on this machine.");
    module.def("node_traffic", &traffic_of, nb::arg("plan"), nb::arg("cluster"),
               nb::arg("bytes") = std::uint64_t{8},
               nb::sig("def node_traffic(plan: Plan, cluster: Cluster, bytes: int = 8) -> "
                       "dict[str, typing.Any]"),
               "Counted from a proven plan's steps: bytes into and out of each node and into each "
               "rank, messages between nodes, and how many of those follow from one another.");
}

} // namespace corymb::python
