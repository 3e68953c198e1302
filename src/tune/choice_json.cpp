// SPDX-License-Identifier: Apache-2.0
#include "machine/model/shared_names.hpp"
#include "plan/plan_json.hpp"

#include <corymb/doubts.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <nlohmann/json.hpp>

namespace corymb {

namespace {

nlohmann::ordered_json json_of(const NoisyTimes& times) {
    return {{"algorithm", times.algorithm},
            {"quiet", times.quiet},
            {"median", times.median},
            {"p99", times.p99}};
}

nlohmann::ordered_json json_of(const CounterBarrier& barrier) {
    return {{"arrival", barrier.arrival},
            {"release", barrier.release},
            {"total", barrier.total()},
            {"origin", name_of(barrier.origin, data_origin_names)}};
}

/// The plan's own fields and those of every choice.
nlohmann::ordered_json head_of(const PlanChoice& choice, const char* unit) {
    nlohmann::ordered_json head = plan::head_json(choice.plan);
    head["unit"] = unit;
    head["bytes"] = choice.request.example_bytes;
    head["predicted"] = choice.predicted;
    auto& portfolio = head["portfolio"] = nlohmann::ordered_json::object();
    for (const auto& [name, predicted] : choice.portfolio) {
        portfolio[name] = predicted;
    }
    if (choice.noise_cost) {
        head["objective"] = to_string(choice.request.objective);
        head["noise"] = {{"text", choice.request.noise.text()},
                         {"lost_share", choice.request.noise.lost_share()},
                         {"seed", choice.request.noise.seed},
                         {"replays", choice.request.replays},
                         {"chosen", json_of(choice.noise_cost->chosen)},
                         {"fastest", json_of(choice.noise_cost->fastest)}};
    }
    head["plan_sha256"] = plan_hash(choice.plan);
    return head;
}

} // namespace

std::string to_json(const PlanChoice& choice, const Machine& machine) {
    nlohmann::ordered_json head =
        head_of(choice, machine.unit == TimeUnit::cycles ? "cycles" : "ns");
    head["machine"] = machine.name;
    auto& placement = head["placement"] = nlohmann::ordered_json::array();
    for (const int pu : choice.request.placement) {
        placement.push_back(machine.topology.pus.at(static_cast<std::size_t>(pu)).cpu);
    }
    if (choice.plan.op == Collective::barrier && choice.request.exhaustive) {
        head["central_counter"] = json_of(counter_barrier(machine, choice.request.placement));
    }
    const LowerBound bound = lower_bound(choice, machine);
    head["lower_bound"] = bound.value;
    head["bound_kind"] = bound.kind;
    head["model_sha256"] = machine_sha256(machine);
    head["doubts"] = doubts(machine);
    head["seed"] = choice.request.seed;
    head["moves"] = choice.request.moves;
    return plan::document_json(head, choice.plan);
}

std::string to_json(const PlanChoice& choice, const Cluster& cluster) {
    nlohmann::ordered_json head = head_of(choice, "ns");
    head["cluster"] = nlohmann::ordered_json::parse(to_json(cluster));
    head["doubts"] = doubts(cluster);
    return plan::document_json(head, choice.plan);
}

} // namespace corymb
