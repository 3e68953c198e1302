// SPDX-License-Identifier: Apache-2.0
#include "multicast/tuning.hpp"
#include "plan/generate/family_list.hpp"

#include <corymb/error.hpp>
#include <corymb/multicast_model.hpp>

#include <array>
#include <cmath>
#include <string>
#include <utility>
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

/// The ways of one acknowledgement on one machine.
class Ways {
public:
    Ways(const Machine& machine, std::span<const int> placement,
         MulticastAcknowledgement acknowledgement)
        : machine_(machine), placement_(placement),
          sizes_(group_sizes(static_cast<int>(placement.size()))) {
        options_.topology = MulticastTopology::split;
        options_.acknowledgement = acknowledgement;
        if (acknowledgement == MulticastAcknowledgement::gather) {
            options_.gather = plan_gather(machine, placement);
        }
    }

    /// The best one, but for its reason.
    [[nodiscard]] MulticastChoice choose() const {
        MulticastChoice choice{flat_limit(), fan_outs.front(), options_.acknowledgement,
                               options_.gather, ""};
        double best = 0;
        for (const int fan_out : fan_outs) {
            double sum = 0; // Sum of logarithms: each size counts alike.
            for (const int count : sizes_) {
                if (count > choice.flat_up_to) {
                    sum += std::log(latency_of(fan_out, choice.flat_up_to, count));
                }
            }
            if (fan_out == fan_outs.front() || sum < best) {
                best = sum;
                choice.fan_out = fan_out;
            }
        }
        return choice;
    }
    /// Latency of a choice over all sizes, as a sum of logarithms.
    [[nodiscard]] double latency_of(const MulticastChoice& choice) const {
        double sum = 0;
        for (const int count : sizes_) {
            sum += std::log(latency_of(choice.fan_out, choice.flat_up_to, count));
        }
        return sum;
    }

private:
    [[nodiscard]] double latency_of(int fan_out, int flat_up_to, int count) const {
        MulticastOptions options = options_;
        options.fan_out = fan_out;
        options.flat_up_to = flat_up_to;
        const auto size = static_cast<int>(placement_.size());
        return simulate_multicast(machine_, placement_, options, call_to(count, size)).latency;
    }
    /// The largest group for which no split is faster, and neither for smaller ones.
    [[nodiscard]] int flat_limit() const {
        int limit = 1;
        for (const int count : sizes_) {
            const double flat = latency_of(1, count, count);
            for (const int fan_out : fan_outs) {
                if (fan_out < count && latency_of(fan_out, 0, count) < flat) {
                    return limit;
                }
            }
            limit = count;
        }
        return limit;
    }

    const Machine& machine_;
    std::span<const int> placement_;
    MulticastOptions options_;
    std::vector<int> sizes_;
};

} // namespace

Plan plan_gather(const Machine& machine, std::span<const int> placement) {
    const CostView costs(machine, placement);
    const GenerateInput input{.costs = costs,
                              .machine = &machine,
                              .placement = placement,
                              .root = 0,
                              .moves = multicast::tuning::gather_moves};
    multicast::tuning::gather_moves.note();
    return generate::annealed.make(Collective::reduce, input);
}

MulticastChoice choose_multicast(const Machine& machine, std::span<const int> placement,
                                 MulticastAcknowledgement acknowledgement) {
    using enum MulticastAcknowledgement;
    const bool is_free = acknowledgement == best;
    const auto size = static_cast<int>(placement.size());
    MulticastChoice choice{1, fan_outs.front(), is_free ? counters : acknowledgement, {}, ""};
    if (size > 2) {
        const Ways ways(machine, placement, choice.acknowledgement);
        choice = ways.choose();
        double latency = ways.latency_of(choice);
        for (const MulticastAcknowledgement other : {messages, gather}) {
            if (!is_free) {
                break;
            }
            const Ways others(machine, placement, other);
            MulticastChoice found = others.choose();
            if (const double its = others.latency_of(found); its < latency) {
                latency = its;
                choice = std::move(found);
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
