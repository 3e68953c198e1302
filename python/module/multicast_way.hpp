// SPDX-License-Identifier: Apache-2.0
// The way of a group's calls, from the arguments that groups and their simulation share.
#pragma once

#include "bindings.hpp"
#include "named.hpp"

#include <corymb/multicast.hpp>

#include <optional>
#include <string>
#include <utility>

namespace corymb::python {

inline constexpr Names<MulticastTopology, 5> multicast_topologies{
    std::pair{"best", MulticastTopology::best}, std::pair{"flat", MulticastTopology::flat},
    std::pair{"binary", MulticastTopology::binary}, std::pair{"tree", MulticastTopology::tree},
    std::pair{"split", MulticastTopology::split}};

inline constexpr Names<MulticastAcknowledgement, 4> multicast_acknowledgements{
    std::pair{"counters", MulticastAcknowledgement::counters},
    std::pair{"messages", MulticastAcknowledgement::messages},
    std::pair{"gather", MulticastAcknowledgement::gather},
    std::pair{"best", MulticastAcknowledgement::best}};

/// Throws Errc::unknown_name for a topology or acknowledgement that is none.
inline MulticastOptions multicast_way(const std::string& topology, const std::optional<Plan>& plan,
                                      int fan_out, int flat_up_to, bool skipping,
                                      const std::string& acknowledgement,
                                      const std::optional<Plan>& gather) {
    MulticastOptions options;
    options.acknowledgement = named(multicast_acknowledgements, acknowledgement, "acknowledgement");
    options.topology = named(multicast_topologies, topology, "topology");
    options.plan = plan;
    options.gather = gather;
    options.fan_out = fan_out;
    options.flat_up_to = flat_up_to;
    options.skipping = skipping;
    return options;
}

} // namespace corymb::python
