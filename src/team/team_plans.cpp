// SPDX-License-Identifier: Apache-2.0
#include "team/team_plans.hpp"

#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "team/background.hpp"
#include "team/explain.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <array>
#include <stop_token>
#include <unistd.h>
#include <utility>

namespace corymb::detail {

namespace {

/// The answers to the questions of a lane about a key; in the arena, under its lock.
struct Answers {
    std::array<std::uint8_t, TeamPlans::turns_max> answer; ///< 0: nobody has asked yet.
};
/// Plans go from thread to thread under the lock of the memory of plans, so counters need no order.
constexpr auto relaxed = std::memory_order_relaxed;

constexpr std::uint8_t to_stay = 1;
constexpr std::uint8_t to_go_over = 2;

bool uses(const Plan& plan, Mechanism via) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [via](const auto& steps) {
        return std::any_of(steps.begin(), steps.end(),
                           [via](const Step& step) { return step.via == via; });
    });
}

/// The properties of a team that its plans must satisfy.
struct Terms {
    int size;
    bool pull;
    bool push;
};

/// Slots that the channels of cells have where plans of the key run.
std::uint32_t cell_slots_of(const team::PlanKey& key, int size) {
    return static_cast<std::uint32_t>(key.short_channels ? team::shared_cell_ring_slots(size)
                                                         : channel::cell_ring_slots(size));
}

/// Throws Errc::invalid_plan for a plan of something else than the key names.
void check_subject(const Plan& plan, const team::PlanKey& key, const Terms& terms) {
    // Other ranks than the root need not have given the buffers that the root has.
    const bool is_at_root = !is_rooted(key.op) || plan.root == key.root;
    if (plan.size() != terms.size || plan.op != key.op || plan.bytes_max < key.bytes ||
        !is_at_root) {
        throw Error(Errc::invalid_plan, "the plan source returned a plan for another operation, "
                                        "root, size or payload");
    }
}

/// Throws Errc::invalid_plan for a plan that the team cannot run for the key.
void check_fit(const plan::ProvenPlan& proven, const team::PlanKey& key, const Terms& terms) {
    const Plan& plan = *proven;
    check_subject(plan, key, terms);
    if (key.ordered && !proven.is_ordered()) {
        throw Error(Errc::invalid_plan,
                    plan.algorithm + " was not proven to combine in the order of the ranks");
    }
    team::check_one_block(key, plan);
    if (uses(plan, Mechanism::network)) {
        throw Error(Errc::unsupported, plan.algorithm + " is a plan for several nodes; a team's "
                                                        "ranks share memory");
    }
    if (plan.cell_slots > cell_slots_of(key, terms.size)) {
        throw Error(Errc::invalid_plan,
                    plan.algorithm + " counts on " + std::to_string(plan.cell_slots) +
                        " slots in each channel of cells, which have " +
                        std::to_string(cell_slots_of(key, terms.size)) +
                        " here; the plan source must look at PlanNeed::cell_slots");
    }
    if (key.keeps_parts && !proven.keeps_parts()) {
        throw Error(Errc::invalid_plan, plan.algorithm +
                                            " does not keep parts of different lengths apart "
                                            "(keeps_parts); the plan source must look at "
                                            "PlanNeed::keeps_parts");
    }
    if (!terms.pull && uses(plan, Mechanism::pull)) {
        throw Error(Errc::invalid_plan, plan.algorithm +
                                            " copies out of other ranks' buffers, which "
                                            "some processes of this team cannot "
                                            "(ProcessTeam::notes); plan with cells");
    }
    if (!terms.push && uses(plan, Mechanism::push)) {
        throw Error(Errc::invalid_plan, plan.algorithm +
                                            " writes into other ranks' buffers, which some "
                                            "processes of this team cannot (ProcessTeam::notes); "
                                            "plan without `push` (PlanRequest::push)");
    }
}

/// Whether a plan for one root serves another one, with the ranks renumbered.
bool may_be_renumbered(const team::PlanKey& key) {
    return (is_rooted(key.op) || key.root_first) && !key.ordered && !key.reproducible;
}

/// The bit in the number of a team's second plan for a key; PlanKey::number leaves it free.
constexpr std::uint64_t better_plan = std::uint64_t{1} << 12;

