// SPDX-License-Identifier: Apache-2.0
// Operations, all by one value.
#include "c/operation.hpp"

#include "c/known_options.hpp"

#include <string>

using namespace corymb;

namespace {

/// Arguments that the operation does not have are left out.
c::Arguments arguments_of(const corymb_operation& operation, const Team& team) {
    if (c::is_packed(operation)) [[unlikely]] {
        return c::packed_arguments(operation, team);
    }
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

/// Calls `body` with the operation as this library knows it.
template <class Body>
void with_known(const corymb_operation* operation, const Body& body) {
    c::require(operation, "operation");
    if (operation->struct_size == sizeof *operation) [[likely]] {
        body(*operation);
    } else {
        body(c::as_known(*operation, "corymb_operation_init"));
    }
}

void run(const corymb_operation& operation, Team& team) {
    if (c::is_message(operation)) [[unlikely]] {
        c::run_message(operation, team);
        return;
    }
    const c::Arguments arguments = arguments_of(operation, team);
    if (arguments.staging) [[unlikely]] {
        arguments.staging->before();
    }
    c::perform(team, arguments);
    if (arguments.staging) [[unlikely]] {
        arguments.staging->after();
    }
}

} // namespace

corymb_status corymb_barrier(corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.barrier(); });
}

corymb_status corymb_run(const corymb_operation* operation, corymb_team* team) noexcept {
    return c::guarded([&] {
        with_known(operation,
                   [&](const corymb_operation& known) { run(known, c::live(team).team); });
    });
}

corymb_status corymb_begin(const corymb_operation* operation, corymb_team* team,
                           corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        with_known(operation, [&](const corymb_operation& known) {
            if (c::is_message(known)) {
                made.request = c::start_message(known, own);
                return;
            }
            c::start(own, arguments_of(known, own), made);
        });
    });
}

corymb_status corymb_prepare(const corymb_operation* operation, corymb_team* team,
                             corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        with_known(operation, [&](const corymb_operation& known) {
            if (c::is_message(known)) {
                made.request = c::prepare_message(known, own);
            } else {
                c::prepare(own, arguments_of(known, own), made);
            }
        });
    });
}
