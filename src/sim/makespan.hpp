// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/simulate.hpp>

#include <cstdint>

namespace corymb {

/// The makespan of `simulate` on several nodes; infinite if it is more than `limit_ns`, which costs
/// only as many steps as go by until then. Throws as that does.
[[nodiscard]] double makespan_within(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                                     double limit_ns);

} // namespace corymb
