// SPDX-License-Identifier: Apache-2.0
#include "plan/acknowledge.hpp"

#include "plan/execution.hpp"
#include "plan/happens_before.hpp"
#include "plan/learning_sets.hpp"
#include "plan/matching.hpp"
#include "plan/reuse.hpp"
#include "plan/shape.hpp"
#include "plan/step_kind.hpp"

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

/// A notification to insert into the program of a rank.
struct Insertion {
    std::size_t place = 0; ///< Goes in before the step with this index.
    Step step{};
    StepNumber cause = no_step; ///< The read, or the step that lent what was read.
};
using Insertions = std::vector<std::vector<Insertion>>; // by rank

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// For each read, the place of a signal that its owner needs before its end alone: behind the
/// messages by which the reader next passes something on, so that nobody waits for the signal. A
/// rank that passes nothing on signals at once.
std::vector<std::size_t> places_of_signals(const Matching& matching) {
    std::vector<std::size_t> places(matching.step_count());
    for (Rank rank = 0; rank < matching.plan().size(); ++rank) {
        const StepNumber first = matching.first_step(rank);
        const StepNumber end = matching.end_step(rank);
        std::size_t behind_messages = 0; // 0: none follows
        bool is_last_message = true;     // before the rank waits
        for (StepNumber number = end; number-- > first;) {
            const StepKind kind = matching.step(number).kind;
            places[number] = behind_messages > 0 ? behind_messages : number - first + 1;
            if (has_source(kind)) {
                is_last_message = true;
            } else if ((kind == StepKind::send || kind == StepKind::publish) && is_last_message) {
                behind_messages = number - first + 1;
                is_last_message = false;
            }
        }
    }
    return places;
}

/// Inserts signals and waits for the loans of a pair of ranks.
class Inserter {
public:
    explicit Inserter(const Matching& matching)
        : matching_(matching), places_(places_of_signals(matching)),
          insertions_(at(matching.plan().size())) {}

    /// `pair`: in the order of the reads, since the k-th signal matches the k-th wait.
    void insert_pair(std::span<const OrderQuery> pair) {
        constexpr auto at_end = static_cast<std::size_t>(-1);
        // The wait for a later read stands behind that for an earlier one. So an earlier
        // overwriting for the later read pulls both forward, and one signal behind the later read
        // does for both.
        std::vector<std::size_t> wait_before(pair.size());
        std::size_t earliest = at_end;
        for (std::size_t k = pair.size(); k-- > 0;) {
            if (pair[k].before != no_step) {
                earliest = std::min<std::size_t>(earliest, matching_.index_of(pair[k].before));
            }
            wait_before[k] = earliest;
        }
        for (std::size_t k = 0; k < pair.size(); ++k) {
            if (k + 1 < pair.size() && wait_before[k + 1] == wait_before[k]) {
                continue;
            }
            const Rank owner = pair[k].rank;
            const StepNumber read = pair[k].source;
            if (wait_before[k] == at_end) {
                insert(read, places_[read], owner,
                       matching_.end_step(owner) - matching_.first_step(owner));
            } else {
                insert(read, matching_.index_of(read) + std::size_t{1}, owner, wait_before[k]);
            }
        }
    }

    void apply(Plan& plan) {
        for (std::size_t rank = 0; rank < insertions_.size(); ++rank) {
            insert_all(plan.steps[rank], insertions_[rank]);
        }
    }

private:
    void insert(StepNumber read, std::size_t signal_at, Rank owner, std::size_t wait_at) {
        const Rank reader = matching_.rank_of(read);
        insertions_[at(reader)].push_back(
            {signal_at, {.kind = StepKind::signal, .peer = owner}, read});
        insertions_[at(owner)].push_back(
            {wait_at, {.kind = StepKind::wait, .peer = reader}, matching_.partner(read)});
    }

