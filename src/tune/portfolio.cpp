// SPDX-License-Identifier: Apache-2.0
#include "tune/portfolio.hpp"

#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "tune/variant.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

namespace corymb::tune {

namespace {

/// Families that search are too slow to run for every variant of a payload.
bool is_search(const Family& family) {
    return family.name.starts_with("anneal") || family.name.starts_with("exact") ||
           family.name.starts_with("earliest");
}

/// What one store costs many readers at once, or a meeting on one line, cannot be told from what
/// messages between two cost, so a model that has not measured it would make every such plan look
/// good, or none.
bool is_guess(const Family& family, const Machine& machine, const PlanRequest& request) {
    return (family.name.starts_with("shared-line") && machine.shared_line.empty() &&
            !request.oversubscribed) ||
           (family.name == "pair-exchange" && machine.exchange.empty());
}

bool is_better(const Candidate& left, const Candidate& right) {
    return std::tie(left.switches, left.predicted) < std::tie(right.switches, right.predicted);
}

class Builder {
public:
    Builder(const Machine& machine, const PlanRequest& request, std::size_t keep)
        : machine_(machine), request_(request), keep_(std::max<std::size_t>(keep, 1)),
          costs_(machine, request.placement), variants_(variants(request.op, request.bytes)) {}

    /// Every family for every variant; those that search only for the best variants of the others.
    void try_all() {
        for (const Family& family : families()) {
            if (!is_search(family) && !is_guess(family, machine_, request_)) {
                try_variants(family, variants_);
            }
        }
        if (request_.oversubscribed && !result_.best.empty()) {
            return; // Costs between ranks that take turns on CPUs are not worth a search.
        }
        const std::vector<Variant> promising =
            variants_.size() == 1 ? variants_ : best_of_each_mechanism();
        for (const Family& family : families()) {
            if (is_search(family)) {
                try_variants(family, promising);
            }
        }
        if (result_.best.empty()) {
            throw Error(Errc::invalid_argument,
                        "no algorithm has a plan for this " + std::string(to_string(request_.op)));
        }
    }

    /// One family: the variant that was asked for, or all.
    void try_named(const Family& family, const std::optional<Variant>& variant) {
        if (variant) {
            variants_ = {*variant};
        } else if (is_search(family) && variants_.size() > 1) {
            screen_variants();
        }
        try_variants(family, variants_);
        if (result_.best.empty()) {
            if (refusal_) {
                throw *refusal_;
            }
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
        Variant variant;
        double predicted;
    };

    void try_variants(const Family& family, const std::vector<Variant>& list) {
        for (const Variant& variant : list) {
            try_one(family, variant);
        }
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
        if (!family.applies(request_.op, input)) {
            return;
        }
        Candidate candidate;
        try {
            candidate.plan = family.make(request_.op, input);
            candidate.plan.algorithm = candidate_name(family.name, variant);
            candidate.predicted =
                simulate(candidate.plan, machine_, request_.placement, request_.bytes).makespan;
            candidate.switches = request_.oversubscribed ? context_switches(candidate.plan) : 0;
            if (result_.best.size() < keep_ || is_better(candidate, result_.best.back())) {
                check_plan(candidate.plan, request_.ordered);
                keep(candidate);
            }
        } catch (const Error& error) {
            // Messages too long for a channel can make ranks that both send first wait for ever.
            if (error.code() != Errc::invalid_plan) {
                throw;
            }
            refusal_.emplace(error);
            return;
        }
        result_.predictions.emplace_back(candidate_name(family.name, variant), candidate.predicted);
        tried_.push_back({variant, candidate.predicted});
    }

    void keep(Candidate& candidate) {
        const auto place =
            std::upper_bound(result_.best.begin(), result_.best.end(), candidate, is_better);
        result_.best.insert(place, candidate);
        if (result_.best.size() > keep_) {
            result_.best.pop_back();
        }
    }

    /// Which variants a search should be spent on, judged by the cheap families.
    void screen_variants() {
        Builder screen(machine_, request_, 1);
        for (const Family& family : families()) {
            if (!is_search(family)) {
                screen.try_variants(family, variants_);
            }
        }
        variants_ = screen.best_of_each_mechanism();
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
    std::size_t keep_;
    CostView costs_;
    std::vector<Variant> variants_;
    std::vector<Tried> tried_;
    std::optional<Error> refusal_;
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

Portfolio build_portfolio(const Machine& machine, const PlanRequest& request, std::size_t keep) {
    if (request.algorithm == "best") {
        Builder builder(machine, request, keep);
        builder.try_all();
        return std::move(builder).result();
    }
    const auto parsed = parse_candidate(request.algorithm);
    const Family* family = parsed ? family_named(parsed->first) : nullptr;
    if (family == nullptr) {
        refuse_name(request);
    }
    Builder builder(machine, request, keep);
    builder.try_named(*family, parsed->second);
    return std::move(builder).result();
}

} // namespace corymb::tune
