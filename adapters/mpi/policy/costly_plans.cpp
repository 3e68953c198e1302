// SPDX-License-Identifier: Apache-2.0
#include "policy/costly_plans.hpp"

#include <algorithm>

namespace corymb::mpi {

namespace {

/// Time to make a plan, for each pair of ranks, among 256 to 1,024 ranks on one core: an alltoall
/// took about 10 µs, a reduce_scatter 3 to 8, an allgather of 8 B, 1 KiB and 64 KiB 1, 3 and 9.
constexpr std::uint64_t ns_of_pair = 10'000;
constexpr std::uint64_t ns_of_pair_in_short_gathers = 2'500;
constexpr std::uint64_t short_part_bytes = 16'384;
/// A shorter time is not noticed.
constexpr std::uint64_t noticed_ns = 10'000'000;

/// The least of a size class.
std::uint64_t bytes_of_class(std::size_t size_class) noexcept {
    if (size_class + 1 == Choice::size_classes) {
        return any_bytes;
    }
    return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
}

} // namespace

std::uint64_t CostlyPlans::plan_ns(Operation operation, std::uint64_t bytes) const noexcept {
    const auto ranks = static_cast<std::uint64_t>(ranks_);
    // The bytes of an allgatherv cover all parts.
    const bool has_short_parts =
        (operation == Operation::allgather && bytes < short_part_bytes) ||
        (operation == Operation::allgatherv && bytes < short_part_bytes * ranks);
    return (has_short_parts ? ns_of_pair_in_short_gathers : ns_of_pair) * ranks * ranks;
}

void CostlyPlans::begin(Choice& choice, int ranks) noexcept {
    ranks_ = ranks;
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        const Operation operation = operations[i / Choice::size_classes];
        const std::uint64_t bytes = bytes_of_class(i % Choice::size_classes);
        if (plan_ns(operation, bytes) >= noticed_ns && choice.is_untried(operation, bytes)) {
            waits_[i].is_over_ = false;
            choice.postpone(operation, bytes, waits_[i].calls());
        }
    }
}

CostlyPlans::Wait* CostlyPlans::wait_of(Operation operation, std::uint64_t bytes) noexcept {
    if (ranks_ == 0) [[likely]] {
        return nullptr;
    }
    const auto found = std::ranges::find(operations, operation);
    if (found == operations.end()) {
        return nullptr;
    }
    Wait& wait =
        waits_[static_cast<std::size_t>(found - operations.begin()) * Choice::size_classes +
               Choice::size_class(bytes)];
    return wait.is_over_ ? nullptr : &wait;
}

void CostlyPlans::agree(Wait& wait, Operation operation, std::uint64_t bytes,
                        MPI_Comm comm) const noexcept {
    const std::uint64_t mine = ~wait.ns_; // The largest of these is the least time.
    std::uint64_t most = 0;
    const bool is_done =
        host().Allreduce(&mine, &most, 1, host().type_uint64, host().op_max, comm) == MPI_SUCCESS;
    wait.is_over_ = !is_done || ~most >= plan_ns(operation, bytes);
    wait.calls_ *= 2;
}

} // namespace corymb::mpi
