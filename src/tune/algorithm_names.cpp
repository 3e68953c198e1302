// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "tune/request.hpp"
#include "tune/variant.hpp"

#include <corymb/cluster.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace corymb {

namespace {

/// Whether the family has a plan for a short or a long payload on a machine of two packages.
bool applies_at_all(const Family& family, Collective op, int cores) {
    const Machine machine = NodeKind::of_shape({.packages = 2, .cores = cores}).machine;
    return std::ranges::any_of(std::initializer_list<std::uint64_t>{8, 65536}, [&](auto bytes) {
        const PlanRequest request = tune::completed(machine, {{.op = op, .bytes = bytes}});
        const CostView costs(machine, request.placement);
        return std::ranges::any_of(tune::variants(op, bytes), [&](const tune::Variant& variant) {
            return family.applies(op, tune::input_of(costs, machine, request, variant));
        });
    });
}

} // namespace

std::vector<std::string> algorithm_names(Collective op) {
    std::vector<std::string> names;
    for (const Family& family : families()) {
        if (applies_at_all(family, op, 2) || applies_at_all(family, op, 16)) {
            names.emplace_back(family.name);
        }
    }
    return names;
}

} // namespace corymb
