// SPDX-License-Identifier: Apache-2.0
#include <corymb/error.hpp>
#include <corymb/multicast_model.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace corymb {

namespace {

constexpr std::array fan_outs{2, 3, 4, 6, 8, 12, 16};

/// `count` of the ranks 1 to size - 1, spread over them.
MulticastCall call_to(int count, int size) {
    MulticastCall call;
    for (std::int64_t i = 0; i < count; ++i) {
        call.members.push_back(static_cast<Rank>(1 + i * (size - 1) / count));
    }
    return call;
}

/// About two an octave, up to everybody but the initiator.
std::vector<int> group_sizes(int size) {
    std::vector<int> sizes;
    for (int count = 2; count < size - 1; count += (count + 1) / 2) {
        sizes.push_back(count);
    }
    sizes.push_back(size - 1);
    return sizes;
}

double latency_of(const Machine& machine, std::span<const int> placement, int fan_out,
                  int flat_up_to, int count) {
    MulticastOptions options;
    options.topology = MulticastTopology::split;
    options.fan_out = fan_out;
    options.flat_up_to = flat_up_to;
    const auto size = static_cast<int>(placement.size());
    return simulate_multicast(machine, placement, options, call_to(count, size)).latency;
}

/// The largest group for which no split is faster, and neither for smaller ones.
int flat_limit(const Machine& machine, std::span<const int> placement,
               const std::vector<int>& sizes) {
    int limit = 1;
    for (const int count : sizes) {
        const double flat = latency_of(machine, placement, 1, count, count);
        for (const int fan_out : fan_outs) {
            if (fan_out < count && latency_of(machine, placement, fan_out, 0, count) < flat) {
                return limit;
            }
        }
        limit = count;
    }
    return limit;
}

} // namespace

MulticastChoice choose_multicast(const Machine& machine, std::span<const int> placement) {
    const auto size = static_cast<int>(placement.size());
    MulticastChoice choice{1, fan_outs.front(), ""};
    if (size > 2) {
        const std::vector<int> sizes = group_sizes(size);
        choice.flat_up_to = flat_limit(machine, placement, sizes);
        double best = 0;
        for (const int fan_out : fan_outs) {
            double sum = 0; // Of logarithms: each size counts alike.
            for (const int count : sizes) {
                if (count > choice.flat_up_to) {
                    sum +=
                        std::log(latency_of(machine, placement, fan_out, choice.flat_up_to, count));
                }
            }
            if (fan_out == fan_outs.front() || sum < best) {
                best = sum;
                choice.fan_out = fan_out;
            }
        }
    }
    choice.reason = choice.flat_up_to >= size - 1
                        ? "flat for every group"
                        : "flat up to " + std::to_string(choice.flat_up_to) +
                              " members, more split by " + std::to_string(choice.fan_out);
    choice.reason +=
        ", simulated on " + (machine.name.empty() ? "a model without a name" : machine.name);
    return choice;
}

} // namespace corymb
