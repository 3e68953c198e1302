// SPDX-License-Identifier: Apache-2.0
// Candidates on one machine: families of algorithms, each with the ways that a payload may travel.
#include "plan/copies.hpp"
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "plan/performed.hpp"
#include "plan/tuning.hpp"
#include "tune/plain.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"
#include "tune/tuning.hpp"
#include "tune/turns.hpp"
#include "tune/variant.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

[[noreturn]] void refuse_name(const PlanRequest& request) {
    std::string known = "best";
    for (const std::string& name : algorithm_names(request.op)) {
        known += ", " + name;
    }
    throw Error(Errc::unknown_name, "no algorithm for " + std::string(to_string(request.op)) +
                                        " is called \"" + request.algorithm.substr(0, 60) +
                                        "\"; there are " + known);
}

class OnMachine : public Candidates {
public:
    OnMachine(const Machine& machine, const PlanRequest& request, const Effort& effort)
        : machine_(machine), request_(request), effort_(effort), costs_(machine, request.placement),
          variants_(variants(request.op, request.example_bytes, request.pull)) {
        if (request.one_block) {
            std::erase_if(variants_, [](const Variant& variant) { return variant.blocks > 1; });
        }
        if (effort.plain) {
            const std::size_t ranks = request.placement.size();
            steps_max_ = ranks * std::max(plain_steps_of_rank.value(), 4 * ranks);
        }
    }

    void try_named(Search& search) const override {
        for (const Family& family : families()) {
            if (request_.algorithm == family.name) {
                const bool is_long = family.searches && variants_.size() > 1;
                try_families(search, is_long ? promising() : variants_,
                             [&](const Family& other) { return &other == &family; });
                return;
            }
            for (const Variant& variant : all_variants()) {
                if (request_.algorithm == candidate_name(family.name, variant)) {
                    search.try_one({&family, variant});
                    return;
                }
            }
        }
        refuse_name(request_);
    }

    void try_best(Search& search) const override {
        if (effort_.plain) {
            try_plain(search);
        } else {
            try_all(search);
        }
    }

    /// As a team performs it, if it has not too many steps.
    [[nodiscard]] std::optional<Plan> plan_of(const Candidate& candidate,
                                              double /*best*/) const override {
        const Family& family = *candidate.family;
        const GenerateInput input = input_of(costs_, machine_, request_, candidate.variant);
        if (!is_fit(family) || (family.pushes && !request_.push) ||
            !family.applies(request_.op, input)) {
            return std::nullopt;
        }
        Plan made = performed(family.make(request_.op, input));
        made.algorithm = name_of(candidate);
        return steps_of(made) > steps_max_ ? std::nullopt : std::optional(std::move(made));
    }

    [[nodiscard]] Times times_of(const Plan& plan, double /*best*/) const override {
        const bool takes_turns = request_.oversubscribed;
        const Timeline timeline =
            simulate(plan, machine_, request_.placement, request_.example_bytes, takes_turns);
        return {takes_turns ? time_in_turns(plan, machine_, request_, timeline) : timeline.makespan,
                timeline.makespan};
    }

    [[nodiscard]] NoisyReplay replay_of(const Plan& plan) const override {
        return noisy_replay(plan, machine_, request_.placement, request_.example_bytes,
                            request_.noise);
    }

    /// The next numbers of blocks.
    [[nodiscard]] std::vector<Candidate> neighbours(const Candidate& candidate) const override {
        std::vector<Candidate> list;
        const auto [via, blocks] = candidate.variant;
        for (const Variant& other : {Variant{via, 2 * blocks}, Variant{via, blocks / 2}}) {
            if (other.blocks > 1 && std::ranges::find(variants_, other) != variants_.end()) {
                list.push_back({candidate.family, other});
            }
        }
        return list;
    }

