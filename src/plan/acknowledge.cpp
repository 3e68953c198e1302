// SPDX-License-Identifier: Apache-2.0
#include "plan/acknowledge.hpp"

#include "plan/execution.hpp"
#include "plan/happens_before.hpp"
#include "plan/matching.hpp"
#include "plan/reuse.hpp"
#include "plan/shape.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::plan {

namespace {

struct OrderOnly {
    std::vector<StepNumber> order;

    void perform(StepNumber number) { order.push_back(number); }
    void complete(StepNumber) noexcept {}
};

/// A notification to insert: before or after a step of a rank.
struct Insertion {
    std::size_t place; ///< Goes in before the step with this index.
    Step step;
};
using Insertions = std::vector<std::vector<Insertion>>; // by rank

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Signals and waits of each pair in the order of the reads, since the k-th matches the k-th.
void insert_pair(const Matching& matching, std::span<const OrderQuery> pair, Insertions& into) {
    std::size_t earliest = static_cast<std::size_t>(-1);
    std::vector<std::size_t> wait_before(pair.size());
    // The wait for a later read stands behind that for an earlier one, so an earlier overwriting
    // for the later read pulls both forward.
    for (std::size_t k = pair.size(); k-- > 0;) {
        const std::size_t place = pair[k].before == no_step ? matching.end_step(pair[k].rank) -
                                                                  matching.first_step(pair[k].rank)
                                                            : matching.index_of(pair[k].before);
        earliest = std::min(earliest, place);
        wait_before[k] = earliest;
    }
    for (std::size_t k = 0; k < pair.size(); ++k) {
        const Rank reader = matching.rank_of(pair[k].source);
        into[at(reader)].push_back({matching.index_of(pair[k].source) + std::size_t{1},
                                    {.kind = StepKind::signal, .peer = pair[k].rank}});
        into[at(pair[k].rank)].push_back(
            {wait_before[k], {.kind = StepKind::wait, .peer = reader}});
    }
}

void apply(Plan& plan, Insertions& insertions) {
    for (std::size_t rank = 0; rank < insertions.size(); ++rank) {
        auto& list = insertions[rank];
        // Signals before waits where both go to one place: nobody waits for this rank meanwhile.
        std::ranges::stable_sort(list, [](const Insertion& a, const Insertion& b) {
            return std::pair{a.place, a.step.kind} < std::pair{b.place, b.step.kind};
        });
        std::vector<Step> steps;
        std::size_t next = 0;
        for (std::size_t index = 0; index <= plan.steps[rank].size(); ++index) {
            for (; next < list.size() && list[next].place == index; ++next) {
                steps.push_back(list[next].step);
            }
            if (index < plan.steps[rank].size()) {
                steps.push_back(plan.steps[rank][index]);
            }
        }
        plan.steps[rank] = std::move(steps);
    }
}

/// The queries that the plan's own messages do not prove.
std::vector<OrderQuery> missing_queries(const Matching& matching) {
    OrderOnly recorder;
    Execution(matching, recorder).run();
    const std::vector<OrderQuery> queries = reuse_queries(matching);
    std::vector<OrderQuery> missing;
    for (const std::size_t query : unordered_queries(matching, recorder.order, queries)) {
        missing.push_back(queries[query]);
    }
    return missing;
}

} // namespace

void acknowledge(Plan& plan) {
    check_shape(plan);
    const Matching matching(plan);
    std::vector<OrderQuery> missing = missing_queries(matching);
    if (missing.empty()) {
        return;
    }
    const auto key = [&](const OrderQuery& query) {
        return std::tuple{query.rank, matching.rank_of(query.source), query.source};
    };
    std::ranges::sort(missing, std::ranges::less{}, key);
    Insertions insertions(plan.steps.size());
    for (std::size_t first = 0; first < missing.size();) {
        std::size_t end = first + 1;
        while (end < missing.size() && missing[end].rank == missing[first].rank &&
               matching.rank_of(missing[end].source) == matching.rank_of(missing[first].source)) {
            ++end;
        }
        insert_pair(matching, std::span(missing).subspan(first, end - first), insertions);
        first = end;
    }
    apply(plan, insertions);
}

} // namespace corymb::plan
