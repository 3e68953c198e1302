// SPDX-License-Identifier: Apache-2.0
// Collectives, all by one value.
#include "c/calls.hpp"
#include "c/known_options.hpp"

#include <optional>
#include <string>

using namespace corymb;

namespace {

/// Arguments that the operation does not have are left out.
c::Arguments arguments_of(const corymb_operation& operation) {
    const Collective op = c::op_of(operation.op);
    c::Arguments made{op,
                      op == Collective::broadcast ? nullptr : operation.input,
                      operation.output,
                      operation.count,
                      operation.type,
                      is_reduction(op) ? operation.with : CORYMB_NO_OP,
                      is_rooted(op) ? operation.root : 0};
    if (operation.parts != nullptr) {
        if (!has_parts(op)) {
            c::refuse(std::string(to_string(op)) +
                      " has no parts that could differ in length; leave `parts` NULL");
        }
        const corymb_part_lists& lists = *operation.parts;
        made.parts = c::PartLists{lists.input_counts, lists.input_displacements,
                                  lists.output_counts, lists.output_displacements};
    }
    return made;
}

c::Arguments arguments_of(const corymb_operation* operation) {
    c::require(operation, "operation");
    if (operation->struct_size == sizeof *operation) [[likely]] {
        return arguments_of(*operation);
    }
    return arguments_of(c::as_known(*operation, "corymb_operation_init"));
}

/// The operation as `made(arguments)` makes a request of it.
template <class Made>
corymb_status in_request(const corymb_operation* operation, corymb_request** request,
                         const Made& made) noexcept {
    std::optional<c::Arguments> known;
    const corymb_status status = c::guarded([&] {
        c::require(request, "request");
        *request = nullptr;
        known = arguments_of(operation);
    });
    return status != CORYMB_OK ? status : made(*known);
}

} // namespace

corymb_status corymb_barrier(corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.barrier(); });
}

corymb_status corymb_run(const corymb_operation* operation, corymb_team* team) noexcept {
    return c::guarded([&] { c::perform(team, arguments_of(operation)); });
}

corymb_status corymb_begin(const corymb_operation* operation, corymb_team* team,
                           corymb_request** request) noexcept {
    return in_request(operation, request,
                      [&](const c::Arguments& known) { return c::start(team, known, request); });
}

corymb_status corymb_prepare(const corymb_operation* operation, corymb_team* team,
                             corymb_request** request) noexcept {
    return in_request(operation, request,
                      [&](const c::Arguments& known) { return c::make(team, known, request); });
}
