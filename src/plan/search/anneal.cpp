// SPDX-License-Identifier: Apache-2.0
#include "plan/search/anneal.hpp"

#include "base/random.hpp"
#include "plan/search/anneal_state.hpp"
#include "plan/search/edge_table.hpp"
#include "plan/search/near_table.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace corymb {

namespace {

/// Natural logarithm of x in (0, 1] from the four operations, evaluated at compile time only:
/// libraries differ in the last digit, and the search must not.
constexpr double natural_log(double x) {
    int halvings = 0;
    while (x < 1.0) {
        x *= 2.0;
        ++halvings;
    }
    const double z = (x - 1.0) / (x + 1.0);
    double power = z;
    double sum = 0;
    for (int k = 1; k < 40; k += 2) {
        sum += power / k;
        power *= z * z;
    }
    return 2.0 * sum - halvings * 0.693147180559945309;
}

/// The exponential distribution with mean 1 in 16-bit fixed point: by how many temperatures a move
/// may make the tree worse (the Metropolis rule, drawn before the move is evaluated).
constexpr auto tolerance_table = [] {
    std::array<std::int32_t, 1024> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double x = (static_cast<double>(i) + 0.5) / 1024.0;
        table[i] = static_cast<std::int32_t>(-natural_log(x) * 65536.0);
    }
    return table;
}();

/// Falls geometrically over the moves, in 256 stages.
class Temperature {
public:
    Temperature(std::int32_t cost, const AnnealOptions& options)
        : ticks_(cost * options.heat),
          stage_moves_(std::max<std::uint64_t>(options.moves / 256, 1)),
          factor_(root_256(options.heat_end / options.heat)) {}

    void advance(std::uint64_t move) {
        if (move % stage_moves_ == 0) {
            ticks_ *= factor_;
            whole_ticks_ = static_cast<std::int64_t>(ticks_);
        }
    }
    [[nodiscard]] std::int32_t tolerance(std::uint32_t random) const {
        return static_cast<std::int32_t>((whole_ticks_ * tolerance_table[random % 1024]) >> 16);
    }

private:
    /// The 256th root by bisection on repeated squaring, again without a library function.
    static double root_256(double value) {
        double low = 0.5;
        double high = 1.0;
        for (int step = 0; step < 40; ++step) {
            const double middle = (low + high) / 2;
            double power = middle;
            for (int doubling = 0; doubling < 8; ++doubling) {
                power *= power;
            }
            (power < value ? low : high) = middle;
        }
        return low;
    }

    double ticks_;
    std::int64_t whole_ticks_ = 0;
    std::uint64_t stage_moves_;
    double factor_;
};

class Annealer {
public:
    Annealer(const EdgeTable& edges, const Tree& start, const AnnealOptions& options)
        : edges_(edges), options_(options), state_(edges, start), random_(options.seed),
          temperature_(state_.cost(), options), near_parents_(edges, NearTable::Want::parents),
          near_children_(edges, NearTable::Want::children), best_cost_(state_.cost()),
          best_(start.parent) {}

    /// The parents of the best tree seen.
    std::vector<Rank> run() {
        note_numbers();
        state_.critical(critical_);
        for (std::uint64_t move = 0; move < options_.moves; ++move) {
            temperature_.advance(move);
            if (attempt()) {
                critical_.clear();
                state_.critical(critical_);
                if (state_.cost() < best_cost_) {
                    best_cost_ = state_.cost();
                    state_.parents(best_);
                }
            }
        }
        return best_;
    }

private:
    /// Numbers that decide about each move.
    void note_numbers() const {
        if (options_.moves > 0) {
            tuning::share_reattach.note();
            tuning::share_near_parent.note();
            tuning::share_near_child.note();
            tuning::share_whole_subtree.note();
            static_cast<void>(tuning::heat.decides(options_.heat == tuning::heat));
            static_cast<void>(tuning::heat_end.decides(options_.heat_end == tuning::heat_end));
        }
    }

    /// Tries one move. Returns whether the tree has changed. Only ranks on the critical path, and
    /// siblings served before them, are worth moving: nothing else can make the tree better.
    bool attempt() {
        const std::uint64_t bits = random_.next();
        const auto draw = static_cast<std::uint32_t>(bits >> 32);
        limit_ = state_.cost() + temperature_.tolerance(draw);
        const Rank rank = critical_[((bits & 0xffff) * critical_.size()) >> 16];
        return ((bits >> 16) & 0xffff) < tuning::share_reattach ? try_reattach(rank)
                                                                : try_exchange(rank);
    }

    bool try_reattach(Rank rank) {
        const std::uint64_t bits = random_.next();
        const auto pick = static_cast<std::uint32_t>(bits >> 32);
        const Rank parent = (bits & 0xffff) < tuning::share_near_parent
                                ? near_parents_.draw(rank, pick, member_bits(bits))
                                : any_rank(pick);
        if (parent == state_.parent(rank) || state_.is_within(parent, rank)) {
            return false;
        }
        const EdgeTicks& edge = edges_(parent, rank);
        if (edge.busy + edge.latency + state_.cost(rank) > limit_) {
            return false;
        }
        state_.begin();
        state_.reattach(rank, parent);
        return accept();
    }

    bool try_exchange(Rank rank) {
        const std::uint64_t bits = random_.next();
        const auto pick = static_cast<std::uint32_t>(bits >> 32);
        const Rank parent = state_.parent(rank);
        const Rank other = (bits & 0xffff) < tuning::share_near_child
                               ? near_children_.draw(parent, pick, member_bits(bits))
                               : any_rank(pick);
        if (other == rank || (!options_.free_root && other == state_.root())) {
            return false;
        }
        const bool whole = ((bits >> 16) & 0xffff) < tuning::share_whole_subtree &&
                           !state_.is_within(other, rank) && !state_.is_within(rank, other);
        if (whole && state_.parent(other) == parent) {
            return false;
        }
        state_.begin();
        if (whole) {
            const Rank other_parent = state_.parent(other);
            state_.reattach(rank, other_parent);
            state_.reattach(other, parent);
        } else {
            state_.swap_ranks(rank, other);
        }
        return accept();
    }

    bool accept() {
        if (state_.cost() > limit_) {
            state_.undo();
            return false;
        }
        return true;
    }

    [[nodiscard]] Rank any_rank(std::uint32_t random) const {
        return static_cast<Rank>(
            NearTable::scale(random, static_cast<std::uint64_t>(edges_.size())));
    }
    /// 32 more bits out of a draw whose upper half is used; overlaps only with the kind of move.
    static std::uint32_t member_bits(std::uint64_t bits) {
        return static_cast<std::uint32_t>(bits) * 0x9e3779b9U;
    }

    const EdgeTable& edges_;
    AnnealOptions options_;
    AnnealState state_;
    Random random_;
    Temperature temperature_;
    NearTable near_parents_, near_children_;
    std::vector<Rank> critical_;
    std::int32_t limit_ = 0;
    std::int32_t best_cost_;
    std::vector<Rank> best_;
};

} // namespace

Tree anneal(const Tree& start, const TreeCosts& costs, const AnnealOptions& options) {
    Tree ordered = start;
    order_children(ordered, costs);
    if (costs.size() < 3) {
        return ordered;
    }
    const EdgeTable edges(costs);
    Tree best = tree_from_parents(Annealer(edges, ordered, options).run());
    order_children(best, costs);
    return makespan(best, costs) < makespan(ordered, costs) ? best : ordered;
}

} // namespace corymb