team::SharedPlan shared_plan(plan::ProvenPlan plan, std::uint64_t number) {
    team::Readers readers = team::publication_readers(*plan);
    return {std::move(plan), number, std::move(readers)};
}

Terms terms_of(const TeamShared& team) {
    return {team.fabric.size(), !team.company || team.company->pull,
            !team.company || team.company->push};
}

} // namespace

TeamPlans::TeamPlans(TeamShared& team, team::DefaultPlans made)
    : team_(team), made_(std::move(made)), own_cpus_(affinity_mask()),
      own_pid_(static_cast<std::uint32_t>(::getpid())),
      is_searching_(std::make_shared<std::atomic<bool>>(false)) {}

TeamPlans::~TeamPlans() = default;

/// The lock, as soon as no other rank of this process makes a plan.
std::unique_lock<std::mutex> TeamPlans::lock_for(const team::PlanKey& key, PlanWait& wait) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    while (!lock.owns_lock()) {
        wait.nap(key, [this] { return std::vector<int>{planner_.load(relaxed)}; });
        static_cast<void>(lock.try_lock());
    }
    planner_.store(wait.rank(), relaxed);
    wait_ = &wait;
    return lock;
}

// Agreement among ranks
// -------------------------------------------------------------------------------------------------

TeamPlans::Agreed TeamPlans::agree(team::LaneId lane, const team::PlanKey& key, unsigned turn,
                                   std::int64_t spent_ns, PlanWait& wait) {
    const auto lock = lock_for(key, wait);
    return agree_on_one(lane, key, turn, spent_ns, false);
}

TeamPlans::Agreed TeamPlans::agree_on_best(team::LaneId lane, const team::PlanKey& key,
                                           unsigned turn, PlanWait& wait) {
    const auto lock = lock_for(key, wait);
    return agree_on_one(lane, key, turn, 0, true);
}

TeamPlans::Agreed TeamPlans::agree_on_one(team::LaneId lane, const team::PlanKey& key,
                                          unsigned turn, std::int64_t spent_ns, bool for_best) {
    Entry& entry = entry_of(key);
    Agreed agreed{&entry.first, true};
    if (!entry.is_last) {
        unsigned& counted = entry.turns_counted[lane];
        if (for_best && !has_better(key, entry)) {
            const Known best = team_.company ? common_plan(key, Version::better) : best_plan(key);
            entry.better = shared_plan(best->plan, key.number() | better_plan);
        } else if (turn > counted) { // The first of this process's ranks tells for all.
            counted = turn;
            search_if_due(key, spent_ns);
        }
        agreed = decide(lane, key, turn, entry, for_best);
    }
    if (!key.short_channels &&
        agreed.plan->plan->cell_slots > team::lane_cell_ring_slots(lane, team_.fabric.size())) {
        team::PlanKey other = key;
        other.short_channels = true;
        return agree_on_one(lane, other, turn, spent_ns, for_best);
    }
    return agreed;
}

/// The rank that asks first decides for all.
TeamPlans::Agreed TeamPlans::decide(team::LaneId lane, const team::PlanKey& key, unsigned turn,
                                    Entry& entry, bool for_best) {
    if (key.stays && !for_best) {
        // The lane still asks, because its time counts for later teams.
        return {&entry.first, false};
    }
    const bool is_there = has_better(key, entry);
    ArenaKey place{static_cast<std::uint32_t>(team::Kind::answers), lane};
    place.id = key.number();
    auto& answers = team_.fabric.arena().find_or_make<Answers>(place);
    std::uint8_t answer = 0;
    {
        const std::lock_guard lock(*team_.memory);
        auto& known = answers.answer[turn];
        known = known != 0 ? known : is_there ? to_go_over : to_stay;
        answer = known;
    }
    if (answer == to_stay) {
        return {&entry.first, false};
    }
    if (!is_there && !has_better(key, entry)) {
        throw Error(Errc::invalid_plan, "a better plan that the ranks have agreed on is gone");
    }
    entry.used = lane == 0 ? &*entry.better : entry.used;
    return {&*entry.better, true};
}

const Plan& TeamPlans::in_use(const team::PlanKey& key, Rank rank) {
    PlanWait wait(team_, rank, team_.deadline_ns);
    const auto lock = lock_for(key, wait);
    return *entry_of(key).used->plan;
}

