// SPDX-License-Identifier: Apache-2.0
// What a node of a cluster is inside: the ground of the team on it.
#include "cluster/insides.hpp"
#include "machine/model/nearness.hpp"
#include "runtime/ground.hpp"

namespace corymb::cluster {

std::optional<Machine> inside_of(const detail::TeamShared& local) {
    if (local.oversubscribed || local.fabric.size() == 1) {
        return std::nullopt;
    }
    const team::Ground ground = team::ground_of(local.options.cpus, local.surroundings());
    return ground.crowded ? std::nullopt
                          : std::optional(part_of(*ground.machine, ground.placement));
}

} // namespace corymb::cluster
