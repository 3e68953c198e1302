// SPDX-License-Identifier: Apache-2.0
// What the stress tests share: how long, and plans of every algorithm.
#pragma once

#include "../unit/limits.hpp"
#include "../unit/rounds.hpp"

#include <corymb/machine.hpp>
#include <corymb/planner.hpp>
#include <corymb/team.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace corymb::stress {

/// `count` times $CORYMB_STRESS; under AddressSanitizer a quarter of that.
inline std::uint64_t rounds(std::uint64_t count) {
    const char* factor = std::getenv("CORYMB_STRESS");
    const std::uint64_t times = factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10);
    return static_cast<std::uint64_t>(
        corymb::rounds(static_cast<int>(count * (times == 0 ? 1 : times))));
}

/// `size` processing units, two a core and four a package, so that hierarchical plans differ.
inline Machine sample_machine(int size) {
    Machine machine;
    machine.name = "stress";
    machine.source = "assumed";
    machine.topology.source = "synthetic";
    for (int pu = 0; pu < size; ++pu) {
        machine.topology.pus.push_back(Pu{.cpu = pu, .core = pu / 2, .package = pu / 4});
        machine.group.push_back(pu / 4);
    }
    const int groups = (size + 3) / 4;
    for (int from = 0; from < groups; ++from) {
        for (int to = 0; to < groups; ++to) {
            machine.group_class.push_back(from == to ? 0 : 1);
        }
    }
    PairClass near;
    near.name = "near";
    near.send = {20, 20, 20, 1};
    near.receive = {60, 60, 60, 1};
    PairClass far;
    far.name = "far";
    far.send = {60, 60, 60, 1};
    far.receive = {200, 200, 200, 1};
    machine.classes = {near, far};
    return machine;
}

/// Plans of a different algorithm for each operation, root and size class, decided by `seed`.
inline PlanSource mixed_plans(std::uint64_t seed) {
    return [seed](const PlanNeed& need) {
        const Machine machine = sample_machine(need.size);
        const auto names = algorithm_names(need.op);
        PlanRequest request;
        request.op = need.op;
        request.root = is_rooted(need.op) || need.root_first ? need.root : -1;
        request.bytes = need.bytes;
        request.ordered = need.ordered;
        request.keeps_parts = need.keeps_parts;
        request.moves = 200;
        std::uint64_t mixed = seed + static_cast<std::uint64_t>(need.root) * 31 + need.bytes * 7 +
                              static_cast<std::uint64_t>(need.op) * 1009 +
                              static_cast<std::uint64_t>(need.size) * 17;
        mixed = (mixed ^ (mixed >> 7)) * 0x9e3779b97f4a7c15U;
        // Not every algorithm does every need.size or order; then the next one.
        for (std::size_t attempt = 0; attempt < names.size(); ++attempt) {
            request.algorithm = names[(mixed >> 33U) % names.size()];
            mixed += std::uint64_t{1} << 33U;
            try {
                return make_plan(machine, request).plan;
            } catch (const Error&) {
                continue;
            }
        }
        request.algorithm = "best";
        return make_plan(machine, request).plan;
    };
}

inline TeamOptions options(PlanSource plans = {},
                           std::chrono::nanoseconds deadline = test_limit()) {
    TeamOptions made;
    made.deadline = deadline;
    made.plans = std::move(plans);
    return made;
}

} // namespace corymb::stress
