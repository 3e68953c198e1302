// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/transfers.hpp"

#include "machine/discover/star.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace corymb::discover {
namespace {

constexpr int always_bytes = 1 << 20;

} // namespace

Transfers::Transfers(const Machine& machine, std::span<const int> lengths,
                     std::int64_t available_bytes, Probe probe)
    : probe_(std::move(probe)) {
    const auto cpu_of = [&](int pu) {
        return machine.topology.pus[static_cast<std::size_t>(pu)].cpu;
    };
    for (int index = 0; index < static_cast<int>(machine.classes.size()); ++index) {
        const Star star = largest_star(machine, index);
        if (star.centre < 0) {
            continue;
        }
        for (const int bytes : lengths) {
            if (bytes <= always_bytes || 2 * std::int64_t{bytes} <= available_bytes / 8) {
                all_.push_back({index, cpu_of(star.centre), cpu_of(star.partners.front()), bytes});
            }
        }
    }
}

void Transfers::visit(const KeepGoing& keep_going) {
    for (Timed& one : all_) {
        if (!keep_going(one.bytes)) {
            continue; // A smaller one of the next class may still fit.
        }
        const double time = probe_(one.from, one.to, one.bytes);
        if (std::isfinite(time) && time >= 0) {
            one.best = std::min(one.best, time);
        }
    }
}

std::vector<Curve> Transfers::curves() const {
    std::vector<Curve> result;
    for (const Timed& one : all_) {
        if (!std::isfinite(one.best)) {
            continue;
        }
        if (result.empty() || result.back().pair_class != one.pair_class) {
            result.push_back({one.pair_class, {}, {}});
        }
        result.back().count.push_back(one.bytes);
        result.back().value.push_back(one.best);
    }
    return result;
}

} // namespace corymb::discover
