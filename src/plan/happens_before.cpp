// SPDX-License-Identifier: Apache-2.0
#include "plan/happens_before.hpp"

#include "plan/step_kind.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <utility>

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

private:
    const Matching& matching_;
    std::vector<Knowledge> of_rank_;
    std::vector<Knowledge> of_message_; // by sending step
};

/// Of some ranks, how many of their steps are surely done; known to a rank or carried by a message.
class Clocks {
public:
    static constexpr Rank width = 128; ///< Ranks at a time.

    Clocks(const Matching& matching, Rank first)
        : matching_(matching), first_(first), of_rank_(at(matching.plan().size())),
          carried_(matching.step_count(), none), same_(of_rank_.size(), none) {}

    /// The step takes in what its message carries, then passes on what its rank knows.
    void perform(StepNumber number) {
        const Rank rank = matching_.rank_of(number);
        const Step& step = matching_.step(number);
        if (has_source(step.kind)) {
            take(rank, matching_.partner(number));
            return;
        }
        const std::size_t receivers = step.kind == StepKind::publish
                                          ? matching_.readers(number).size()
                                          : matching_.partner(number) != no_step;
        if (receivers > 0) {
            carried_[number] = copy_of(rank);
            holders_[carried_[number]] += receivers;
        }
    }

    /// Of a step of one of the ranks looked at: whether `rank`, another one, knows that it is done.
    [[nodiscard]] bool knows(Rank rank, StepNumber step) const {
        const std::size_t column = at(matching_.rank_of(step) - first_);
        return of_rank_[at(rank)][column] > static_cast<std::int32_t>(matching_.index_of(step));
    }

private:
    using Clock = std::array<std::int32_t, width>;
    static constexpr std::uint32_t none = 0xffffffffU;

    void take(Rank rank, StepNumber message) {
        Clock& known = of_rank_[at(rank)];
        const Clock& news = copies_[carried_[message]];
        for (std::size_t column = 0; column < known.size(); ++column) {
            known[column] = std::max(known[column], news[column]);
        }
        const Rank sender = matching_.rank_of(message);
        if (sender >= first_ && sender < first_ + width) {
            std::int32_t& done = known[at(sender - first_)];
            done = std::max(done, static_cast<std::int32_t>(matching_.index_of(message)));
        }
        release(carried_[message]);
        if (same_[at(rank)] != none) {
            release(std::exchange(same_[at(rank)], none));
        }
    }

    /// One for all that a rank sends before it learns more.
    std::uint32_t copy_of(Rank rank) {
        std::uint32_t& same = same_[at(rank)];
        if (same != none) {
            return same;
        }
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(copies_.size()));
            copies_.emplace_back();
            holders_.push_back(0);
        }
        same = free_.back();
        free_.pop_back();
        copies_[same] = of_rank_[at(rank)];
        holders_[same] = 1;
        return same;
    }
    void release(std::uint32_t copy) {
        if (--holders_[copy] == 0) {
            free_.push_back(copy);
        }
    }

    const Matching& matching_;
    Rank first_;
    std::vector<Clock> of_rank_;         // without the rank's own steps
    std::vector<std::uint32_t> carried_; // by sending step: the copy that its message carries
    std::vector<std::uint32_t> same_;    // by rank: the copy that is what it knows
    std::deque<Clock> copies_;
    std::vector<std::size_t> holders_; // of each copy: messages under way, and its rank
    std::vector<std::uint32_t> free_;
};

struct Located {
    std::size_t query;
    std::size_t to; // position of the target, or the end
};

/// Those of the queries about steps of other ranks, from `first` on, that do not hold.
void fail_unknown(const Matching& matching, std::span<const StepNumber> order,
                  std::span<const OrderQuery> queries, Rank first, std::span<const Located> located,
                  std::vector<std::size_t>& failed) {
    Clocks clocks(matching, first);
    auto next = located.begin();
    const auto answer_until = [&](std::size_t place) {
        for (; next != located.end() && next->to <= place; ++next) {
            const OrderQuery& query = queries[next->query];
            if (!clocks.knows(query.rank, query.source)) {
                failed.push_back(next->query);
            }
        }
    };
    for (std::size_t place = 0; place < order.size() && next != located.end(); ++place) {
        clocks.perform(order[place]);
        answer_until(place);
    }
    answer_until(order.size());
}

} // namespace

std::vector<std::size_t> unordered_queries(const Matching& matching,
                                           std::span<const StepNumber> order,
                                           std::span<const OrderQuery> queries) {
    std::vector<std::size_t> position(matching.step_count());
    for (std::size_t place = 0; place < order.size(); ++place) {
        position[order[place]] = place;
    }
    std::vector<std::size_t> failed;
    std::vector<std::vector<Located>> by_source(
        at((matching.plan().size() + Clocks::width - 1) / Clocks::width));
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const auto& [source, rank, before] = queries[q];
        if (matching.rank_of(source) != rank) {
            by_source[at(matching.rank_of(source) / Clocks::width)].push_back(
                {q, before == no_step ? order.size() : position[before]});
        } else if (before != no_step && before <= source) { // In the order of its program.
            failed.push_back(q);
        }
    }
    for (std::size_t i = 0; i < by_source.size(); ++i) {
        if (!by_source[i].empty()) {
            std::ranges::stable_sort(by_source[i], std::ranges::less{}, &Located::to);
            fail_unknown(matching, order, queries, static_cast<Rank>(i) * Clocks::width,
                         by_source[i], failed);
        }
    }
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
