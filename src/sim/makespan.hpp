// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/simulate.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace corymb {

/// The makespan of `simulate` on several nodes; infinite if it is more than `limit_ns`, which costs
/// only as many steps as go by until then. Throws as that does.
[[nodiscard]] double makespan_within(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                                     double limit_ns);

/// The makespan of a replay under noise, by its number.
using NoisyReplay = std::function<double(std::uint64_t replay)>;
/// Refers to all arguments but `placement` and `bytes`. Throws as `noisy_makespans`.
[[nodiscard]] NoisyReplay noisy_replay(const Plan& plan, const Machine& machine,
                                       std::span<const int> placement, std::uint64_t bytes,
                                       const Noise& noise);
[[nodiscard]] NoisyReplay noisy_replay(const Plan& plan, const Cluster& cluster,
                                       std::uint64_t bytes, const Noise& noise);

} // namespace corymb
