// SPDX-License-Identifier: Apache-2.0
#include "plan/happens_before.hpp"

#include "plan/step_kind.hpp"
#include "plan/vector_clocks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

namespace corymb::plan {

namespace {

/// A bit for each of up to 64 events: whether this rank, or this message, comes after the event.
using Knowledge = std::uint64_t;

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Spreads knowledge along the steps of `order`.
class Spread {
public:
    explicit Spread(const Matching& matching)
        : matching_(matching), of_rank_(at(matching.plan().size()), 0),
          of_message_(matching.step_count(), 0) {}

    void clear() { std::fill(of_rank_.begin(), of_rank_.end(), Knowledge{0}); }
    [[nodiscard]] Knowledge& of_rank(Rank rank) { return of_rank_[at(rank)]; }

    /// The step takes in what its message carries, then passes on what its rank knows.
    void perform(StepNumber number) {
        Knowledge& known = of_rank(matching_.rank_of(number));
        const StepNumber partner = matching_.partner(number);
        if (has_source(matching_.step(number).kind)) {
            known |= of_message_[partner];
        } else {
            of_message_[number] = known;
        }
    }

private:
    const Matching& matching_;
    std::vector<Knowledge> of_rank_;
    std::vector<Knowledge> of_message_; // by sending step
};

struct Located {
    std::size_t query;
    Rank rank;        // of the source
    std::size_t from; // position of the source in the order
    std::size_t to;   // position of the target, or the end
};

/// Queries that are answered together: about steps of `VectorClocks::width` ranks at most.
struct Group {
    std::span<Located> queries;
    std::vector<Rank> ranks;
    std::size_t from = 0; // the stretch of the order
    std::size_t to = 0;
};

/// Neighbours in the list go together.
std::vector<Group> groups_of(std::span<Located> located, int ranks) {
    std::vector<Group> groups;
    std::vector<std::size_t> last_group(at(ranks), 0); // by rank, from 1
    std::size_t begin = 0;
    for (std::size_t i = 0; i < located.size(); ++i) {
        const Located& query = located[i];
        std::size_t& mine = last_group[at(query.rank)];
        if (groups.empty() ||
            (mine != groups.size() && groups.back().ranks.size() == VectorClocks::width)) {
            groups.push_back({{}, {}, query.from, query.to});
            begin = i;
        }
        Group& group = groups.back();
        if (mine != groups.size()) {
            group.ranks.push_back(query.rank);
            mine = groups.size();
        }
        group.queries = located.subspan(begin, i + 1 - begin);
        group.from = std::min(group.from, query.from);
        group.to = std::max(group.to, query.to);
    }
    return groups;
}

/// Steps that are passed for all groups.
std::size_t length_of(const std::vector<Group>& groups) {
    return std::accumulate(
        groups.begin(), groups.end(), std::size_t{0},
        [](std::size_t sum, const Group& group) { return sum + group.to - group.from; });
}

/// Answers queries by passes over stretches of the order.
class Answers {
public:
    Answers(const Matching& matching, std::span<const StepNumber> order,
            std::span<const std::size_t> position, std::span<const OrderQuery> queries)
        : matching_(matching), order_(order), position_(position), queries_(queries),
          clocks_(matching) {}

    void answer(Group& group) {
        std::ranges::stable_sort(group.queries, std::ranges::less{}, &Located::to);
        clocks_.begin(group.ranks);
        auto next = group.queries.begin();
        for (std::size_t place = group.from; place < order_.size() && next != group.queries.end();
             ++place) {
            perform(order_[place], group.from, place);
            next = answer_until(place, next, group.queries.end());
        }
        answer_until(order_.size(), next, group.queries.end());
    }
    /// The queries that do not hold.
    [[nodiscard]] std::vector<std::size_t> failed() && { return std::move(failed_); }

private:
    using Place = std::span<Located>::iterator;

    /// A message counts if it was sent between `from` and this place of the order.
    void perform(StepNumber number, std::size_t from, std::size_t place) {
        const StepNumber partner = matching_.partner(number);
        const StepKind kind = matching_.step(number).kind;
        if (kind == StepKind::publish) {
            clocks_.send(number, matching_.readers(number).size());
        } else if (partner != no_step && !has_source(kind)) {
            clocks_.send(number, 1);
        } else if (partner != no_step && position_[partner] >= from && position_[partner] < place) {
            clocks_.take(matching_.rank_of(number), partner);
        }
    }

    Place answer_until(std::size_t place, Place next, Place end) {
        for (; next != end && next->to <= place; ++next) {
            const OrderQuery& query = queries_[next->query];
            if (!clocks_.knows(query.rank, query.source)) {
                failed_.push_back(next->query);
            }
        }
        return next;
    }

    const Matching& matching_;
    std::span<const StepNumber> order_;
    std::span<const std::size_t> position_;
    std::span<const OrderQuery> queries_;
    VectorClocks clocks_;
    std::vector<std::size_t> failed_;
};

} // namespace

std::vector<std::size_t> unordered_queries(const Matching& matching,
                                           std::span<const StepNumber> order,
                                           std::span<const OrderQuery> queries) {
    constexpr auto left_out = static_cast<std::size_t>(-1);
    std::vector<std::size_t> position(matching.step_count(), left_out);
    for (std::size_t place = 0; place < order.size(); ++place) {
        position[order[place]] = place;
    }
    std::vector<std::size_t> failed;
    std::vector<Located> located;
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const auto& [source, rank, before] = queries[q];
        if (matching.rank_of(source) != rank) {
            // A rank learns nothing after its last step.
            const StepNumber last = before == no_step ? matching.end_step(rank) - 1 : before;
            located.push_back({q, matching.rank_of(source), position[source],
                               std::max(position[source], position[last])});
        } else if (before != no_step && before <= source) { // Ordered by the rank's own program.
            failed.push_back(q);
        }
    }
    // Many queries of few ranks are grouped by ranks, few queries of many ranks by places.
    std::vector<Located> by_place = located;
    std::ranges::stable_sort(by_place, std::ranges::less{}, &Located::from);
    std::ranges::stable_sort(located, std::ranges::less{}, &Located::rank);
    std::vector<Group> groups = groups_of(located, matching.plan().size());
    if (std::vector<Group> other = groups_of(by_place, matching.plan().size());
        length_of(other) < length_of(groups)) {
        groups = std::move(other);
    }
    Answers answers(matching, order, position, queries);
    for (Group& group : groups) {
        answers.answer(group);
    }
    const std::vector<std::size_t> unknown = std::move(answers).failed();
    failed.insert(failed.end(), unknown.begin(), unknown.end());
    std::ranges::sort(failed);
    return failed;
}

std::pair<Rank, Rank> unsynchronised(const Matching& matching, std::span<const StepNumber> order) {
    const Rank ranks = matching.plan().size();
    Spread spread(matching);
    for (Rank first = 0; first < ranks; first += 64) {
        const Rank count = std::min<Rank>(64, ranks - first);
        spread.clear();
        for (Rank bit = 0; bit < count; ++bit) {
            spread.of_rank(first + bit) |= Knowledge{1} << bit;
        }
        for (const StepNumber number : order) {
            spread.perform(number);
        }
        const Knowledge all = count == 64 ? ~Knowledge{0} : (Knowledge{1} << count) - 1;
        for (Rank rank = 0; rank < ranks; ++rank) {
            const Knowledge missing = all & ~spread.of_rank(rank);
            if (missing != 0) {
                return {rank, first + std::countr_zero(missing)};
            }
        }
    }
    return {-1, -1};
}

} // namespace corymb::plan
