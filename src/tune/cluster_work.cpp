// SPDX-License-Identifier: Apache-2.0
#include "tune/cluster_work.hpp"

#include "plan/places.hpp"
#include "plan/step_kind.hpp"
#include "tune/tuning.hpp"

#include <corymb/simulate.hpp>

#include <algorithm>
#include <numeric>

namespace corymb {

double work_ns(const Plan& plan, std::span<const int> node_of_rank, std::uint64_t bytes,
               const Network& network) {
    std::size_t steps = 0;
    for (const auto& program : plan.steps) {
        steps += program.size();
    }
    const std::vector<std::uint64_t> copied = traffic(plan, bytes).copied;
    const auto all_copied = std::accumulate(copied.begin(), copied.end(), std::uint64_t{0});
    const std::uint64_t messages = node_traffic(plan, node_of_rank, bytes).messages;
    return static_cast<double>(messages) * network.start_up_ns +
           static_cast<double>(steps) * tune::step_work_ns +
           static_cast<double>(all_copied) * tune::copy_work_ns;
}

double busiest_link_ns(const Plan& plan, const Cluster& cluster, std::span<const int> node_of_rank,
                       std::uint64_t bytes) {
    const std::vector<int> network_of_node = cluster.network_of_node();
    std::vector<double> busy_ns(network_of_node.size(), 0);
    for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
        const auto node = static_cast<std::size_t>(node_of_rank[rank]);
        const auto number = static_cast<std::size_t>(network_of_node[node]);
        const Network& network = cluster.networks[number];
        for (const Step& step : plan.steps[rank]) {
            if (!plan::is_sending(step.kind) || !plan::has_peer(step.kind) ||
                node_of_rank[static_cast<std::size_t>(step.peer)] == node_of_rank[rank]) {
                continue;
            }
            const auto sent = static_cast<double>(plan::bytes_of(plan, step.from, bytes));
            busy_ns[node] += std::max(network.message_gap_ns, sent / network.node_gbs);
        }
    }
    return *std::ranges::max_element(busy_ns);
}

} // namespace corymb
