// SPDX-License-Identifier: Apache-2.0
#include "c/options.hpp"

#include "c/known_options.hpp"
#include "c/status.hpp"

#include <corymb/hooks.hpp>
#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace corymb::c {

namespace {

/// The user's plans as the team asks for them. Exceptions of the callback pass through: it is
/// called where an operation is made, not while others are under way.
PlanSource plan_source(corymb_plan_source plans, void* context) {
    return [plans, context](const PlanNeed& wanted) {
        const corymb_plan_need need = {sizeof need,
                                       static_cast<corymb_collective>(wanted.op),
                                       wanted.size,
                                       wanted.root,
                                       wanted.ordered ? 1 : 0,
                                       wanted.bytes,
                                       wanted.keeps_parts ? 1 : 0,
                                       wanted.reproducible ? 1 : 0,
                                       wanted.root_first ? 1 : 0,
                                       wanted.one_block ? 1 : 0,
                                       wanted.cell_slots};
        const std::unique_ptr<char, void (*)(void*)> text(plans(&need, context),
                                                          [](void* memory) { std::free(memory); });
        if (text == nullptr) {
            throw Error(
                Errc::invalid_plan,
                std::string("the plan source has no plan for ").append(to_string(wanted.op)) +
                    " of " + std::to_string(wanted.size) +
                    " ranks; give one, or leave `plans` NULL");
        }
        return plan_from_json(text.get());
    };
}

/// An exception counts as a yes: it cannot pass through a wait.
std::function<bool()> interrupt(int (*interrupted)(void*), void* context) {
    return [interrupted, context]() noexcept {
        try {
            return interrupted(context) != 0;
        } catch (...) {
            return true;
        }
    };
}

} // namespace

TeamOptions team_options(const corymb_options* given) {
    TeamOptions options;
    if (given == nullptr) {
        return options;
    }
    const corymb_options known = as_known(*given, "corymb_options_init");
    options.deadline = time_of(known.deadline_ns, "deadline_ns");
    options.wait = wait_policy(known.wait);
    options.pin = known.pin != 0;
    if (known.cpu_count != 0) {
        require(known.cpus, "cpu_count is not 0, but cpus");
        options.cpus.assign(known.cpus, known.cpus + known.cpu_count);
    } else if (known.cpus != nullptr) {
        refuse("cpus is given, but cpu_count is 0; it is the number of ranks");
    }
    if (known.plans != nullptr) {
        options.plans = plan_source(known.plans, known.plans_context);
    }
    if (known.interrupted != nullptr) {
        options.interrupted = interrupt(known.interrupted, known.interrupted_context);
    }
    options.interrupted_every = time_of(known.interrupted_every_ns, "interrupted_every_ns");
    options.reproducible = known.reproducible != 0;
    options.ranks_per_cpu = known.ranks_per_cpu;
    options.levels = known.levels != nullptr ? known.levels : "";
    options.objective = known.objective != nullptr ? known.objective : "";
    return options;
}

AttachOptions attach_options(const corymb_attach_options* given) {
    AttachOptions options;
    if (given == nullptr) {
        return options;
    }
    const corymb_attach_options known = as_known(*given, "corymb_attach_options_init");
    options.name = known.name != nullptr ? known.name : "";
    options.descriptor = known.descriptor;
    options.size = known.size;
    options.rank = known.rank;
    options.ranks_here = known.ranks_here;
    options.patience = time_of(known.patience_ns, "patience_ns");
    options.huge_pages = known.huge_pages != 0;
    options.at_once = known.at_once != 0;
    options.team = team_options(known.team);
    return options;
}

} // namespace corymb::c

void corymb_set_hooks_urgent(int urgent) noexcept {
    corymb::set_hooks_urgent(urgent != 0);
}