    static void insert_all(std::vector<Step>& program, std::vector<Insertion>& list) {
        if (list.empty()) {
            return;
        }
        // Signals before waits where both go to one place: nobody waits for this rank meanwhile.
        std::ranges::stable_sort(list, std::ranges::less{}, [](const Insertion& one) {
            return std::tuple{one.place, one.step.kind, one.cause};
        });
        std::vector<Step> steps;
        steps.reserve(program.size() + list.size());
        std::size_t next = 0;
        for (std::size_t index = 0; index <= program.size(); ++index) {
            for (; next < list.size() && list[next].place == index; ++next) {
                steps.push_back(list[next].step);
            }
            if (index < program.size()) {
                steps.push_back(program[index]);
            }
        }
        program = std::move(steps);
    }

    const Matching& matching_;
    std::vector<std::size_t> places_; // by read
    Insertions insertions_;
};

std::vector<StepNumber> order_of_execution(const Matching& matching) {
    OrderOnly recorder;
    recorder.order.reserve(matching.step_count());
    Execution(matching, recorder).run();
    return std::move(recorder.order);
}

/// Keeps the steps of sets that are asked for, one set after the other.
std::vector<StepNumber> by_sets(std::vector<StepNumber> order, const Matching& matching,
                                const LearningSets& sets, const std::vector<bool>& is_asked) {
    const auto set_of = [&](StepNumber number) {
        return sets.of(matching.rank_of(number));
    };
    std::erase_if(order, [&](StepNumber number) { return !is_asked[at(set_of(number))]; });
    std::ranges::stable_sort(order, std::ranges::less{}, set_of);
    return order;
}

void keep_unordered(std::vector<OrderQuery>& queries, const Matching& matching,
                    const std::vector<StepNumber>& order) {
    std::vector<OrderQuery> unordered;
    for (const std::size_t query : unordered_queries(matching, order, queries)) {
        unordered.push_back(queries[query]);
    }
    queries = std::move(unordered);
}

bool has_step_via(const Plan& plan, Mechanism via) {
    return std::ranges::any_of(plan.steps, [via](const std::vector<Step>& steps) {
        return std::ranges::find(steps, via, &Step::via) != steps.end();
    });
}

/// The queries that the plan's own messages do not prove.
std::vector<OrderQuery> missing_queries(const Matching& matching) {
    const LearningSets sets(matching);
    const bool has_network = has_step_via(matching.plan(), Mechanism::network);
    std::vector<bool> is_asked(at(matching.plan().size()) + 1, false);
    std::vector<OrderQuery> missing; // to be proven by nothing
    std::vector<OrderQuery> near;    // perhaps by messages within a set
    std::vector<OrderQuery> far;     // perhaps by messages of all ranks
    for (const OrderQuery& query : reuse_queries(matching)) {
        if (matching.step(query.source).via == Mechanism::network) {
            continue; // The carrier says when it is done.
        }
        const Rank set = sets.of(query.rank);
        if (set == sets.of(matching.rank_of(query.source))) {
            is_asked[at(set)] = true;
            near.push_back(query);
        } else {
            (has_network && query.before != no_step ? far : missing).push_back(query);
        }
    }
    if (near.empty() && far.empty()) {
        return missing;
    }
    const std::vector<StepNumber> order = order_of_execution(matching);
    keep_unordered(near, matching, by_sets(order, matching, sets, is_asked));
    for (const OrderQuery& query : near) {
        (has_network && query.before != no_step ? far : missing).push_back(query);
    }
    keep_unordered(far, matching, order);
    missing.insert(missing.end(), far.begin(), far.end());
    return missing;
}

} // namespace

void acknowledge(Plan& plan) {
    if (!has_step_via(plan, Mechanism::pull) && !has_step_via(plan, Mechanism::push)) {
        return;
    }
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
    Inserter inserter(matching);
    for (std::size_t first = 0; first < missing.size();) {
        std::size_t end = first + 1;
        while (end < missing.size() && missing[end].rank == missing[first].rank &&
               matching.rank_of(missing[end].source) == matching.rank_of(missing[first].source)) {
            ++end;
        }
        inserter.insert_pair(std::span(missing).subspan(first, end - first));
        first = end;
    }
    inserter.apply(plan);
}

} // namespace corymb::plan
