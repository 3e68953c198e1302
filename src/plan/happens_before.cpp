// SPDX-License-Identifier: Apache-2.0
#include "plan/happens_before.hpp"

#include "plan/step_kind.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace corymb::plan {

namespace {

/// One bit for each of up to 64 events: does this rank, or this message, come after the event?
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
    /// The step's message lies before the stretch that is being looked at.
    void forget_message(StepNumber number) { of_message_[number] = 0; }

private:
    const Matching& matching_;
    std::vector<Knowledge> of_rank_;
    std::vector<Knowledge> of_message_; // by sending step
};

struct Located {
    std::size_t query;
    std::size_t from; // position of the source in the order
    std::size_t to;   // position of the target, or the end
};

} // namespace

std::vector<std::size_t> unordered_queries(const Matching& matching,
                                           std::span<const StepNumber> order,
                                           std::span<const OrderQuery> queries) {
    std::vector<std::size_t> position(matching.step_count());
    for (std::size_t place = 0; place < order.size(); ++place) {
        position[order[place]] = place;
    }
    std::vector<Located> located;
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const StepNumber before = queries[q].before;
        located.push_back(
            {q, position[queries[q].source], before == no_step ? order.size() : position[before]});
    }
    std::sort(located.begin(), located.end(), [](const Located& a, const Located& b) {
        return std::pair{a.from, a.query} < std::pair{b.from, b.query};
    });

    std::vector<std::size_t> failed;
    Spread spread(matching);
    for (std::size_t first = 0; first < located.size(); first += 64) {
        const std::span batch =
            std::span(located).subspan(first, std::min<std::size_t>(64, located.size() - first));
        std::vector<std::size_t> by_target(batch.size());
        std::iota(by_target.begin(), by_target.end(), std::size_t{0});
        std::sort(by_target.begin(), by_target.end(),
                  [&](std::size_t a, std::size_t b) { return batch[a].to < batch[b].to; });
        spread.clear();
        std::size_t next_source = 0;
        std::size_t next_target = 0;
        const auto answer_until = [&](std::size_t place) {
            while (next_target < batch.size() && batch[by_target[next_target]].to <= place) {
                const std::size_t bit = by_target[next_target++];
                const OrderQuery& query = queries[batch[bit].query];
                if ((spread.of_rank(query.rank) >> bit & 1u) == 0) {
                    failed.push_back(batch[bit].query);
                }
            }
        };
        // Messages from before the stretch carry nothing of this batch.
        for (std::size_t place = batch.front().from;
             place < order.size() && next_target < batch.size(); ++place) {
            const StepNumber number = order[place];
            if (has_source(matching.step(number).kind) &&
                position[matching.partner(number)] < batch.front().from) {
                spread.forget_message(matching.partner(number));
            }
            spread.perform(number);
            answer_until(place);
            for (; next_source < batch.size() && batch[next_source].from == place; ++next_source) {
                spread.of_rank(matching.rank_of(number)) |= Knowledge{1} << next_source;
            }
        }
        answer_until(order.size());
    }
    std::sort(failed.begin(), failed.end());
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
