// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_json.hpp"

#include <corymb/doubts.hpp>
#include <corymb/planner.hpp>

#include <nlohmann/json.hpp>

namespace corymb {

std::string to_json(const PlanChoice& choice, const Machine& machine) {
    const Plan& plan = choice.plan;
    nlohmann::ordered_json head;
    head["schema"] = "corymb-plan/1";
    head["op"] = to_string(plan.op);
    head["root"] = plan.root;
    head["unit"] = machine.unit == TimeUnit::cycles ? "cycles" : "ns";
    head["machine"] = machine.name;
    head["ranks"] = plan.steps.size();
    auto& placement = head["placement"] = nlohmann::ordered_json::array();
    for (const int pu : choice.placement) {
        placement.push_back(machine.topology.pus.at(static_cast<std::size_t>(pu)).cpu);
    }
    head["bytes"] = choice.bytes;
    head["predicted"] = choice.predicted;
    head["lower_bound"] = choice.lower_bound;
    head["bound_kind"] = choice.bound_kind;
    head["algorithm"] = plan.algorithm;
    auto& portfolio = head["portfolio"] = nlohmann::ordered_json::object();
    for (const auto& [name, predicted] : choice.portfolio) {
        portfolio[name] = predicted;
    }
    head["model_sha256"] = machine_sha256(machine);
    head["doubts"] = doubts(machine);
    head["plan_sha256"] = plan_hash(plan);
    head["seed"] = choice.seed;
    head["moves"] = choice.moves;
    head["block_count"] = plan.block_count;
    if (has_parts(plan.op)) {
        head["parts"] = plan.parts();
    }
    head["scratch_blocks"] = plan.scratch_blocks;
    head["bytes_max"] = plan.bytes_max;
    return plan::document_json(head, plan);
}

} // namespace corymb
