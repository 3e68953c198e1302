// SPDX-License-Identifier: Apache-2.0
#include "base/usable_cpus.hpp"
#include "team/call.hpp"
#include "team/member.hpp"
#include "team/team_plans.hpp"
#include "team/whole_scatter.hpp"

#include <corymb/team.hpp>

#include <utility>

namespace corymb {

Team::Team(std::shared_ptr<detail::TeamShared> shared, Rank rank)
    : member_(new detail::Member(std::move(shared), rank), detail::let_go) {}

Team::Team(Team&& other) noexcept = default;
Team& Team::operator=(Team&& other) noexcept = default;
Team::~Team() = default;

Rank Team::rank() const noexcept {
    return member_ ? member_->whole_rank : -1;
}
int Team::size() const noexcept {
    return member_ ? member_->whole_size : 0;
}

std::size_t Team::memory() const {
    if (member_ == nullptr) {
        return 0;
    }
    member_->user.require_own_process();
    return member_->shared->fabric.arena().bytes();
}

detail::Member& Team::member() const {
    if (member_ == nullptr) [[unlikely]] {
        refuse_empty("team handle", "it was given back or moved from, or split gave this rank no "
                                    "team");
    }
    return *member_;
}

void Team::barrier() {
    detail::InCall(member())->barrier();
}

void Team::run(const CollectiveOperation& operation) {
    const detail::InCall own(member());
    if (detail::WholeScatter::is_needed_for(operation)) [[unlikely]] {
        detail::run_whole(rank(), size(), operation,
                          [&](const CollectiveOperation& whole) { own->run(whole); });
        return;
    }
    own->run(operation);
}

void Team::set_limits(const CallLimits& limits) {
    detail::InCall(member())->set_limits(limits);
}

CallLimits Team::limits() const {
    return detail::InCall(member())->limits();
}

void Team::abandon(const std::string& why) {
    member().user.require_own_process();
    member_->abandon(why);
}

void Team::leave() {
    if (member_ == nullptr) {
        return;
    }
    static_cast<void>(member_->user.enter()); // Refuses a forked child and a second thread.
    const std::shared_ptr<detail::TeamShared> shared = member_->shared;
    const bool was_broken = shared->is_broken() || shared->is_parents();
    if (member_->wide != nullptr && !was_broken) {
        member_->wide->leave();
    }
    member_.reset();
    if (!was_broken && shared->is_broken() && shared->failure().code == Errc::mismatch) {
        shared->throw_failure();
    }
}

namespace {

team::PlanKey key_of(const detail::Member& member, Collective op, std::uint64_t bytes, Rank root) {
    const bool barrier = op == Collective::barrier;
    detail::check_rank(root, member.whole_size, "root");
    team::PlanKey key{op, barrier ? 0 : root, barrier ? 0 : team::size_class(bytes)};
    key.reproducible = member.shared->is_reproducible(op);
    return key;
}

} // namespace

void Team::warm_up(Collective op, std::uint64_t bytes, Rank root, bool ordered) {
    const detail::InCall own(member());
    team::PlanKey key = key_of(*own, op, bytes, root);
    key.ordered = ordered && is_reduction(op);
    own->warm_up(key);
    if (is_reduction(op) &&
        own->wide == nullptr) { // Warms up also the plan of elements whose sums depend on the plan.
        key.stays = true;
        own->warm_up(key);
    }
}

const Plan& Team::plan(Collective op, std::uint64_t bytes, Rank root) {
    const detail::InCall own(member());
    own->require_one_node("plan", "a rank has the steps of its node only; chosen_plan names the "
                                  "plan, and make_plan with the cluster has all of its steps");
    return own->plan(key_of(*own, op, bytes, root));
}

ChosenPlan Team::chosen_plan(Collective op, std::uint64_t bytes, Rank root) {
    const detail::InCall own(member());
    return own->chosen_plan(key_of(*own, op, bytes, root));
}

TeamStatistics Team::statistics() const {
    return detail::InCall(member())->statistics();
}

std::vector<ChosenPlan> Team::chosen_plans() const {
    member().user.require_own_process();
    return member_->chosen_plans();
}

ThreadTeam::ThreadTeam(int size, const TeamOptions& options) {
    team::check_team_size(size);
    auto memory = std::make_shared<HeapMemory>();
    const Arena arena(*memory);
    shared_ = std::make_shared<detail::TeamShared>(memory, arena, size, options);
}

Team ThreadTeam::join(Rank rank) {
    detail::own_team(shared_).take(rank);
    if (shared_->oversubscribed && shared_->options.cpus.empty()) {
        // The kernel leaves threads that yield to each other where they are, also with most of them
        // on one CPU. Each thread then waits for the turns of the others there.
        start_on_one_of_own_cpus(static_cast<std::size_t>(rank));
    }
    return Team(shared_, rank);
}

int ThreadTeam::size() const noexcept {
    return shared_ == nullptr ? 0 : shared_->fabric.size();
}

void ThreadTeam::abandon(Rank rank, const std::string& why) {
    detail::own_team(shared_).abandon(rank, why);
}

} // namespace corymb
