// SPDX-License-Identifier: Apache-2.0
// Work as a call of libcorymb.
#include "data/work.hpp"

namespace corymb::mpi {

namespace {

const std::size_t* list(const SmallList<std::size_t, small_ranks>& numbers) noexcept {
    return numbers.empty() ? nullptr : numbers.data();
}

} // namespace

corymb_status Work::call(Form form, corymb_team* team, corymb_request** request) const noexcept {
    corymb_part_lists lists{};
    corymb_operation operation{sizeof operation, op,    root,    type,    with,   input,
                               output,           count, nullptr, nullptr, nullptr};
    if (parts) {
        lists = {list(parts->in.counts), list(parts->in.displacements), list(parts->out.counts),
                 list(parts->out.displacements)};
        operation.parts = &lists;
    }
    switch (form) {
    case Form::blocking: break;
    case Form::nonblocking: return library().begin(&operation, team, request);
    case Form::persistent: return library().prepare(&operation, team, request);
    }
    return library().run(&operation, team);
}

} // namespace corymb::mpi
