// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/curves.hpp"

#include "machine/discover/star.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

constexpr int counts[] = {1, 2, 4, 8, 16};

void append(Curve& curve, int count, double value) {
    if (std::isfinite(value) && value >= 0) {
        curve.count.push_back(count);
        curve.value.push_back(value);
    }
}

void keep_if_any(std::vector<Curve>& curves, Curve curve) {
    if (!curve.count.empty()) {
        curves.push_back(std::move(curve));
    }
}

/// The send cost of one, and what the last of several messages was later; never less than busy.
double total(const BurstTimes& several, const BurstTimes& one, double send) {
    return std::max(several.busy, send + std::max(0.0, several.answered - one.answered));
}

} // namespace

void measure_curves(Machine& machine, GroupProbe& probe,
                    const std::function<bool(double)>& keep_going) {
    const double steps = static_cast<double>(machine.classes.size() * std::size(counts));
    double done = 0;
    for (int index = 0; index < static_cast<int>(machine.classes.size()); ++index) {
        const Star star = largest_star(machine, index);
        if (star.centre < 0) {
            continue;
        }
        const auto cpu_of = [&](int pu) {
            return machine.topology.pus[static_cast<std::size_t>(pu)].cpu;
        };
        std::vector<int> cpus;
        std::transform(star.partners.begin(), star.partners.end(), std::back_inserter(cpus),
                       cpu_of);
        const int centre = cpu_of(star.centre);
        const double send = machine.classes[static_cast<std::size_t>(index)].send.median;
        const BurstTimes one = probe.burst_to_one(centre, cpus.front(), 1);
        Curve send_batch{index, {}, {}};
        Curve fan_out{index, {}, {}};
        Curve receive_batch{index, {}, {}};
        Curve shared_line{index, {}, {}};
        for (const int count : counts) {
            if (!keep_going(done / steps)) {
                break;
            }
            done += 1;
            append(send_batch, count,
                   count == 1 ? send
                              : total(probe.burst_to_one(centre, cpus.front(), count), one, send));
            const auto k = static_cast<std::size_t>(count);
            const std::span<const int> some(cpus.data(), std::min(k, cpus.size()));
            append(receive_batch, count, probe.pending_receives(centre, some, count));
            if (k > cpus.size()) {
                continue;
            }
            const BurstTimes last = probe.burst_to_one(centre, cpus[k - 1], 1);
            append(fan_out, count,
                   count == 1 ? send : total(probe.burst_to_each(centre, some), last, send));
            append(shared_line, count, probe.shared_line(centre, some));
        }
        Curve exchange{index, {}, {}};
        append(exchange, 1, probe.meeting(centre, cpus.front()));
        keep_if_any(machine.exchange, std::move(exchange));
        keep_if_any(machine.send_batch, std::move(send_batch));
        keep_if_any(machine.fan_out, std::move(fan_out));
        keep_if_any(machine.receive_batch, std::move(receive_batch));
        keep_if_any(machine.shared_line, std::move(shared_line));
    }
}

} // namespace corymb::discover
