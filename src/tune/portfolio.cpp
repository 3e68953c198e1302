// SPDX-License-Identifier: Apache-2.0
#include "tune/portfolio.hpp"

#include "plan/copies.hpp"
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "plan/performed.hpp"
#include "tune/plain.hpp"
#include "tune/tuning.hpp"
#include "tune/variant.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace corymb::tune {

namespace {

/// Whether the model cannot tell how good a family's plan is. Such a plan would look too good, or
/// never good, so the family is tried only when asked for.
/// - One store to many readers, and a meeting on one line, cost more than messages between two
/// tell. A model without their measurement says nothing about them.
/// - In an allreduce the folding lies between a take and the next put. A line each way hides it and
/// a meeting does not; the model does not charge that yet.
/// - Ranks that take turns on a CPU mostly come before the offer that they wait for. The count of
/// turns does not see that where the root has the lowest number. In a gather it matters little
/// beside the writes, which all ranks do at once: 0.6 times as long as through cells among 8 on two
/// CPUs, 1 MiB each.
bool is_guess(const Family& family, const Machine& machine, const PlanRequest& request) {
    return (family.publishes && machine.shared_line.empty() && !request.oversubscribed) ||
           (family.pushes && request.oversubscribed && request.op != Collective::gather) ||
           (family.meets && (machine.exchange.empty() || request.op != Collective::barrier));
}

std::size_t steps_of(const Plan& plan) {
    std::size_t steps = 0;
    for (const auto& of_rank : plan.steps) {
        steps += of_rank.size();
    }
    return steps;
}

/// The model's answers about a plan, the first one first.
struct Times {
    double in_turns;
    double predicted;
    auto operator<=>(const Times&) const = default;
};

/// A plan that is not proven yet.
struct Candidate {
    Plan plan;
    Times times;
};

class Builder {
public:
    Builder(const Machine& machine, const PlanRequest& request, const Effort& effort)
        : machine_(machine), request_(request), effort_(effort), costs_(machine, request.placement),
          variants_(variants(request.op, request.example_bytes, request.pull)) {
        if (request.one_block) {
            std::erase_if(variants_, [](const Variant& variant) { return variant.blocks > 1; });
        }
    }

    /// Tries every family in one block by each mechanism, and the most promising ones in more.
    /// Families that search are tried for the best variant of the others only.
    void try_all() {
        for (const Family& family : families()) {
            if (!family.searches && !is_guess(family, machine_, request_) &&
                (request_.exhaustive || !family.is_baseline)) {
                for (const Variant& variant : variants_) {
                    if (variant.blocks == 1) {
                        try_one(family, variant);
                    }
                }
            }
        }
        cut_finer();
        if (request_.oversubscribed && best_) {
            return; // Costs between ranks that take turns on CPUs are not worth a search.
        }
        // Searched trees are the same for every variant.
        const std::vector<Variant> promising = best_variant();
        for (const Family& family : families()) {
            if (family.searches) {
                try_variants(family, promising);
            }
        }
        if (!best_ && !effort_.stop.stop_requested()) {
            throw Error(Errc::invalid_argument,
                        "no algorithm has a plan for this " + std::string(to_string(request_.op)));
        }
    }

    /// A few families, each by each mechanism: in one block, or in as many as suit most payloads.
    void try_plain() {
        // Plans of more steps take long to simulate, and are seldom the best: payloads are cut so
        // small only to fit short channels. An exchange of all with all has some steps for each
        // pair.
        constexpr std::size_t steps_of_rank = 128;
        const std::size_t ranks = request_.placement.size();
        steps_max_ = ranks * std::max(steps_of_rank, 4 * ranks);
        for (const Family* family : plain_families(request_)) {
            if (is_guess(*family, machine_, request_)) {
                continue;
            }
            for (const Variant& variant : variants_) {
                if (variant.blocks == 1 || variant.blocks == family->plain_blocks) {
                    try_one(*family, variant);
                }
            }
        }
    }

    /// Tries one family: the variant that was asked for, or all.
    void try_named(const Family& family, const std::optional<Variant>& variant) {
        if (variant) {
            variants_ = {*variant};
        } else if (family.searches && variants_.size() > 1) {
            screen_variants();
        }
        try_variants(family, variants_);
        if (!best_ && !effort_.stop.stop_requested()) {
            throw Error(Errc::invalid_argument,
                        "algorithm \"" + request_.algorithm + "\" has no plan for this " +
                            std::string(to_string(request_.op)) + " (" +
                            std::to_string(request_.placement.size()) + " ranks" +
                            (request_.ordered ? ", in rank order" : "") + ")");
        }
    }

