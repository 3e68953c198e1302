// SPDX-License-Identifier: Apache-2.0
// A quick look at a few pairs: is this still the machine that was measured?
#include "machine/discover/line_probe.hpp"
#include "machine/discover/statistics.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace discover;

constexpr int pairs_max = 4;
constexpr double session_limit_ns = 6e6; // Four of these and the calibration stay below 50 ms.

/// One pair of each of the first few classes.
std::vector<std::pair<int, int>> pairs_to_check(const Machine& machine) {
    std::vector<std::pair<int, int>> pairs;
    std::set<int> classes;
    for (int other = 1; other < machine.size() && pairs.size() < pairs_max; ++other) {
        if (classes.insert(machine.class_of(0, other)).second) {
            pairs.emplace_back(0, other);
        }
    }
    return pairs;
}

/// Why a check makes no sense, or empty.
std::string obstacle(const Machine& machine) {
    if (machine.size() < 2) {
        return "the model has one CPU and no costs to check";
    }
    if (machine.unit == TimeUnit::cycles && std::isnan(machine.unit_ns)) {
        return "the model is in cycles of an unknown length";
    }
    const std::vector<int> allowed = usable_cpus().allowed;
    for (const Pu& pu : machine.topology.pus) {
        if (!std::binary_search(allowed.begin(), allowed.end(), pu.cpu)) {
            return fmt::format("the model has CPU {}, which this process may not use", pu.cpu);
        }
    }
    return {};
}

/// Measured over modelled time of a message there and one back; NaN if the pair was never free.
double ratio_of(const Machine& machine, LineProbe& probe, int a, int b) {
    std::vector<double> times;
    for (const PairBatch& batch : probe.batches(a, b, 3)) {
        if (!batch.dropped) {
            times.push_back(batch.send[0] + batch.receive[0] + batch.send[1] + batch.receive[1]);
        }
    }
    const double modelled = machine.send_cost(a, b) + machine.receive_cost(a, b) +
                            machine.send_cost(b, a) + machine.receive_cost(b, a);
    return median(times) / (modelled * machine.unit_ns);
}

} // namespace

SpotCheck spot_check(const Machine& machine) {
    constexpr double factor_max = 2;
    SpotCheck result;
    result.text = obstacle(machine);
    if (!result.text.empty()) {
        result.fits = machine.size() < 2;
        return result;
    }
    Crew crew([] { return true; });
    std::vector<LineProbe::Place> places;
    for (const Pu& pu : machine.topology.pus) {
        places.push_back({pu.cpu, pu.numa});
    }
    LineProbe probe(crew, std::move(places), calibrate_ticks());
    probe.limit_session(session_limit_ns);
    std::vector<double> ratios;
    for (const auto& [a, b] : pairs_to_check(machine)) {
        const double ratio = ratio_of(machine, probe, a, b);
        if (ratio > 0) {
            ratios.push_back(ratio);
        }
    }
    if (ratios.empty()) {
        result.text = "the CPUs are too busy to check the model; it is used as it is";
        return result;
    }
    const auto distance = [](double ratio) {
        return std::abs(std::log(ratio));
    };
    result.worst_ratio = *std::max_element(ratios.begin(), ratios.end(), [&](double a, double b) {
        return distance(a) < distance(b);
    });
    // One pair may be disturbed; the usual one decides.
    const double usual = median(ratios);
    result.fits = usual < factor_max && usual > 1 / factor_max;
    result.text =
        fmt::format("a message takes {:.2f} times what the model says (worst of {} pairs: "
                    "{:.2f})",
                    usual, ratios.size(), result.worst_ratio);
    return result;
}

} // namespace corymb
