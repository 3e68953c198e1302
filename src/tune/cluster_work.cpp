// SPDX-License-Identifier: Apache-2.0
#include "tune/cluster_work.hpp"

#include <corymb/simulate.hpp>

#include <numeric>

namespace corymb {

double work_ns(const Plan& plan, std::span<const int> node_of_rank, std::uint64_t bytes,
               const Network& network) {
    constexpr double step_ns = 100;
    constexpr double copy_bytes_per_ns = 10;
    std::size_t steps = 0;
    for (const auto& program : plan.steps) {
        steps += program.size();
    }
    const std::vector<std::uint64_t> copied = traffic(plan, bytes).copied;
    const auto all_copied = std::accumulate(copied.begin(), copied.end(), std::uint64_t{0});
    const std::uint64_t messages = node_traffic(plan, node_of_rank, bytes).messages;
    return static_cast<double>(messages) * network.start_up_ns +
           static_cast<double>(steps) * step_ns +
           static_cast<double>(all_copied) / copy_bytes_per_ns;
}

} // namespace corymb
