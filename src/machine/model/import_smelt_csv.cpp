// SPDX-License-Identifier: Apache-2.0
// Smelt (Kaestle et al., OSDI 2016) publishes send and receive cost as one row an ordered pair.
#include "machine/model/csv.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace corymb {

namespace {

using model::CsvRow;
using PairCosts = std::map<std::pair<int, int>, double>;

PairCosts read_pairs(std::string_view text) {
    const std::vector<CsvRow> rows = model::csv_rows(text);
    if (rows.size() < 2) {
        throw Error(Errc::invalid_model, "line 1: the file has no rows");
    }
    PairCosts costs;
    for (std::size_t i = 1; i < rows.size(); ++i) { // After the names of the columns.
        const CsvRow& row = rows[i];
        if (row.cells.size() < 3) {
            model::csv_fail(row, row.cells.size() - 1,
                            "the row must have sender, receiver and mean cycles");
        }
        const std::pair<int, int> pair = {model::csv_index(row, 0), model::csv_index(row, 1)};
        if (pair.first == pair.second) {
            model::csv_fail(row, 1, fmt::format("CPU {} sends to itself", pair.second));
        }
        if (!costs.emplace(pair, model::csv_cost(row, 2)).second) {
            model::csv_fail(row, 0,
                            fmt::format("the pair {}, {} stands twice", pair.first, pair.second));
        }
    }
    return costs;
}

PairCosts read_file(std::string_view text, const char* which) {
    try {
        return read_pairs(text);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("{} file: {}", which, error.what()));
    }
}

std::vector<float> matrix(const PairCosts& costs, const std::vector<Pu>& pus) {
    std::vector<float> out;
    out.reserve(pus.size() * pus.size());
    for (const Pu& from : pus) {
        for (const Pu& to : pus) {
            const auto found = costs.find({from.cpu, to.cpu});
            const double value = found == costs.end() ? Statistic::missing : found->second;
            out.push_back(from.cpu == to.cpu ? 0 : static_cast<float>(value));
        }
    }
    return out;
}

} // namespace

Machine import_smelt_csv(std::string_view send, std::string_view receive, const std::string& name) {
    const PairCosts send_costs = read_file(send, "send");
    const PairCosts receive_costs = read_file(receive, "receive");
    std::set<int> cpus;
    for (const PairCosts* costs : {&send_costs, &receive_costs}) {
        for (const auto& [pair, cost] : *costs) {
            cpus.insert({pair.first, pair.second});
        }
    }
    // The matrix is square whatever pairs the rows name; a few of them must not make it huge.
    constexpr std::size_t pus_max = 4096;
    if (cpus.size() > pus_max) {
        throw Error(
            Errc::invalid_model,
            fmt::format("send file: names {} CPUs; at most {} are read", cpus.size(), pus_max));
    }
    Machine machine;
    machine.name = name;
    machine.source = "imported CSV";
    machine.assumption = "none: send and receive cost were measured separately, in batches of 8";
    machine.unit = TimeUnit::cycles;
    machine.unit_ns = Statistic::missing;
    for (const int cpu : cpus) {
        machine.topology.pus.push_back({.cpu = cpu});
    }
    machine.send = matrix(send_costs, machine.topology.pus);
    machine.receive = matrix(receive_costs, machine.topology.pus);
    infer_classes(machine);
    machine.check();
    return machine;
}

} // namespace corymb
