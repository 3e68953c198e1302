// SPDX-License-Identifier: Apache-2.0
// Blocking collectives that are made again and again.
#include "c/give_back.hpp"
#include "c/kept_call.hpp"
#include "team/member.hpp"

#include <corymb/detail/untyped.hpp>

#include <algorithm>
#include <memory>
#include <utility>

using namespace corymb;

namespace {

using Calls = c::AllSlots<corymb_call>;

/// Runs a call that needs more than new buffers.
corymb_status run_as_any(corymb_call& call, const void* input, void* output) noexcept {
    c::Arguments arguments = *call.arguments;
    arguments.input = input;
    arguments.output = output;
    return c::run(call.team, arguments);
}

} // namespace

corymb_status corymb_call_create(corymb_collective op, size_t count, corymb_type type,
                                 corymb_op with, int root, corymb_team* team,
                                 corymb_call** call) noexcept {
    return c::guarded([&] {
        c::require(call, "corymb_call_create: call");
        *call = nullptr;
        Team& own = c::live(team).team;
        const detail::InCall in_call(detail::Untyped::member(own));
        c::Arguments arguments{c::op_of(op), nullptr, nullptr, count, type, with, root};
        if (arguments.op == Collective::barrier) {
            c::refuse("a barrier has nothing that could be kept; call corymb_barrier");
        }
        if (!is_reduction(arguments.op)) {
            arguments.with = CORYMB_NO_OP;
        }
        arguments.root = is_rooted(arguments.op) ? root : 0;
        detail::check_rank(arguments.root, own.size(), "root");
        std::shared_ptr<c::OwnCall> own_call;
        const CollectiveOperation operation = c::operation_of(own, arguments, own_call);
        team->calls.reserve(team->calls.size() + 1);
        corymb_call& made = Calls::take();
        made.team = team;
        made.arguments = arguments;
        made.known.expect(operation);
        made.has_own_operator = own_call != nullptr;
        team->calls.push_back(&made);
        *call = &made;
    });
}

corymb_status corymb_call_run(corymb_call* call, const void* input, void* output) noexcept {
    if (c::is_live(call) && (call->has_own_operator || input == CORYMB_IN_PLACE ||
                             output == CORYMB_IN_PLACE)) [[unlikely]] {
        return run_as_any(*call, input, output);
    }
    return c::guarded([&] {
        corymb_call& own = c::live(call);
        detail::InCall(detail::Untyped::member(own.team->team))->run(own.known, input, output);
    });
}

void c::give_back(corymb_call*& call) {
    corymb_call& handle = c::live(call);
    const auto in_call = detail::Untyped::member(handle.team->team).user.enter_to_end();
    call = nullptr;
    std::erase(handle.team->calls, &handle);
    Calls::give_back(handle);
}
