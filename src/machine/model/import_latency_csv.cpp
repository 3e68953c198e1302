// SPDX-License-Identifier: Apache-2.0
#include "machine/model/csv.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <cmath>

namespace corymb {

namespace {

using model::CsvRow;

/// In the one published measurement of both (20 cores, Ivy Bridge), near and far pairs alike.
constexpr double send_share = 0.28;

std::vector<Pu> pus_of_header(const CsvRow& header) {
    std::vector<Pu> pus;
    for (std::size_t i = 1; i < header.cells.size(); ++i) {
        const int cpu = model::csv_index(
            header, i,
            "; the first line is cpu,0,1,2,... and each other one the number of a CPU and its row");
        for (const Pu& before : pus) {
            if (before.cpu == cpu) {
                model::csv_fail(header, i, fmt::format("CPU {} stands twice", cpu));
            }
        }
        pus.push_back({.cpu = cpu});
    }
    if (pus.empty()) {
        model::csv_fail(header, 0, "must be followed by the numbers of the CPUs");
    }
    return pus;
}

void read_row(const CsvRow& row, std::size_t index, Machine& machine) {
    const std::vector<Pu>& pus = machine.topology.pus;
    if (row.cells.size() != pus.size() + 1) {
        model::csv_fail(row, row.cells.size() - 1,
                        fmt::format("the row has {} cells, but the first has {}", row.cells.size(),
                                    pus.size() + 1));
    }
    if (model::csv_index(row, 0) != pus[index].cpu) {
        model::csv_fail(row, 0,
                        fmt::format("must be CPU {}, in the order of the first row, is {}",
                                    pus[index].cpu, row.cells[0]));
    }
    for (std::size_t to = 0; to < pus.size(); ++to) {
        double latency = model::csv_cost(row, to + 1);
        if (to == index) {
            if (latency != 0 && !std::isnan(latency)) {
                model::csv_fail(row, to + 1,
                                fmt::format("CPU {} to itself must be 0, is {}", pus[to].cpu,
                                            row.cells[to + 1]));
            }
            latency = 0;
        } else if (latency == 0) {
            latency = Statistic::missing; // A failed measurement: nothing takes no time.
        }
        machine.send.push_back(static_cast<float>(send_share * latency));
        machine.receive.push_back(static_cast<float>(latency));
    }
}

} // namespace

Machine import_latency_csv(std::string_view text, const std::string& name, TimeUnit unit) {
    const std::vector<CsvRow> rows = model::csv_rows(text);
    if (rows.empty()) {
        throw Error(Errc::invalid_model, "line 1: the file is empty");
    }
    Machine machine;
    machine.name = name;
    machine.source = "imported CSV";
    machine.assumption = "receive = L, send = 0.28 L, where L is the latency of a pair";
    machine.unit = unit;
    machine.unit_ns = unit == TimeUnit::nanoseconds ? 1.0 : Statistic::missing;
    machine.topology.pus = pus_of_header(rows[0]);
    const std::size_t size = machine.topology.pus.size();
    if (rows.size() != size + 1) {
        model::csv_fail(rows.back(), 0,
                        fmt::format("the file has {} rows for {} CPUs", rows.size() - 1, size));
    }
    machine.send.reserve(size * size);
    machine.receive.reserve(size * size);
    for (std::size_t i = 0; i < size; ++i) {
        read_row(rows[i + 1], i, machine);
    }
    infer_classes(machine);
    machine.check();
    return machine;
}

} // namespace corymb
