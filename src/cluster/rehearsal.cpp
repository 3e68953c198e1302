// SPDX-License-Identifier: Apache-2.0
#include "cluster/rehearsal.hpp"

#include "base/clock.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace corymb::cluster {

namespace {

/// Beside how many others the present plan is timed in each rehearsal of an operation.
constexpr std::array<std::size_t, 3> others_of_rehearsal{7, 4, 3};
static_assert(std::accumulate(others_of_rehearsal.begin(), others_of_rehearsal.end(),
                              std::size_t{0}) <= RehearsalPlan::others_in_all);
bool is_checkpoint(std::int64_t calls) noexcept {
    return calls >= tuning::first_calls && calls <= tuning::last_calls &&
           std::has_single_bit(static_cast<std::uint64_t>(calls)) &&
           std::countr_zero(static_cast<std::uint64_t>(calls)) % 2 == 1;
}

/// Whether results of the operation differ with the plan: sums of floating point.
bool depends_on_order(const detail::Call& call) noexcept {
    if (!is_reduction(call.key.op)) {
        return false;
    }
    const ElementType type = detail::type_of_identity(call.identity);
    const Operator with = detail::operator_of_identity(call.identity);
    const bool is_exact = type < ElementType::float16 || type == ElementType::boolean ||
                          (with != Operator::sum && with != Operator::prod);
    return !is_exact;
}

} // namespace

RehearsalPlan::RehearsalPlan(bool wanted) noexcept : is_wanted_(wanted), born_ns_(now_ns()) {}

bool RehearsalPlan::is_due(const detail::Call& call, int size) {
    // An operator of the user's may do more than combine.
    const bool is_own = is_reduction(call.key.op) && call.identity == 0;
    if (!is_wanted_ || size > tuning::ranks_most || is_own || call.key.keeps_parts ||
        call.is_nothing ||
        call.operands.bytes > tuning::bytes_most / static_cast<std::size_t>(size)) {
        return false;
    }
    std::int64_t& calls = calls_[call.key].calls;
    if (calls == concluded) {
        return false;
    }
    if (depends_on_order(call)) { // Such calls keep one plan from the first to the last.
        return std::exchange(calls, concluded) == 0;
    }
    return is_checkpoint(++calls);
}

void RehearsalPlan::count(const team::PlanKey& key, std::size_t others, bool is_whole) {
    Progress& progress = calls_[key];
    progress.timed += others;
    progress.rehearsals += is_whole ? 1 : 0;
    if (progress.rehearsals == others_of_rehearsal.size() || progress.timed >= others_in_all) {
        progress.calls = concluded;
    }
}

std::size_t RehearsalPlan::others_most(const team::PlanKey& key) {
    const Progress& progress = calls_[key];
    return std::min(others_of_rehearsal[progress.rehearsals], others_in_all - progress.timed);
}

bool RehearsalPlan::is_final(const team::PlanKey& key) {
    return calls_[key].rehearsals + 1 == others_of_rehearsal.size();
}

void RehearsalPlan::note(const team::PlanKey& key, std::int64_t time_ns) {
    Progress& progress = calls_[key];
    ++progress.calls_timed;
    progress.calls_ns += time_ns;
}

std::int64_t RehearsalPlan::mean_ns(const team::PlanKey& key) {
    const Progress& progress = calls_[key];
    return progress.calls_ns / std::max<std::int64_t>(progress.calls_timed, 1);
}

void RehearsalPlan::spend(const team::PlanKey& key, std::int64_t time_ns) {
    calls_[key].spent_ns += time_ns;
    spent_ns_ += time_ns;
}

std::int64_t RehearsalPlan::operations_most(const Progress& progress,
                                            std::int64_t operation_ns) const noexcept {
    const std::int64_t one_ns =
        progress.calls == concluded ? tuning::only_one_least_ns : tuning::one_least_ns;
    const std::int64_t in_any_case_ns = std::min(tuning::least_ns - spent_ns_, one_ns);
    const std::int64_t by_calls_ns =
        progress.calls_ns / tuning::one_part_of_calls - progress.spent_ns;
    const std::int64_t by_life_ns = (now_ns() - born_ns_) / tuning::one_part_of_life - spent_ns_;
    const std::int64_t budget_ns = std::max({in_any_case_ns, by_calls_ns, by_life_ns});
    return std::max<std::int64_t>(budget_ns, 0) / std::max<std::int64_t>(operation_ns, 1);
}

std::size_t RehearsalPlan::plans_most(const team::PlanKey& key, std::int64_t operation_ns) {
    // Half as many plans are timed twice as often, and so on, up to three rounds; once untimed.
    constexpr std::int64_t operations_of_plan = 1 + 3;
    return static_cast<std::size_t>(operations_most(calls_[key], operation_ns) /
                                    operations_of_plan);
}

int RehearsalPlan::first_samples(const team::PlanKey& key, std::size_t plans,
                                 std::int64_t operation_ns) {
    const auto rounds =
        static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(plans, 2)) - 1);
    const auto operations = static_cast<std::size_t>(operations_most(calls_[key], operation_ns));
    const std::size_t in_time = (operations - std::min(operations, plans)) / (plans * rounds);
    return static_cast<int>(std::clamp<std::size_t>(in_time, 1, times_of_round_most / plans));
}

StandIn::StandIn(const detail::Call& call)
    : input_(call.input_bytes), output_(call.output_bytes), call_(call) {
    call_.operands.input = call.operands.input != nullptr ? input_.data() : nullptr;
    call_.operands.output = call.operands.output != nullptr ? output_.data() : nullptr;
}

} // namespace corymb::cluster
