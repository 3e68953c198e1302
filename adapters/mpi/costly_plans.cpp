// SPDX-License-Identifier: Apache-2.0
#include "costly_plans.hpp"

#include "choice.hpp"
#include "group.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb::mpi {

namespace {

/// Plans of an alltoall among 64 to 1,024 ranks took 9 to 13 µs of a core for each pair.
constexpr std::uint64_t ns_of_pair = 10'000;
/// An allgather of shorter parts goes in fewer messages, and a plan takes an eighth of that.
constexpr std::uint64_t long_part_bytes = 1024;
constexpr std::uint64_t short_part_share = 8;
/// Fewer make no difference.
constexpr std::uint64_t calls_least = 8;
constexpr std::uint64_t calls_most = 1U << 20;

} // namespace

void postpone_costly_plans(Group& group) noexcept {
    if (group.early.mean_ns == 0) {
        return;
    }
    const auto size = static_cast<std::uint64_t>(group.size);
    const auto postpone = [&](Operation operation, std::uint64_t bytes, std::uint64_t plan_ns) {
        const std::uint64_t calls = std::min(plan_ns / group.early.mean_ns, calls_most);
        if (calls >= calls_least) {
            for (Choice* const choice : {&group.choice, &group.request_choice}) {
                choice->postpone(operation, bytes, static_cast<std::uint32_t>(calls));
            }
        }
    };
    const std::uint64_t plan_ns = ns_of_pair * size * size;
    for (const Operation operation :
         {Operation::alltoall, Operation::alltoallv, Operation::alltoallw,
          Operation::reduce_scatter, Operation::reduce_scatter_block}) {
        postpone(operation, 0, plan_ns);
    }
    for (const Operation operation : {Operation::allgather, Operation::allgatherv}) {
        postpone(operation, long_part_bytes, plan_ns);
        postpone(operation, 0, plan_ns / short_part_share);
    }
}

} // namespace corymb::mpi
