// SPDX-License-Identifier: Apache-2.0
#include "c/calls.hpp"

#include "c/places.hpp"
#include "reduce/standard_reductions.hpp"
#include "team/member.hpp"

#include <corymb/detail/untyped.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corymb::c {

namespace {

using detail::Untyped;

/// The reduction of the library's own types and operators; null for others, and where an operator
/// is not defined.
const Reduction* known_reduction(const Arguments& arguments) {
    const auto type = standard(arguments.type);
    if (!type) {
        return nullptr;
    }
    const auto& all = reduce::standard_reductions();
    if (!is_reduction(arguments.op)) {
        return &all.of_moves(*type);
    }
    if (!is_standard(arguments.with)) {
        return nullptr;
    }
    const Reduction& found = all.at(*type, static_cast<Operator>(arguments.with));
    return found.combine == nullptr ? nullptr : &found;
}

Reduction standard_reduction(const Arguments& arguments) {
    const auto type = standard(arguments.type);
    if (!type) {
        refuse(std::string(to_string(arguments.op)) +
               ": a type of your own needs an operator of your own (corymb_op_create)");
    }
    return reduction_of(*type, static_cast<Operator>(arguments.with));
}

detail::OwnedOperation owned(Team& team, const Arguments& arguments, corymb_request& request) {
    const CollectiveOperation operation = operation_of(team, arguments, request.own_call);
    return detail::OwnedOperation(operation, request.own_call, arguments.staging);
}

} // namespace

Collective op_of(corymb_collective op) {
    const int number = op;
    if (number < 0 || number >= static_cast<int>(collective_count)) {
        refuse("there is no operation " + std::to_string(number));
    }
    return static_cast<Collective>(number);
}

void tell_plans(const std::vector<ChosenPlan>& plans, corymb_plan_visitor visit, void* context) {
    if (visit == nullptr) {
        refuse("visit is NULL");
    }
    for (const ChosenPlan& plan : plans) {
        visit(static_cast<corymb_collective>(plan.op), plan.root, plan.bytes,
              plan.algorithm.c_str(), context);
    }
}

CollectiveOperation operation_of(const Team& team, const Arguments& arguments,
                                 std::shared_ptr<OwnCall>& call) {
    CollectiveOperation operation;
    operation.op = arguments.op;
    if (operation.op == Collective::barrier) {
        return operation;
    }
    operation.root = arguments.root;
    if (const Reduction* known = known_reduction(arguments)) [[likely]] {
        operation.reduction = *known;
    } else {
        operation.reduction.element_bytes = size_of(arguments.type);
        if (is_reduction(arguments.op)) {
            if (auto own = own_operator(arguments.with)) {
                call = std::make_shared<OwnCall>(std::move(own), arguments.type,
                                                 Untyped::member(team).shared, team.rank());
                operation.reduction = call->reduction();
            } else {
                operation.reduction = standard_reduction(arguments);
            }
        }
    }
    set_places(operation, arguments, team.rank(), team.size());
    return operation;
}

void perform(Team& team, const Arguments& arguments) {
    std::shared_ptr<OwnCall> call;
    team.run(operation_of(team, arguments, call));
    if (call) {
        call->throw_if_broken();
    }
}

corymb_status run(corymb_team* team, const Arguments& arguments) noexcept {
    return guarded([&] { perform(live(team).team, arguments); });
}

void start(Team& team, const Arguments& arguments, corymb_request& request) {
    request.request = Untyped::start(team, owned(team, arguments, request));
}

void prepare(Team& team, const Arguments& arguments, corymb_request& request) {
    request.request = Untyped::prepare(team, owned(team, arguments, request));
}

} // namespace corymb::c
