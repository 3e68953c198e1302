// SPDX-License-Identifier: Apache-2.0
#include "multicast/options.hpp"

#include <corymb/error.hpp>
#include <corymb/multicast_model.hpp>
#include <corymb/usable_cpus.hpp>

#include <algorithm>
#include <string>

namespace corymb::multicast {

namespace {

constexpr int size_max = 1 << 20; // The counters' bias is far above.

void check(int size, const MulticastOptions& options) {
    const auto refuse = [](const std::string& text) {
        throw Error(Errc::invalid_argument, text);
    };
    if (size < 1 || size > size_max) {
        refuse("a multicast group has 1 to 1048576 ranks, not " + std::to_string(size));
    }
    if (options.calls < 1 || options.calls > 64) {
        refuse("MulticastOptions::calls must be 1 to 64, not " + std::to_string(options.calls));
    }
    if (options.fan_out < 1 || options.flat_up_to < 0) {
        refuse("MulticastOptions::fan_out must be at least 1 and flat_up_to at least 0, not " +
               std::to_string(options.fan_out) + " and " + std::to_string(options.flat_up_to));
    }
    if (options.deadline.count() < 0) {
        refuse("MulticastOptions::deadline is negative; give the longest wait, or 0 for 5 minutes");
    }
    const auto require_size = [&](const Plan& plan, const std::string& name) {
        if (plan.size() != size) {
            refuse(name + " is for " + std::to_string(plan.size()) + " ranks, the group has " +
                   std::to_string(size));
        }
    };
    if (options.topology == MulticastTopology::tree) {
        if (!options.plan) {
            refuse("MulticastTopology::tree needs MulticastOptions::plan, a planned broadcast");
        }
        require_size(*options.plan, "MulticastOptions::plan");
    }
    if (options.acknowledgement == MulticastAcknowledgement::gather && options.gather) {
        require_size(*options.gather, "MulticastOptions::gather");
    }
}

bool is_split(const MulticastOptions& options) noexcept {
    return options.topology == MulticastTopology::split ||
           options.topology == MulticastTopology::best;
}

/// The placement of a group. Without one in the options, its ranks count as on one PU after the
/// other.
std::vector<int> placement_of(int size, const MulticastOptions& options) {
    if (!options.placement.empty()) {
        if (static_cast<int>(options.placement.size()) != size) {
            throw Error(Errc::invalid_argument, "MulticastOptions::placement has " +
                                                    std::to_string(options.placement.size()) +
                                                    " PUs for " + std::to_string(size) + " ranks");
        }
        return options.placement;
    }
    std::vector<int> placement;
    for (int rank = 0; rank < size; ++rank) {
        placement.push_back(rank % std::max(1, options.machine->size()));
    }
    return placement;
}

std::string name_of(const MulticastOptions& options) {
    switch (options.topology) {
    case MulticastTopology::flat: return "flat";
    case MulticastTopology::binary: return "binary tree";
    case MulticastTopology::tree: return "tree of the plan '" + options.plan->algorithm + "'";
    case MulticastTopology::split:
    case MulticastTopology::best: break;
    }
    return "flat up to " + std::to_string(std::max(options.flat_up_to, options.fan_out)) +
           " members, more split by " + std::to_string(options.fan_out);
}

Plan planned_gather(int size, const MulticastOptions& options) {
    if (options.gather) {
        return *options.gather;
    }
    if (options.machine == nullptr) {
        throw Error(Errc::invalid_argument,
                    "MulticastAcknowledgement::gather needs MulticastOptions::gather, a planned "
                    "reduce, or MulticastOptions::machine to plan one");
    }
    return plan_gather(*options.machine, placement_of(size, options));
}

/// The topology and the acknowledgement that the model gives, where it is asked.
Resolved chosen(int size, const MulticastOptions& options) {
    Resolved found{options, name_of(options)};
    if (options.topology != MulticastTopology::best) {
        return found;
    }
    if (options.machine == nullptr) {
        if (size > usable_cpus().count()) {
            // Members take turns on the CPUs: a message through a member waits for its turn.
            found.options.topology = MulticastTopology::flat;
            found.reason = "flat (more ranks than CPUs, no machine model given)";
        } else {
            found.reason += " (no machine model given)";
        }
        return found;
    }
    const MulticastChoice choice =
        choose_multicast(*options.machine, placement_of(size, options), options.acknowledgement);
    found.options.flat_up_to = choice.flat_up_to;
    found.options.fan_out = choice.fan_out;
    found.options.acknowledgement = choice.acknowledgement;
    found.options.gather = choice.gather;
    found.reason = choice.reason;
    return found;
}

} // namespace

Resolved resolved(int size, const MulticastOptions& options) {
    check(size, options);
    Resolved found = chosen(size, options);
    if (found.options.acknowledgement == MulticastAcknowledgement::messages) {
        found.reason += "; acknowledged by messages";
    } else if (found.options.acknowledgement == MulticastAcknowledgement::gather) {
        found.options.gather = planned_gather(size, found.options);
        found.reason +=
            "; acknowledged up the tree of the plan '" + found.options.gather->algorithm + "'";
    }
    return found;
}

Preorder order_of(int size, const MulticastOptions& options) {
    check(size, options);
    switch (options.topology) {
    case MulticastTopology::binary: return binary_order(size);
    case MulticastTopology::tree: return plan_order(*options.plan);
    case MulticastTopology::flat:
    case MulticastTopology::split:
    case MulticastTopology::best: break;
    }
    // A given plan still tells which ranks are near each other.
    const bool follows_plan = is_split(options) && options.plan && options.plan->size() == size;
    return follows_plan ? plan_order(*options.plan) : flat_order(size);
}

Shape shape_of(const Preorder& order, const MulticastOptions& options) {
    Shape shape;
    shape.size = static_cast<std::uint32_t>(order.rank_at.size());
    shape.slots = static_cast<std::uint32_t>(options.calls);
    shape.skipping = options.skipping;
    if (is_split(options)) {
        shape.fan_out = static_cast<std::uint32_t>(options.fan_out);
        shape.flat_up_to =
            static_cast<std::uint32_t>(std::max(options.flat_up_to, options.fan_out));
    } else {
        shape.end = order.end;
    }
    shape.by_messages = options.acknowledgement == MulticastAcknowledgement::messages;
    if (options.acknowledgement == MulticastAcknowledgement::gather) {
        shape.gather = gather_tree(order, gather_parents(options.gather.value()));
    }
    return shape;
}

} // namespace corymb::multicast
