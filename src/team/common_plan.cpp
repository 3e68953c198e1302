// SPDX-License-Identifier: Apache-2.0
// In a team of processes one plans and all run the same plan: its bytes lie in the arena.
#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "plan/plan_bytes.hpp"
#include "team/plan_memo.hpp"
#include "team/team_shared.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace corymb::detail {

namespace {

using namespace std::chrono_literals;

/// A plan of the team; read and written under the lock.
struct PlanText {
    std::uint32_t planner; ///< Process that makes it, 0: nobody.
    std::uint64_t length;
    Offset text; ///< 0: not made yet.
    std::array<char, 64> hash;
};

ArenaKey text_key(const team::PlanKey& key) {
    ArenaKey made{static_cast<std::uint32_t>(team::Kind::plan)};
    made.id = key.number();
    return made;
}

/// The plan that somebody has made, after a comparison of what arrives with what was meant.
Plan read_plan(const std::string& text, const std::array<char, 64>& hash) {
    Plan plan = plan::plan_from_bytes(text);
    if (plan_hash(plan) != std::string_view(hash.data(), hash.size())) {
        throw Error(Errc::invalid_plan, "a plan has changed on its way between two processes; do "
                                        "all of them use the same version of corymb?");
    }
    return plan;
}

} // namespace

/// The plan for us and others, as this process has seen it before or makes it now.
Plan TeamShared::known_plan(const team::PlanKey& key) {
    if (!plans_given) {
        if (auto known = team::remembered_plan(origin_of(key))) {
            return *std::move(known);
        }
    }
    Plan plan = make_plan(key);
    remember(key, plan);
    return plan;
}

team::PlanOrigin TeamShared::origin_of(const team::PlanKey& key) const {
    return {.cpu_of_rank = options.cpus,
            .cpus = company->cpus.empty() ? affinity_mask() : company->cpus,
            .size = fabric.size(),
            .pull = company->pull,
            .push = company->push,
            .caches = company->caches,
            .usable = cpus.usable,
            .key = key};
}

void TeamShared::remember(const team::PlanKey& key, const Plan& plan) const {
    if (!plans_given) {
        team::remember_plan(origin_of(key), plan);
    }
}

Plan TeamShared::common_plan(const team::PlanKey& key) {
    PlanText& slot = fabric.arena().find_or_make<PlanText>(text_key(key));
    const std::int64_t deadline = now_ns() + deadline_ns;
    std::string text;
    std::array<char, 64> hash{};
    const auto is_ours = [&] { // Else somebody else has made it, or is about to.
        const std::lock_guard lock(*memory);
        if (slot.text != 0) {
            const auto* const from = reinterpret_cast<const char*>(memory->at(slot.text));
            text.assign(from, slot.length);
            hash = slot.hash;
            return false;
        }
        if (slot.planner != 0 && slot.planner != own_pid_ &&
            !company->watch.has_ended(slot.planner)) {
            return false;
        }
        slot.planner = own_pid_;
        return true;
    };
    for (auto pause = 50us; !is_ours();
         pause = std::min(pause * 2, std::chrono::microseconds(2ms))) {
        if (!text.empty()) {
            Plan plan = read_plan(text, hash);
            remember(key, plan);
            return plan;
        }
        if (is_broken()) {
            throw_failure(); // Whoever noticed says who is to blame.
        }
        if (now_ns() >= deadline) {
            throw Error(Errc::timeout, "process " + std::to_string(slot.planner) +
                                           " has not finished the plan of this operation within "
                                           "the deadline");
        }
        company->watch.look();
        std::this_thread::sleep_for(pause);
    }
    try {
        Plan plan = known_plan(key);
        const std::string bytes = plan::to_bytes(plan);
        const std::string digest = plan_hash(plan);
        const std::lock_guard lock(*memory);
        const Offset where = fabric.arena().allocate(bytes.size());
        std::memcpy(memory->at(where), bytes.data(), bytes.size());
        std::copy_n(digest.begin(), slot.hash.size(), slot.hash.begin());
        slot.length = bytes.size();
        slot.text = where;
        return plan;
    } catch (...) {
        const std::lock_guard lock(*memory);
        slot.planner = 0; // Others try for themselves and fail for themselves.
        throw;
    }
}

} // namespace corymb::detail
