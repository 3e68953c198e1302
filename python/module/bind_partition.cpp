// SPDX-License-Identifier: Apache-2.0
// corymb/partition.hpp for the command: a file is divided by threads, or by the processes of
// `corymb run`.
#include "bindings.hpp"

#include <corymb/error.hpp>
#include <corymb/partition.hpp>
#include <corymb/process.hpp>
#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace corymb::python {

namespace {

/// What rank 0 tells.
struct Outcome {
    bool is_rank_0 = false;
    int ranks = 0;
    std::uint64_t vertices = 0;
    std::uint64_t edges = 0;
    std::uint64_t data = 0;
    std::uint64_t overhead = 0;
    double read_s = 0;
    PartitionReport report;
    std::string parts; ///< One a line, in the order of vertices.
};

GraphFormat format_of(const std::string& name) {
    if (name == "auto") {
        return GraphFormat::automatic;
    }
    if (name == "metis") {
        return GraphFormat::metis;
    }
    if (name == "matrix-market") {
        return GraphFormat::matrix_market;
    }
    if (name == "edges") {
        return GraphFormat::edges;
    }
    throw Error(Errc::unknown_name, "there is no format '" + name +
                                        "'; there are auto, metis, matrix-market and edges");
}

/// Collective: the parts of all vertices as text on rank 0.
std::string gather_text(Team& team, const std::vector<std::uint32_t>& mine) {
    std::string text;
    for (const std::uint32_t part : mine) {
        text += std::to_string(part);
        text += '\n';
    }
    const std::size_t bytes = text.size();
    std::vector<std::size_t> counts(static_cast<std::size_t>(team.size()));
    team.gather(std::span(&bytes, 1), counts);
    std::string all;
    std::size_t total = 0;
    for (const std::size_t count : counts) {
        total += count;
    }
    if (team.rank() == 0) {
        all.resize(total);
    }
    team.gatherv(std::span<const char>(text), std::span<char>(all), {counts});
    return all;
}

void divide(Team& team, const std::filesystem::path& file, GraphFormat format,
            const PartitionOptions& options, bool wants_parts, Outcome& outcome) {
    const auto begin = std::chrono::steady_clock::now();
    const SharedGraph graph = read_graph(team, file, format);
    const std::chrono::duration<double> read = std::chrono::steady_clock::now() - begin;
    const Partition partition = partition_graph(team, graph, options);
    const auto bytes = graph.bytes();
    const auto data = team.allreduce(std::uint64_t{bytes.data});
    const auto overhead = team.allreduce(std::uint64_t{bytes.overhead});
    std::string parts = wants_parts ? gather_text(team, partition.parts) : "";
    if (team.rank() == 0) {
        outcome = {true,     team.size(),  graph.vertices(), graph.edges(),   data,
                   overhead, read.count(), partition.report, std::move(parts)};
    }
}

Outcome divide_file(const std::filesystem::path& file, int parts, int ranks, double imbalance,
                    std::uint64_t seed, const std::string& format, bool wants_parts) {
    PartitionOptions options;
    options.parts = parts;
    options.imbalance = imbalance;
    options.seed = seed;
    const GraphFormat chosen = format_of(format);
    Outcome outcome;
    if (std::getenv("CORYMB_TEAM") != nullptr) {
        Team team = Team::attach();
        divide(team, file, chosen, options, wants_parts, outcome);
    } else {
        threads(ranks,
                [&](Team& team) { divide(team, file, chosen, options, wants_parts, outcome); });
    }
    return outcome;
}

nb::object told(const Outcome& outcome) {
    if (!outcome.is_rank_0) {
        return nb::none();
    }
    const PartitionReport& report = outcome.report;
    nb::dict all;
    all["ranks"] = outcome.ranks;
    all["vertices"] = outcome.vertices;
    all["edges"] = outcome.edges;
    all["cut"] = report.cut;
    all["heaviest"] = report.heaviest;
    all["limit"] = report.limit;
    all["balanced"] = report.is_balanced();
    all["levels"] = report.levels;
    all["coarsest"] = report.coarsest;
    all["read_s"] = outcome.read_s;
    all["coarsen_s"] = report.coarsen_s;
    all["divide_s"] = report.divide_s;
    all["refine_s"] = report.refine_s;
    all["data_bytes"] = outcome.data;
    all["overhead_bytes"] = outcome.overhead;
    all["parts"] = outcome.parts;
    return all;
}

} // namespace

void bind_partition(nb::module_& module) {
    module.def(
        "partition_file",
        [](const std::filesystem::path& file, int parts, int ranks, double imbalance,
           std::uint64_t seed, const std::string& format, bool wants_parts) {
            Outcome outcome;
            {
                const nb::gil_scoped_release unlocked;
                outcome = divide_file(file, parts, ranks, imbalance, seed, format, wants_parts);
            }
            return told(outcome);
        },
        nb::arg("file"), nb::arg("parts"), nb::kw_only(), nb::arg("ranks"), nb::arg("imbalance"),
        nb::arg("seed"), nb::arg("format"), nb::arg("wants_parts"),
        nb::sig("def partition_file(file: str | os.PathLike[str], parts: int, *, ranks: int, "
                "imbalance: float, seed: int, format: str, wants_parts: bool) "
                "-> dict[str, object] | None"),
        "Divides the graph in a file. Under `corymb run` all processes call it, and those that are "
        "not rank 0 get None; otherwise `ranks` threads do it.");
}

} // namespace corymb::python
