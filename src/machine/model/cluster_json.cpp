// SPDX-License-Identifier: Apache-2.0
// The file format "corymb-cluster/1" (docs/explain/nodes.md).
#include "base/file.hpp"
#include "base/json.hpp"

#include <corymb/cluster.hpp>

#include <nlohmann/json.hpp>

#include <limits>

namespace corymb {

namespace {

constexpr const char* schema_name = "corymb-cluster/1";
constexpr int int_max = std::numeric_limits<int>::max();

int whole_or(const JsonView& view, std::string_view key, int otherwise) {
    const auto field = view.find(key);
    return field ? static_cast<int>(field->integer(0, int_max)) : otherwise;
}

double number_or(const JsonView& view, std::string_view key, double otherwise) {
    const auto field = view.find(key);
    return field ? field->number() : otherwise;
}

NodeShape shape(const JsonView& view) {
    view.allow_only(
        {"packages", "cores", "near_ns", "far_ns", "copy_gbs", "controllers", "controller_gbs"});
    NodeShape out;
    out.packages = whole_or(view, "packages", out.packages);
    out.cores = static_cast<int>(view.at("cores").integer(0, int_max));
    out.near_ns = number_or(view, "near_ns", out.near_ns);
    out.far_ns = number_or(view, "far_ns", out.far_ns);
    out.copy_gbs = number_or(view, "copy_gbs", out.copy_gbs);
    out.controllers = whole_or(view, "controllers", out.controllers);
    out.controller_gbs = number_or(view, "controller_gbs", out.controller_gbs);
    return out;
}

NodeKind kind_of_model(const JsonView& view) {
    try {
        return NodeKind::of_machine(machine_from_json(view.json()));
    } catch (const Error& error) {
        constexpr std::string_view whole = "document: ";
        const std::string_view what = error.what();
        const std::string_view rest = what.substr(what.starts_with(whole) ? whole.size() : 0);
        throw Error(error.code(), view.path() + ": " + std::string(rest));
    }
}

NodeKind kind(const JsonView& view) {
    view.allow_only({"gallery", "shape", "model"});
    const auto named = view.find("gallery");
    const auto shaped = view.find("shape");
    const auto given = view.find("model");
    if (named.has_value() + shaped.has_value() + given.has_value() != 1) {
        view.fail("must have one of \"gallery\", \"shape\" and \"model\"");
    }
    if (given) {
        return kind_of_model(*given);
    }
    try {
        return named ? NodeKind::of_gallery(named->text()) : NodeKind::of_shape(shape(*shaped));
    } catch (const Error& error) {
        if (error.code() == Errc::unknown_name) {
            named->fail(error.what());
        }
        // What is wrong with a shape's values begins with "shape.", other errors with the path.
        const std::string text = error.what();
        throw Error(error.code(), text.starts_with("shape.") ? view.path() + "." + text : text);
    }
}

NodeRun run_of(const JsonView& view) {
    view.allow_only({"machine", "count", "ranks", "network", "pus"});
    const auto pus = view.find("pus");
    return {whole_or(view, "machine", 0), whole_or(view, "count", 1),
            static_cast<int>(view.at("ranks").integer(0, int_max)), whole_or(view, "network", 0),
            pus ? pus->integers(0) : std::vector<int>{}};
}

Network network(const JsonView& view) {
    view.allow_only({"start_up_ns", "message_gap_ns", "stream_gbs", "node_gbs"});
    return {view.at("start_up_ns").number(), view.at("message_gap_ns").number(),
            view.at("stream_gbs").number(), view.at("node_gbs").number()};
}

/// "network" where nodes are of one class, else "networks".
std::vector<Network> networks(const JsonView& root) {
    const auto several = root.find("networks");
    if (!several) {
        return {network(root.at("network"))};
    }
    if (root.find("network")) {
        several->fail("must not stand beside \"network\"");
    }
    std::vector<Network> classes;
    for (std::size_t i = 0; i < several->size(); ++i) {
        classes.push_back(network((*several)[i]));
    }
    return classes;
}

nlohmann::ordered_json json_of(const NodeKind& kind) {
    if (kind.is_given) {
        return {{"model", nlohmann::ordered_json::parse(to_json(kind.machine))}};
    }
    if (!kind.gallery.empty()) {
        return {{"gallery", kind.gallery}};
    }
    const NodeShape& made = kind.shape;
    nlohmann::ordered_json shape{{"packages", made.packages},
                                 {"cores", made.cores},
                                 {"near_ns", made.near_ns},
                                 {"far_ns", made.far_ns},
                                 {"copy_gbs", made.copy_gbs}};
    if (made.controllers > 0) {
        shape["controllers"] = made.controllers;
        shape["controller_gbs"] = made.controller_gbs;
    }
    return {{"shape", std::move(shape)}};
}

nlohmann::ordered_json json_of(const Network& network) {
    return {{"start_up_ns", network.start_up_ns},
            {"message_gap_ns", network.message_gap_ns},
            {"stream_gbs", network.stream_gbs},
            {"node_gbs", network.node_gbs}};
}

} // namespace

Cluster cluster_from_json(std::string_view text) {
    const JsonDocument document(text, Errc::invalid_model);
    const JsonView root = document.root();
    const JsonView schema = root.at("schema");
    if (schema.text() != schema_name) {
        schema.fail("must be \"corymb-cluster/1\"; this is no cluster, or one of another version");
    }
    root.allow_only(
        {"schema", "name", "source", "machines", "nodes", "order", "network", "networks"});
    Cluster cluster;
    if (const auto name = root.find("name")) {
        cluster.name = name->text();
    }
    if (const auto source = root.find("source")) {
        cluster.source = source->text();
    }
    const JsonView machines = root.at("machines");
    for (std::size_t i = 0; i < machines.size(); ++i) {
        cluster.kinds.push_back(kind(machines[i]));
    }
    const JsonView nodes = root.at("nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        cluster.runs.push_back(run_of(nodes[i]));
    }
    if (const auto order = root.find("order")) {
        const std::string name = order->text();
        if (name != "block" && name != "cyclic") {
            order->fail("must be \"block\" or \"cyclic\"");
        }
        cluster.order = name == "block" ? RankOrder::block : RankOrder::cyclic;
    }
    cluster.networks = networks(root);
    cluster.check();
    return cluster;
}

Cluster load_cluster(const std::filesystem::path& file) {
    return parse_file(file, cluster_from_json);
}

std::string to_json(const Cluster& cluster) {
    using nlohmann::ordered_json;
    ordered_json machines = ordered_json::array();
    for (const NodeKind& one : cluster.kinds) {
        machines.push_back(json_of(one));
    }
    const bool is_one = cluster.networks.size() == 1;
    ordered_json nodes = ordered_json::array();
    for (const NodeRun& run : cluster.runs) {
        nodes.push_back({{"machine", run.kind}, {"count", run.count}, {"ranks", run.ranks}});
        if (!is_one) {
            nodes.back()["network"] = run.network;
        }
        if (!run.pus.empty()) {
            nodes.back()["pus"] = run.pus;
        }
    }
    ordered_json document{{"schema", schema_name},
                          {"name", cluster.name},
                          {"source", cluster.source},
                          {"machines", std::move(machines)},
                          {"nodes", std::move(nodes)},
                          {"order", cluster.order == RankOrder::block ? "block" : "cyclic"}};
    if (is_one) {
        document["network"] = json_of(cluster.networks.front());
    } else {
        ordered_json& classes = document["networks"] = ordered_json::array();
        for (const Network& one : cluster.networks) {
            classes.push_back(json_of(one));
        }
    }
    return dump_json(document);
}

} // namespace corymb
