// SPDX-License-Identifier: Apache-2.0
// In a team of processes one plans and all run its plan: the bytes of the plan lie in the arena.
#include "plan/plan_bytes.hpp"
#include "team/team_plans.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace corymb::detail {

namespace {

/// A plan of the team; read and written under the lock.
struct PlanText {
    std::uint32_t planner; ///< Process that makes it, 0: nobody.
    std::uint32_t is_best; ///< KnownPlan::is_best.
    std::uint64_t length;
    Offset text; ///< 0: not made yet.
    std::array<char, 64> hash;
};

/// The plan that a process has made. Throws if the text that arrives has another hash.
Plan read_plan(const std::string& text, const std::array<char, 64>& hash) {
    Plan plan = plan::plan_from_bytes(text);
    if (plan_hash(plan) != std::string_view(hash.data(), hash.size())) {
        throw Error(Errc::invalid_plan, "a plan has changed on its way between two processes; do "
                                        "all of them use the same version of corymb?");
    }
    return plan;
}

/// Number `version` of a key's plans.
PlanText& text_of(Arena& arena, const team::PlanKey& key, std::uint64_t version) {
    ArenaKey place{static_cast<std::uint32_t>(team::Kind::plan)};
    place.id = key.number() | version << 12U;
    return arena.find_or_make<PlanText>(place);
}

} // namespace

/// The plan that some process has published by now, or null.
TeamPlans::Known TeamPlans::published(const team::PlanKey& key, Version version) {
    PlanText& slot = text_of(team_.fabric.arena(), key, static_cast<std::uint64_t>(version));
    std::string text;
    std::array<char, 64> hash{};
    bool is_best = false;
    {
        const std::lock_guard lock(*team_.memory);
        if (slot.text == 0) {
            return nullptr;
        }
        const auto* const from = reinterpret_cast<const char*>(team_.memory->at(slot.text));
        text.assign(from, slot.length);
        hash = slot.hash;
        is_best = slot.is_best != 0;
    }
    const auto plan =
        plan::ProvenPlan::by_peer(read_plan(text, hash), key.ordered, key.keeps_parts);
    if (!team_.plans_given) {
        team::remember_plan(origin_of(key), plan, is_best);
    }
    // A copy of its own: all processes have this plan, whatever is remembered here.
    return std::make_shared<team::KnownPlan>(plan, is_best);
}

/// The first one counts.
void TeamPlans::publish(const team::PlanKey& key, Version version, const team::KnownPlan& known) {
    PlanText& slot = text_of(team_.fabric.arena(), key, static_cast<std::uint64_t>(version));
    const std::string bytes = plan::to_bytes(*known.plan);
    const std::string digest = plan_hash(*known.plan);
    const std::lock_guard lock(*team_.memory);
    if (slot.text != 0) {
        return;
    }
    const Offset where = team_.fabric.arena().allocate(bytes.size());
    std::memcpy(team_.memory->at(where), bytes.data(), bytes.size());
    std::copy_n(digest.begin(), slot.hash.size(), slot.hash.begin());
    slot.length = bytes.size();
    slot.is_best = known.is_best ? 1 : 0;
    slot.text = where;
}

/// One plan for all processes: one of them makes it, the others wait until the deadline.
TeamPlans::Known TeamPlans::common_plan(const team::PlanKey& key, Version version) {
    PlanText& slot = text_of(team_.fabric.arena(), key, static_cast<std::uint64_t>(version));
    const auto is_ours = [&] { // False: another process has made the plan, or is about to.
        const std::lock_guard lock(*team_.memory);
        if (slot.text != 0 || (slot.planner != 0 && slot.planner != own_pid_ &&
                               !team_.company->watch.has_ended(slot.planner))) {
            return false;
        }
        slot.planner = own_pid_;
        return true;
    };
    const auto planners = [&] {
        std::vector<int> ranks;
        for (Rank rank = 0; rank < team_.fabric.size(); ++rank) {
            if (team_.fabric.state(rank).pid == slot.planner) {
                ranks.push_back(rank);
            }
        }
        return ranks;
    };
    while (!is_ours()) {
        if (Known known = published(key, version)) {
            return known;
        }
        team_.company->watch.look();
        wait_->nap(key, planners);
    }
    try {
        const Known known = version == Version::first ? known_plan(key) : best_plan(key);
        publish(key, version, *known);
        return known;
    } catch (...) {
        const std::lock_guard lock(*team_.memory);
        slot.planner = 0; // Another process makes the plan instead, or fails with its own error.
        throw;
    }
}

} // namespace corymb::detail