std::vector<ChosenPlan> TeamPlans::chosen() const {
    const std::lock_guard lock(mutex_);
    std::vector<ChosenPlan> chosen;
    for (const auto& [key, known] : entries_) {
        ChosenPlan one{key.op, key.root, key.bytes, known.used->plan->algorithm};
        const bool is_told = !chosen.empty() && chosen.back().op == one.op &&
                             chosen.back().root == one.root && chosen.back().bytes == one.bytes &&
                             chosen.back().algorithm == one.algorithm;
        if (!is_told) { // Calls that keep their plan and calls that do not.
            chosen.push_back(std::move(one));
        }
    }
    return chosen;
}

// Plans
// -------------------------------------------------------------------------------------------------

TeamPlans::Entry& TeamPlans::entry_of(const team::PlanKey& key) {
    if (const auto found = entries_.find(key); found != entries_.end()) {
        return found->second;
    }
    const Known known = team_.company ? common_plan(key, Version::first) : known_plan(key);
    return entries_.try_emplace(key, shared_plan(known->plan, key.number()), known->is_best)
        .first->second;
}

/// Whether ranks can go over to a better plan.
bool TeamPlans::has_better(const team::PlanKey& key, Entry& entry) {
    if (entry.better) {
        return true;
    }
    if (team_.company) {
        if (const Known known = published(key, Version::better)) {
            entry.better = shared_plan(known->plan, key.number() | better_plan);
            return true;
        }
    }
    Known known = team::remembered_plan(origin_of(key));
    if (!known || !known->is_best) {
        const auto likeness = likeness_of(key);
        if (!likeness) {
            return false;
        }
        team::PlanKey other = key;
        other.root = likeness->like;
        known = team::remembered_plan(origin_of(other));
        if (!known || !known->is_best) {
            return false;
        }
        known = renumbered(key, *known, likeness->rank_of);
    }
    if (!known) {
        return false;
    }
    entry.better = shared_plan(known->plan, key.number() | better_plan);
    if (team_.company) {
        publish(key, Version::better, *known);
    }
    return true;
}

/// The plan as this process has seen it before or makes it now.
TeamPlans::Known TeamPlans::known_plan(const team::PlanKey& key) {
    if (team_.plans_given) {
        Plan plan = team_.options.plans(need_of(key));
        check_subject(plan, key, terms_of(team_));
        const plan::ProvenPlan proven(std::move(plan), key.ordered);
        check_fit(proven, key, terms_of(team_));
        return std::make_shared<team::KnownPlan>(proven, true);
    }
    const team::PlanOrigin origin = origin_of(key);
    if (Known known = team::remembered_plan(origin)) {
        return known;
    }
    if (const auto likeness = likeness_of(key)) {
        team::PlanKey other = key;
        other.root = likeness->like;
        const Known like = team_.company ? common_plan(other, Version::first) : known_plan(other);
        if (Known known = renumbered(key, *like, likeness->rank_of)) {
            return known;
        }
    }
    const std::int64_t begin = now_ns();
    const DecidingNumbers numbers;
    team::FairPlan fair = made_.fair(need_of(key));
    check_fit(fair.plan, key, terms_of(team_));
    const std::int64_t taken = now_ns() - begin;
    team::explain_plan(key, *fair.plan, fair.is_best ? "known or searched for" : "made", taken,
                       numbers.all());
    return team::remember_plan(
        origin, std::move(fair.plan), fair.is_best,
        static_cast<std::int64_t>(static_cast<double>(taken) * made_.times_as_long));
}

/// The plan after a search. The search is skipped if a best plan is remembered.
TeamPlans::Known TeamPlans::best_plan(const team::PlanKey& key) {
    const team::PlanOrigin origin = origin_of(key);
    if (Known known = team::remembered_plan(origin); known && known->is_best) {
        return known;
    }
    if (const auto likeness = likeness_of(key)) {
        team::PlanKey other = key;
        other.root = likeness->like;
        if (Known known = renumbered(key, *best_plan(other), likeness->rank_of)) {
            return known;
        }
    }
    const std::int64_t begin = now_ns();
    const DecidingNumbers numbers;
    const plan::ProvenPlan plan = *made_.search(need_of(key), {});
    check_fit(plan, key, terms_of(team_));
    team::explain_plan(key, *plan, "searched for", now_ns() - begin, numbers.all());
    return team::remember_plan(origin, plan, true);
}

