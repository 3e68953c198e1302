// SPDX-License-Identifier: Apache-2.0
#include "tune/portfolio.hpp"

#include "plan/copies.hpp"
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "plan/performed.hpp"
#include "tune/plain.hpp"
#include "tune/variant.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <compare>
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

class Builder {
public:
    Builder(const Machine& machine, const PlanRequest& request, std::size_t keep,
            const std::stop_token& stop)
        : machine_(machine), request_(request), keep_(std::max<std::size_t>(keep, 1)), stop_(stop),
          costs_(machine, request.placement),
          variants_(variants(request.op, request.bytes, request.pull)) {
        if (request.one_block) {
            std::erase_if(variants_, [](const Variant& variant) { return variant.blocks > 1; });
        }
    }

    /// Tries every family in one block by each mechanism, and the most promising ones in more.
    /// Families that search are tried for the best variant of the others only.
    void try_all(Among among) {
        for (const Family& family : families()) {
            if (!family.searches && !is_guess(family, machine_, request_) &&
                (among == Among::all || !family.is_bad)) {
                for (const Variant& variant : variants_) {
                    if (variant.blocks == 1) {
                        try_one(family, variant);
                    }
                }
            }
        }
        cut_finer();
        if (request_.oversubscribed && !result_.best.empty()) {
            return; // Costs between ranks that take turns on CPUs are not worth a search.
        }
        // Searched trees are the same for every variant.
        const std::vector<Variant> promising = best_variant();
        for (const Family& family : families()) {
            if (family.searches) {
                try_variants(family, promising);
            }
        }
        if (result_.best.empty() && !stop_.stop_requested()) {
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
        if (result_.best.empty()) {
            throw Error(Errc::invalid_argument,
                        "algorithm \"" + request_.algorithm + "\" has no plan for this " +
                            std::string(to_string(request_.op)) + " (" +
                            std::to_string(request_.placement.size()) + " ranks" +
                            (request_.ordered ? ", in rank order" : "") + ")");
        }
    }

    [[nodiscard]] Portfolio result() && { return std::move(result_); }

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

    /// The families worth simulating in more blocks: the best in one block, and families whose
    /// ranks serve one or two others, which gain most from pipelining.
    [[nodiscard]] std::vector<const Family*> promising_families(Mechanism via) const {
        constexpr std::size_t best_count = 6;
        std::vector<const Tried*> order;
        for (const Tried& tried : tried_) {
            if (tried.variant.via == via) {
                order.push_back(&tried);
            }
        }
        std::ranges::stable_sort(order, std::ranges::less{},
                                 [](const Tried* tried) { return tried->predicted; });
        std::vector<const Family*> list;
        for (std::size_t place = 0; place < order.size(); ++place) {
            const Family* const family = order[place]->family;
            if (place < best_count || family->pipelines) {
                list.push_back(family);
            }
        }
        return list;
    }

    /// More blocks, from a middling number up or down for as long as that helps.
    void cut_finer() {
        constexpr std::uint32_t middling = 16;
        for (const Mechanism via : {Mechanism::cells, Mechanism::pull}) {
            std::vector<Variant> cuts; // by number of blocks
            std::ranges::copy_if(variants_, std::back_inserter(cuts),
                                 [via](const Variant& v) { return v.via == via && v.blocks > 1; });
            if (cuts.empty()) {
                continue;
            }
            const auto start = static_cast<std::size_t>(
                std::ranges::find_if(cuts, [](const Variant& v) { return v.blocks >= middling; }) -
                cuts.begin());
            for (const Family* family : promising_families(via)) {
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
        if (result_.best.empty() || middle > far_behind * result_.best.front().predicted) {
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
                                  .bytes = request_.bytes,
                                  .ordered = request_.ordered,
                                  .seed = request_.seed,
                                  .moves = request_.moves,
                                  .via = variant.via,
                                  .blocks = variant.blocks};
        if (!is_fit(family) || (family.pushes && !request_.push) ||
            !family.applies(request_.op, input) || stop_.stop_requested()) {
            return;
        }
        Plan made = performed(family.make(request_.op, input));
        made.algorithm = candidate_name(family.name, variant);
        if (steps_of(made) > steps_max_ || (request_.one_block && made.block_count > 1)) {
            return;
        }
        std::optional<plan::ProvenPlan> proven;
        if (request_.keeps_parts) {
            proven.emplace(std::move(made), request_.ordered);
            if (!proven->keeps_parts()) {
                return;
            }
        }
        const Times times = times_of(proven ? **proven : made);
        if (result_.best.size() < keep_ || times < times_of(result_.best.back())) {
            if (!proven) {
                proven.emplace(std::move(made), request_.ordered);
            }
            keep({*std::move(proven), variant, times.predicted, times.in_turns});
        }
        result_.predictions.push_back(
            {candidate_name(family.name, variant), variant, times.predicted});
        tried_.push_back({&family, variant, times.predicted});
    }

    [[nodiscard]] Times times_of(const Plan& plan) const {
        const Timeline timeline =
            simulate(plan, machine_, request_.placement, request_.bytes, request_.oversubscribed);
        return {request_.oversubscribed ? time_in_turns(plan, machine_, request_, timeline) : 0,
                timeline.makespan};
    }
    static Times times_of(const Candidate& candidate) noexcept {
        return {candidate.in_turns, candidate.predicted};
    }

    /// The plan of a generator as a team performs it.
    [[nodiscard]] Plan performed(Plan plan) const {
        plan.bytes_max = request_.any_length ? any_part_bytes : plan.bytes_max;
        plan = plan::performed(std::move(plan), request_.cell_slots);
        return request_.any_length ? with_best_copies(std::move(plan)) : plan;
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

    void keep(Candidate candidate) {
        const auto place =
            std::ranges::upper_bound(result_.best, times_of(candidate), std::ranges::less{},
                                     [](const Candidate& other) { return times_of(other); });
        result_.best.insert(place, std::move(candidate));
        if (result_.best.size() > keep_) {
            result_.best.pop_back();
        }
    }

    /// Chooses the variants that a search is spent on, judged by the cheap families.
    void screen_variants() {
        Builder screen(machine_, request_, 1, stop_);
        for (const Family& family : families()) {
            if (!family.searches) {
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

    static constexpr double far_behind = 1.5;

    const Machine& machine_;
    const PlanRequest& request_;
    std::size_t keep_;
    std::size_t steps_max_ = std::numeric_limits<std::size_t>::max();
    std::stop_token stop_;
    CostView costs_;
    std::vector<Variant> variants_;
    std::vector<Tried> tried_;
    Portfolio result_;
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

const Family* family_named(std::string_view name) {
    const auto list = families();
    const auto found = std::find_if(list.begin(), list.end(),
                                    [name](const Family& family) { return family.name == name; });
    return found == list.end() ? nullptr : &*found;
}

} // namespace

Portfolio build_portfolio(const Machine& machine, const PlanRequest& request, std::size_t keep,
                          Among among, const std::stop_token& stop) {
    if (request.algorithm == "best") {
        Builder builder(machine, request, keep, stop);
        among == Among::plain ? builder.try_plain() : builder.try_all(among);
        return stop.stop_requested() ? Portfolio{} : std::move(builder).result();
    }
    const auto parsed = parse_candidate(request.algorithm);
    const Family* family = parsed ? family_named(parsed->first) : nullptr;
    if (family == nullptr) {
        refuse_name(request);
    }
    Builder builder(machine, request, keep, {});
    builder.try_named(*family, parsed->second);
    return std::move(builder).result();
}

} // namespace corymb::tune
