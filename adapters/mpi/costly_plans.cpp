// SPDX-License-Identifier: Apache-2.0
#include "costly_plans.hpp"

#include "choice.hpp"
#include "group.hpp"

#include <cstdint>

namespace corymb::mpi {

namespace {

/// Plans of an alltoall among 256 to 1,024 ranks took about 10 µs of a core for each pair of ranks,
/// those of an allgather 1 to 9, more for longer parts.
constexpr std::uint64_t ns_of_pair = 10'000;
constexpr std::uint64_t ns_of_pair_gathering = 2'500;
/// Nobody waits for less: as of 32 ranks.
constexpr std::uint64_t noticed_ns = 10'000'000;

} // namespace

void postpone_costly_plans(Group& group) {
    const auto size = static_cast<std::uint64_t>(group.size);
    const auto postpone = [&](Operation operation, std::uint64_t pair_ns) {
        if (const std::uint64_t plan_ns = pair_ns * size * size; plan_ns >= noticed_ns) {
            group.choice.postpone(operation, plan_ns);
        }
    };
    for (const Operation operation :
         {Operation::alltoall, Operation::alltoallv, Operation::alltoallw,
          Operation::reduce_scatter, Operation::reduce_scatter_block}) {
        postpone(operation, ns_of_pair);
    }
    for (const Operation operation : {Operation::allgather, Operation::allgatherv}) {
        postpone(operation, ns_of_pair_gathering);
    }
}

} // namespace corymb::mpi
