// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_json.hpp"

#include <corymb/cluster_planner.hpp>
#include <corymb/doubts.hpp>

#include <nlohmann/json.hpp>

namespace corymb {

std::string to_json(const ClusterChoice& choice, const Cluster& cluster) {
    nlohmann::ordered_json head = plan::head_json(choice.plan);
    head["unit"] = "ns";
    head["cluster"] = nlohmann::ordered_json::parse(to_json(cluster));
    head["bytes"] = choice.bytes;
    head["predicted"] = choice.predicted;
    auto& portfolio = head["portfolio"] = nlohmann::ordered_json::object();
    for (const auto& [name, predicted] : choice.portfolio) {
        portfolio[name] = predicted;
    }
    head["doubts"] = doubts(cluster);
    head["plan_sha256"] = plan_hash(choice.plan);
    return plan::document_json(head, choice.plan);
}

} // namespace corymb