    /// The best plan, or one through cells that is not much slower.
    [[nodiscard]] Portfolio result() && {
        const double limit = best_ ? effort_.slowdown_through_cells * best_->times.predicted : 0;
        const bool is_through_cells = through_cells_ && through_cells_->times.predicted < limit;
        auto& chosen = is_through_cells ? through_cells_ : best_;
        if (chosen) {
            portfolio_.predicted = decisive(chosen->times);
            portfolio_.best.emplace(std::move(chosen->plan), request_.ordered);
        }
        return std::move(portfolio_);
    }

private:
    struct Tried {
        const Family* family;
        Variant variant;
        double predicted;
    };

    void try_variants(const Family& family, const std::vector<Variant>& list) {
        for (const Variant& variant : list) {
            try_one(family, variant);
        }
    }

    /// The families that have a plan in one block, the fastest first.
    [[nodiscard]] std::vector<const Family*> families_by_time(Mechanism via) const {
        std::vector<const Tried*> order;
        for (const Tried& tried : tried_) {
            if (tried.variant.via == via) {
                order.push_back(&tried);
            }
        }
        std::ranges::stable_sort(order, std::ranges::less{},
                                 [](const Tried* tried) { return tried->predicted; });
        std::vector<const Family*> list;
        std::ranges::transform(order, std::back_inserter(list),
                               [](const Tried* tried) { return tried->family; });
        return list;
    }

    /// More blocks, from a middling number up or down for as long as that helps.
    void cut_finer() {
        for (const Mechanism via : {Mechanism::cells, Mechanism::pull}) {
            std::vector<Variant> cuts; // by number of blocks
            std::ranges::copy_if(variants_, std::back_inserter(cuts),
                                 [via](const Variant& v) { return v.via == via && v.blocks > 1; });
            if (cuts.empty()) {
                continue;
            }
            blocks_first.note();
            const auto start = static_cast<std::size_t>(
                std::ranges::find_if(cuts,
                                     [](const Variant& v) { return v.blocks >= blocks_first; }) -
                cuts.begin());
            for (const Family* family : families_by_time(via)) {
                climb(*family, cuts, std::min(start, cuts.size() - 1));
            }
        }
    }

    void climb(const Family& family, const std::vector<Variant>& cuts, std::size_t start) {
        const auto predicted = [&](std::size_t place) {
            const std::size_t before = tried_.size();
            try_one(family, cuts[place]);
            return tried_.size() > before ? tried_.back().predicted
                                          : std::numeric_limits<double>::infinity();
        };
        const double middle = predicted(start);
        // Far behind the best so far, no number of blocks makes up for it.
        if (!best_ ||
            slowdown_in_blocks.decides(middle > slowdown_in_blocks * best_->times.predicted)) {
            return;
        }
        double best = middle;
        for (std::size_t place = start + 1; place < cuts.size(); ++place) {
            const double finer = predicted(place);
            if (!(finer < best)) {
                break;
            }
            best = finer;
        }
        if (best < middle) {
            return;
        }
        for (std::size_t place = start; place-- > 0;) {
            const double coarser = predicted(place);
            if (!(coarser < best)) {
                break;
            }
            best = coarser;
        }
    }

    [[nodiscard]] bool is_fit(const Family& family) const {
        if (request_.root_first && !family.root_leaves_first) {
            return false;
        }
        if (!request_.reproducible || !is_reduction(request_.op)) {
            return true;
        }
        // A plan that keeps parts has no place for sums of two other ranks' parts.
        const bool has_parts = request_.op == Collective::reduce_scatter && request_.keeps_parts;
        return has_parts ? family.nearest_first : family.reproducible;
    }

    void try_one(const Family& family, const Variant& variant) {
        const GenerateInput input{.costs = costs_,
                                  .machine = &machine_,
                                  .placement = request_.placement,
                                  .root = request_.root,
                                  .bytes = request_.example_bytes,
                                  .ordered = request_.ordered,
                                  .seed = request_.seed,
                                  .moves = request_.moves,
                                  .via = variant.via,
                                  .blocks = variant.blocks,
                                  .addresses_each = request_.keeps_parts};
        if (!is_fit(family) || (family.pushes && !request_.push) ||
            !family.applies(request_.op, input) || effort_.stop.stop_requested()) {
            return;
        }
        Plan made = performed(family.make(request_.op, input));
        made.algorithm = candidate_name(family.name, variant);
        if (steps_of(made) > steps_max_ || (request_.one_block && made.block_count > 1)) {
            return;
        }
        if (request_.keeps_parts && !keeps_parts(made)) {
            return;
        }
        const Times times = times_of(made);
        portfolio_.predictions.push_back({made.algorithm, variant, decisive(times)});
        tried_.push_back({&family, variant, times.predicted});
        if (effort_.slowdown_through_cells > 1 && variant.via == Mechanism::cells &&
            (!through_cells_ || times.predicted < through_cells_->times.predicted)) {
            through_cells_ = {made, times};
        }
        if (!best_ || times < best_->times) {
            best_ = {std::move(made), times};
        }
    }

