// SPDX-License-Identifier: Apache-2.0
#include "tune/search.hpp"

#include "tune/tail.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>
#include <tuple>

namespace corymb::tune {

std::string name_of(const Candidate& candidate) {
    return candidate.family != nullptr ? candidate_name(candidate.family->name, candidate.variant)
                                       : nodes::name_of(candidate.scheme);
}

double Search::try_one(const Candidate& candidate) {
    const auto [known, is_new] = known_.try_emplace(candidate, never);
    if (!is_new || effort_.stop.stop_requested()) {
        return known->second;
    }
    std::optional<Plan> plan = candidates_.plan_of(candidate, best());
    if (!plan || !serves(*plan)) {
        return never;
    }
    Tried tried{candidates_.times_of(*plan, best()), candidate, {}};
    if (tried.time == never) {
        return never;
    }
    known->second = tried.makespan;
    if (tried.time <= candidates_.alike() * best()) {
        tried.cost = candidates_.cost_of(candidate, *plan);
    }
    tried_.push_back(tried);
    if (Times(tried) < Times(fastest())) {
        fastest_ = tried_.size() - 1;
    }
    if (candidate.family != nullptr && &preferred() == &tried_.back()) {
        kept_ = *std::move(plan);
    }
    return tried.makespan;
}

void Search::try_each(const std::vector<Candidate>& list) {
    for (const Candidate& candidate : list) {
        try_one(candidate);
    }
}

void Search::improve(Candidate candidate) {
    double makespan = try_one(candidate);
    for (bool better = true; better;) {
        better = false;
        for (const Candidate& other : candidates_.neighbours(candidate)) {
            if (const double shorter = try_one(other); shorter < makespan) {
                makespan = shorter;
                candidate = other;
                better = true;
                break;
            }
        }
    }
}

bool Search::serves(const Plan& plan) const {
    if (request_.one_block && plan.block_count > 1) {
        return false;
    }
    return effort_.serves ? effort_.serves(plan) : !request_.keeps_parts || keeps_parts(plan);
}

const Tried& Search::preferred() const {
    const double limit = candidates_.alike() * best();
    return *std::ranges::min_element(tried_, {}, [limit](const Tried& tried) {
        return std::tuple(tried.time > limit, tried.cost, Times(tried));
    });
}

std::vector<Tried> Search::by_makespan() const {
    std::vector<Tried> sorted = tried_;
    std::ranges::stable_sort(sorted, {}, &Tried::makespan);
    return sorted;
}

void Search::refuse() const {
    const bool is_named = request_.algorithm != "best";
    std::string text = is_named ? "algorithm \"" + request_.algorithm + "\" has" : "there is";
    text += " no plan for " + std::string(to_string(request_.op)) + " (" +
            std::to_string(request_.size) + " ranks, " + std::to_string(request_.example_bytes) +
            " bytes" + (request_.ordered ? ", in the order of the ranks" : "") + ")";
    throw Error(Errc::invalid_argument, text + (is_named ? "; \"best\" takes one that has" : ""));
}

/// Call once, for the preferred plan: that is given away if it was kept.
Plan Search::plan_of(const Tried& tried) {
    return tried.candidate.family != nullptr ? std::move(kept_)
                                             : *candidates_.plan_of(tried.candidate, never);
}

std::optional<Found> Search::run() && {
    const bool is_named = request_.algorithm != "best";
    if (is_named) {
        candidates_.try_named(*this);
    } else {
        candidates_.try_best(*this);
    }
    if (effort_.stop.stop_requested() || (tried_.empty() && effort_.plain && !is_named)) {
        return std::nullopt;
    }
    if (tried_.empty()) {
        refuse();
    }
    Tried chosen = preferred();
    if (chosen.candidate != fastest().candidate) {
        candidates_.note_cost();
    }
    Plan plan = plan_of(chosen);
    std::optional<NoiseCost> cost;
    if (request_.noise.present()) {
        Tail tail(candidates_, request_.replays);
        cost = NoiseCost{{}, tail.times_of(chosen, plan)};
        cost->chosen = cost->fastest;
        if (request_.objective == Objective::p99) {
            if (auto steadier = tail.least(tried_, chosen, effort_.stop)) {
                chosen = steadier->tried;
                plan = std::move(steadier->plan);
                cost->chosen = steadier->times;
            }
        }
    }
    return Found{std::move(plan), chosen.candidate, chosen.time, std::move(tried_), cost};
}

} // namespace corymb::tune
