// SPDX-License-Identifier: Apache-2.0
// Picks the task for an operation.
#pragma once

#include "tasks.hpp"
#include "workload.hpp"

#include <memory>
#include <utility>

namespace corymb::bench {

template <class Barrier, class... Arguments>
std::unique_ptr<Workload> make_barrier(const Case& what, Arguments&&... arguments) {
    using Group = typename BarrierTask<Barrier>::Group;
    return std::make_unique<Looped<Group>>(what, std::forward<Arguments>(arguments)...);
}

/// For operations with a payload.
template <class Shared, class... Arguments>
std::unique_ptr<Workload> make_payload(const Case& what, Arguments&&... arguments) {
    if (what.op == Operation::broadcast || what.op == Operation::broadcast_stream) {
        using Group = typename BroadcastTask<Shared>::Group;
        return std::make_unique<Looped<Group>>(what, std::forward<Arguments>(arguments)...);
    }
    using Group = typename ReductionTask<Shared>::Group;
    return std::make_unique<Looped<Group>>(what, std::forward<Arguments>(arguments)...);
}

} // namespace corymb::bench
