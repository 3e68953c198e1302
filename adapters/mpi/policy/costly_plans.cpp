// SPDX-License-Identifier: Apache-2.0
#include "policy/costly_plans.hpp"

namespace corymb::mpi {

namespace {

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
        (operation == Operation::allgather && bytes < tuning::short_gather_bytes) ||
        (operation == Operation::allgatherv && bytes < tuning::short_gather_bytes * ranks);
    return (has_short_parts ? tuning::plan_ns_of_pair_in_short_gathers : tuning::plan_ns_of_pair) *
           ranks * ranks;
}

void CostlyPlans::begin(Choice& choice, int ranks) noexcept {
    ranks_ = ranks;
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        const auto operation = static_cast<Operation>(i / Choice::size_classes);
        const std::uint64_t bytes = bytes_of_class(i % Choice::size_classes);
        if (traits_of(operation).plans_all_pairs &&
            plan_ns(operation, bytes) >= tuning::plan_noticed_ns &&
            choice.is_untried(operation, bytes)) {
            waits_[i].is_over_ = false;
            choice.postpone(operation, bytes, waits_[i].calls());
        }
    }
}

CostlyPlans::Wait* CostlyPlans::wait_of(Operation operation, std::uint64_t bytes) noexcept {
    if (ranks_ == 0 || !traits_of(operation).plans_all_pairs) [[likely]] {
        return nullptr;
    }
    Wait& wait = waits_[place(operation, bytes)];
    return wait.is_over_ ? nullptr : &wait;
}

} // namespace corymb::mpi