    [[nodiscard]] double alike() const override { return effort_.slowdown_through_cells; }
    [[nodiscard]] std::pair<double, double> cost_of(const Candidate& candidate,
                                                    const Plan& /*plan*/) const override {
        return {alike() > 1 && candidate.variant.via != Mechanism::cells ? 1 : 0, 0};
    }

private:
    template <class IsTried>
    static void try_families(Search& search, const std::vector<Variant>& list,
                             const IsTried& is_tried) {
        for (const Family& family : families()) {
            for (const Variant& variant : list) {
                if (is_tried(family)) {
                    search.try_one({&family, variant});
                }
            }
        }
    }

    /// Every family in one block by each mechanism, and the most promising ones in more. Families
    /// that search are tried for the best variant of the others only.
    void try_all(Search& search) const {
        std::vector<Variant> list = variants_;
        std::erase_if(list, [](const Variant& variant) { return variant.blocks > 1; });
        try_families(search, list, [this](const Family& family) {
            return !family.searches && !is_guess(family, machine_, request_) &&
                   (request_.exhaustive || !family.is_baseline);
        });
        cut_finer(search);
        const bool has_plan = !search.tried().empty();
        if (request_.oversubscribed && has_plan) {
            return; // Costs between ranks that take turns on CPUs are not worth a search.
        }
        // Searched trees are the same for every variant.
        try_families(search, has_plan ? std::vector{search.fastest().candidate.variant} : variants_,
                     [](const Family& family) { return family.searches; });
    }

    /// A few families, each by each mechanism: in one block, or in as many as suit most payloads.
    void try_plain(Search& search) const {
        for (const Family* family : plain_families(request_)) {
            if (is_guess(*family, machine_, request_)) {
                continue;
            }
            for (const Variant& variant : variants_) {
                if (variant.blocks == 1 || variant.blocks == family->plain_blocks) {
                    search.try_one({family, variant});
                }
            }
        }
    }

    /// More blocks, from a middling number up or down for as long as that helps.
    void cut_finer(Search& search) const {
        for (const Mechanism via : {Mechanism::cells, Mechanism::pull}) {
            const Variant* first = nullptr; // Variants are sorted by number of blocks.
            for (const Variant& variant : variants_) {
                if (variant.via == via && variant.blocks > 1 &&
                    (first == nullptr || first->blocks < blocks_first)) {
                    first = &variant;
                }
            }
            if (first == nullptr) {
                continue;
            }
            blocks_first.note();
            for (const Tried& tried : search.by_makespan()) {
                if (tried.candidate.variant.via == via) {
                    climb(search, {tried.candidate.family, *first});
                }
            }
        }
    }

    /// Far behind the best so far, no number of blocks makes up for it.
    static void climb(Search& search, const Candidate& start) {
        const double makespan = search.try_one(start);
        if (!slowdown_in_blocks.decides(makespan >
                                        slowdown_in_blocks * search.fastest().makespan)) {
            search.improve(start);
        }
    }

    /// The variants that a search is spent on, judged by the cheap families: the best of each
    /// mechanism.
    [[nodiscard]] std::vector<Variant> promising() const {
        Search screen(*this, request_, effort_);
        try_families(screen, variants_,
                     [](const Family& family) { return !family.searches && !family.is_baseline; });
        std::vector<Variant> list;
        for (const Tried& tried : screen.by_makespan()) {
            const Variant variant = tried.candidate.variant;
            if (std::ranges::find(list, variant.via, &Variant::via) == list.end()) {
                list.push_back(variant);
            }
        }
        return list.empty() ? variants_ : list;
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
        if (machine_.kernel_copy.present() && plan.steps.size() <= tuning::copying_ranks_most) {
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

    const Machine& machine_;
    const PlanRequest& request_;
    const Effort& effort_;
    std::size_t steps_max_ = std::numeric_limits<std::size_t>::max();
    CostView costs_;
    std::vector<Variant> variants_;
};

} // namespace

std::optional<Found> find_plan(const Machine& machine, const PlanRequest& request,
                               const Effort& effort) {
    return Search(OnMachine(machine, request, effort), request, effort).run();
}

} // namespace corymb::tune
