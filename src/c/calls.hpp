// SPDX-License-Identifier: Apache-2.0
// A collective as a C caller gives it, and its three forms.
#pragma once

#include "c/handles.hpp"

#include <corymb.h>
#include <corymb/detail/staging.hpp>
#include <corymb/plan.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace corymb::c {

/// Counts and displacements of parts of different lengths, in the buffer that has them; null for a
/// buffer of one part.
struct PartLists {
    const std::size_t* in_counts;
    const std::size_t* in_displacements;
    const std::size_t* out_counts;
    const std::size_t* out_displacements;
};

/// Parameters that an operation does not have keep their defaults.
struct Arguments {
    Collective op;
    const void* input;
    void* output;
    std::size_t count;
    corymb_type type;
    corymb_op with = CORYMB_NO_OP;
    int root = 0;
    std::optional<PartLists> parts{};
    /// Work of a request before and after the operation, or null.
    std::shared_ptr<detail::Staging> staging{};
};

/// Throws Errc::invalid_argument for a value that is no operation.
[[nodiscard]] Collective op_of(corymb_collective op);

/// Throws Errc::invalid_argument without a visitor.
void tell_plans(const std::vector<ChosenPlan>& plans, corymb_plan_visitor visit, void* context);

/// The operation of a call. `call`, made if the operator is the user's, must live as long as the
/// operation. Throws Errc::invalid_argument.
[[nodiscard]] CollectiveOperation operation_of(const Team& team, const Arguments& arguments,
                                               std::shared_ptr<OwnCall>& call);

/// Runs the operation. Throws its errors.
void perform(Team& team, const Arguments& arguments);
corymb_status run(corymb_team* team, const Arguments& arguments) noexcept;
/// Puts the operation into the request, started or to be started. Throws the operation's errors.
void start(Team& team, const Arguments& arguments, corymb_request& request);
void prepare(Team& team, const Arguments& arguments, corymb_request& request);

/// Puts the request of `begin(team, request)` into a new request handle; the last step of every
/// call that has a request.
template <class Begin>
corymb_status give_request(corymb_team* team, corymb_request** request, Begin&& begin) noexcept {
    return guarded([&] {
        require(request, "request");
        *request = nullptr;
        corymb_team& handle = live(team);
        const InHome call(*handle.home);
        NewRequest made(*handle.home);
        begin(handle.team, *made);
        *request = made.keep();
    });
}

} // namespace corymb::c