/// The plan of a root that is like the key's; null when its messages would come apart.
TeamPlans::Known TeamPlans::renumbered(const team::PlanKey& key, const team::KnownPlan& like,
                                       const std::vector<Rank>& rank_of) {
    const std::int64_t begin = now_ns();
    auto plan = plan::renumbered(*like.plan, rank_of);
    if (!plan) {
        return nullptr;
    }
    const plan::ProvenPlan proven(*std::move(plan), key.ordered);
    check_fit(proven, key, terms_of(team_));
    team::explain_plan(key, *proven, "renumbered", now_ns() - begin);
    return team::remember_plan(origin_of(key), proven, like.is_best);
}

std::optional<plan::Likeness> TeamPlans::likeness_of(const team::PlanKey& key) const {
    return made_.alike && may_be_renumbered(key) ? made_.alike(key.root) : std::nullopt;
}

PlanNeed TeamPlans::need_of(const team::PlanKey& key) const {
    return {.op = key.op,
            .size = team_.fabric.size(),
            .root = key.root,
            .bytes = key.bytes,
            .ordered = key.ordered,
            .keeps_parts = key.keeps_parts,
            .reproducible = key.reproducible,
            .root_first = key.root_first,
            .cell_slots = cell_slots_of(key, team_.fabric.size()),
            .one_block = key.one_block};
}

team::PlanOrigin TeamPlans::origin_of(const team::PlanKey& key) const {
    const team::Company* const company = team_.company.get();
    team::PlanKey kind = key;
    // PlanOrigin is the same for calls whose plan stays: `stays` is about calls, not plans.
    kind.stays = false;
    return {.cpu_of_rank = team_.options.cpus,
            .cpus = company == nullptr || company->cpus.empty() ? own_cpus_ : company->cpus,
            .size = team_.fabric.size(),
            .are_processes = company != nullptr,
            .pull = company == nullptr || company->pull,
            .push = company == nullptr || company->push,
            .way = company != nullptr ? team::faster_way(company->copies, company->cells_gbs)
                                      : team::FasterWay::unknown,
            .usable = team_.cpus.usable,
            .key = kind};
}

// Searching
// -------------------------------------------------------------------------------------------------

/// The key of which calls of this one are a kind.
team::PlanKey TeamPlans::kind_of(const team::PlanKey& key) const {
    team::PlanKey kind = key;
    if (const auto likeness = likeness_of(key)) {
        kind.root = likeness->like;
    }
    return kind;
}

void TeamPlans::search_if_due(const team::PlanKey& key, std::int64_t spent_ns) {
    const team::PlanKey kind = kind_of(key);
    const Known known = team::remembered_plan(origin_of(kind));
    if (!known || known->is_best || known->search_ns == 0) {
        return;
    }
    const std::int64_t spent = known->spent_ns.fetch_add(spent_ns, relaxed) + spent_ns;
    if (spent >= known->search_ns && !is_searching_->load(relaxed) &&
        !known->is_searched_for.exchange(true, relaxed)) {
        search(kind, known);
    }
}

/// Starts a search. A plan that it finds is proven and remembered, for this team and others.
void TeamPlans::search(const team::PlanKey& key, const Known& known) {
    is_searching_->store(true, relaxed);
    const auto work = [find = made_.search, key, need = need_of(key), terms = terms_of(team_),
                       origin = origin_of(key), known,
                       is_searching = is_searching_](const std::stop_token& stop) {
        try {
            const DecidingNumbers numbers;
            const std::int64_t begin = now_ns();
            if (const auto plan = find(need, stop)) {
                check_fit(*plan, key, terms);
                team::explain_plan(key, **plan, "searched for beside the calls", now_ns() - begin,
                                   numbers.all());
                team::remember_plan(origin, *plan, true);
            } else {
                known->is_searched_for.store(false, relaxed); // Another team may finish the search.
            }
        } catch (const std::exception&) { // The plan that is there stays.
        }
        is_searching->store(false, relaxed);
    };
    if (!team::start_in_background(searcher_, own_cpus_, work)) {
        is_searching_->store(false, relaxed); // No thread to be had: the plan that is there stays.
    }
}

} // namespace corymb::detail