    [[nodiscard]] double decisive(const Times& times) const noexcept {
        return request_.oversubscribed ? times.in_turns : times.predicted;
    }

    [[nodiscard]] Times times_of(const Plan& plan) const {
        const Timeline timeline = simulate(plan, machine_, request_.placement,
                                           request_.example_bytes, request_.oversubscribed);
        return {request_.oversubscribed ? time_in_turns(plan, machine_, request_, timeline) : 0,
                timeline.makespan};
    }

    /// The plan of a generator as a team performs it.
    [[nodiscard]] Plan performed(Plan plan) const {
        const bool is_any = request_.bytes == any_part_bytes;
        plan.bytes_max = is_any ? any_part_bytes : plan.bytes_max;
        plan = plan::performed(std::move(plan), request_.cell_slots);
        return is_any ? with_best_copies(std::move(plan)) : plan;
    }

    /// Among processes short messages take a copy along for as long as the model thinks that faster
    /// than a copy by the kernel.
    [[nodiscard]] Plan with_best_copies(Plan plan) const {
        std::uint32_t best = 0;
        if (machine_.kernel_copy.present() && plan.steps.size() <= plan::copying_ranks_most) {
            const auto time = [&](const Plan& tried, std::uint32_t cells) {
                return simulate(tried, machine_, request_.placement, cells * cell_bytes).makespan;
            };
            for (std::uint32_t cells = 1; cells <= request_.cell_slots; cells *= 2) {
                const Plan copied = plan::with_copies(plan, cells, request_.cell_slots);
                if (copied.copied_cells != cells || time(copied, cells) > time(plan, cells)) {
                    break;
                }
                best = cells;
            }
        }
        return plan::with_copies(std::move(plan), best, request_.cell_slots);
    }

    /// Chooses the variants that a search is spent on, judged by the cheap families.
    void screen_variants() {
        Builder screen(machine_, request_, effort_);
        for (const Family& family : families()) {
            if (!family.searches && !family.is_baseline) {
                screen.try_variants(family, variants_);
            }
        }
        variants_ = screen.best_of_each_mechanism();
    }

    [[nodiscard]] std::vector<Variant> best_variant() const {
        const auto best = std::ranges::min_element(
            tried_, std::ranges::less{}, [](const Tried& tried) { return tried.predicted; });
        return best == tried_.end() ? variants_ : std::vector<Variant>{best->variant};
    }

    [[nodiscard]] std::vector<Variant> best_of_each_mechanism() const {
        std::vector<Variant> list;
        for (const Mechanism via : {Mechanism::line, Mechanism::cells, Mechanism::pull}) {
            const Tried* best = nullptr;
            for (const Tried& tried : tried_) {
                if (tried.variant.via == via &&
                    (best == nullptr || tried.predicted < best->predicted)) {
                    best = &tried;
                }
            }
            if (best != nullptr) {
                list.push_back(best->variant);
            }
        }
        return list.empty() ? variants_ : list;
    }

    const Machine& machine_;
    const PlanRequest& request_;
    const Effort& effort_;
    std::size_t steps_max_ = std::numeric_limits<std::size_t>::max();
    CostView costs_;
    std::vector<Variant> variants_;
    std::vector<Tried> tried_;
    std::optional<Candidate> best_;
    std::optional<Candidate> through_cells_; ///< The best one through cells, if that is asked for.
    Portfolio portfolio_;
};

[[noreturn]] void refuse_name(const PlanRequest& request) {
    std::string known = "best";
    for (const std::string& name : algorithm_names(request.op)) {
        known += ", " + name;
    }
    throw Error(Errc::unknown_name, "no algorithm for " + std::string(to_string(request.op)) +
                                        " is called \"" + request.algorithm.substr(0, 60) +
                                        "\"; there are " + known);
}

/// The family of a name, and the variant if the name is a candidate's.
struct Named {
    const Family* family;
    std::optional<Variant> variant;
};

Named named(const PlanRequest& request) {
    for (const Family& family : families()) {
        if (request.algorithm == family.name) {
            return {&family, {}};
        }
        for (const Variant& variant : all_variants()) {
            if (request.algorithm == candidate_name(family.name, variant)) {
                return {&family, variant};
            }
        }
    }
    refuse_name(request);
}

} // namespace

Portfolio build_portfolio(const Machine& machine, const PlanRequest& request,
                          const Effort& effort) {
    Builder builder(machine, request, effort);
    if (request.algorithm != "best") {
        const Named wanted = named(request);
        builder.try_named(*wanted.family, wanted.variant);
    } else if (effort.plain) {
        builder.try_plain();
    } else {
        builder.try_all();
    }
    return effort.stop.stop_requested() ? Portfolio{} : std::move(builder).result();
}

} // namespace corymb::tune
