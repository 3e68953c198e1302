// SPDX-License-Identifier: Apache-2.0
#include "c/calls.hpp"

#include "team/member.hpp"

#include <corymb/detail/untyped.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace corymb::c {

namespace {

using detail::Untyped;
using detail::Wish;

/// Part `rank` of a buffer that has one for each rank. The result is checked with the buffer, so
/// what overflows is refused, too.
std::uintptr_t part_of(const void* buffer, Rank rank, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::size_t>(rank) * bytes;
}

[[noreturn]] void refuse_in_place(const Wish& wish, const char* what) {
    const bool elsewhere = is_rooted(wish.op) && wish.op != Collective::broadcast;
    refuse(std::string(to_string(wish.op)) + ": CORYMB_IN_PLACE cannot stand for the " + what +
           (elsewhere ? " here, or not on this rank" : " of this operation") +
           "; see CORYMB_IN_PLACE in corymb.h");
}

void resolve_input(Wish& wish, Rank rank) {
    const bool is_root = rank == wish.root;
    const std::size_t bytes = wish.count * wish.reduction.element_bytes;
    switch (wish.op) {
    case Collective::allreduce:
    case Collective::scan:
    case Collective::exscan: wish.input = wish.output; return;
    case Collective::allgather:
        wish.input = reinterpret_cast<const void*>(part_of(wish.output, rank, bytes));
        return;
    case Collective::reduce:
        if (is_root) {
            wish.input = wish.output;
            return;
        }
        break;
    case Collective::gather:
        if (is_root) {
            wish.input = reinterpret_cast<const void*>(part_of(wish.output, rank, bytes));
            return;
        }
        break;
    default: break;
    }
    refuse_in_place(wish, "input");
}

void resolve_output(Wish& wish, Rank rank) {
    const std::size_t bytes = wish.count * wish.reduction.element_bytes;
    const bool here = wish.op == Collective::reduce_scatter ||
                      (wish.op == Collective::scatter && rank == wish.root);
    if (!here) {
        refuse_in_place(wish, "output");
    }
    wish.output = reinterpret_cast<void*>(part_of(wish.input, rank, bytes));
}

Reduction standard_reduction(const Arguments& arguments) {
    const auto type = standard(arguments.type);
    if (!type) {
        refuse(std::string(to_string(arguments.op)) +
               ": a type of your own needs an operator of your own (corymb_op_create)");
    }
    return reduction_of(*type, static_cast<Operator>(arguments.with));
}

/// `call`, made where the operator is one of the user's, must live as long as the operation.
Wish wish_of(const Team& team, const Arguments& arguments, std::shared_ptr<OwnCall>& call) {
    Wish wish{arguments.op, arguments.root, arguments.input, arguments.output, arguments.count, {}};
    wish.reduction.element_bytes = size_of(arguments.type);
    if (const auto type = standard(arguments.type)) {
        wish.reduction.identity = detail::move_identity(*type);
    }
    if (is_reduction(arguments.op)) {
        if (auto own = own_operator(arguments.with)) {
            call = std::make_shared<OwnCall>(std::move(own), arguments.type,
                                             Untyped::member(team).shared, team.rank());
            wish.reduction = call->reduction();
        } else {
            wish.reduction = standard_reduction(arguments);
        }
    }
    const bool input_in_place = wish.input == CORYMB_IN_PLACE;
    const bool output_in_place = wish.output == CORYMB_IN_PLACE;
    if (input_in_place && output_in_place) {
        refuse(std::string(to_string(wish.op)) + ": input and output are both CORYMB_IN_PLACE");
    }
    if (input_in_place) {
        resolve_input(wish, team.rank());
    } else if (output_in_place) {
        resolve_output(wish, team.rank());
    }
    return wish;
}

} // namespace

corymb_status run(corymb_team* team, const Arguments& arguments) noexcept {
    return guarded([&] {
        Team& own = live(team).team;
        std::shared_ptr<OwnCall> call;
        Untyped::run(own, wish_of(own, arguments, call));
        if (call) {
            call->throw_if_broken();
        }
    });
}

corymb_status start(corymb_team* team, const Arguments& arguments,
                    corymb_request** request) noexcept {
    return give_request(team, request, [&](Team& own, corymb_request& made) {
        const Wish wish = wish_of(own, arguments, made.own_call);
        made.request = Untyped::start(own, wish, made.own_call);
    });
}

corymb_status make(corymb_team* team, const Arguments& arguments,
                   corymb_request** request) noexcept {
    return give_request(team, request, [&](Team& own, corymb_request& made) {
        const Wish wish = wish_of(own, arguments, made.own_call);
        made.request = Untyped::make(own, wish, made.own_call);
    });
}

} // namespace corymb::c
