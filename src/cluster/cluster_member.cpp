// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_member.hpp"

#include "base/clock.hpp"
#include "team/member.hpp"
#include "team/statistics.hpp"

#include <exception>
#include <memory>
#include <utility>

namespace corymb::cluster {

namespace {

/// Plans over several nodes do not change in the middle of a program whose sums depend on them.
detail::Call as_planned_here(detail::Call call) {
    call.key.stays = false;
    return call;
}

} // namespace

ClusterMember::ClusterMember(detail::Member& local, Carrier& carrier, const ClusterOptions& options)
    : station_(local, carrier, options), pending_(station_, local.user),
      rehearsals_(options.rehearse && station_.nodes() > 1) {}

detail::Operation& ClusterMember::make(const detail::Call& call, bool is_persistent,
                                       std::shared_ptr<const void> keep) {
    const detail::Call own = as_planned_here(call);
    return is_persistent ? pending_.make_persistent(own, std::move(keep))
                         : pending_.make(own, std::move(keep));
}

void ClusterMember::run(const detail::Call& given) {
    const detail::Call call = as_planned_here(given);
    if (rehearsals_.is_due(call, size())) [[unlikely]] {
        rehearse(call);
    }
    if (!rehearsals_.is_open(call.key)) {
        pending_.run(call);
        return;
    }
    const std::int64_t began_ns = now_ns();
    pending_.run(call);
    rehearsals_.note(call.key, now_ns() - began_ns);
}

ChosenPlan ClusterMember::plan(const team::PlanKey& key) {
    FarKey* const known = pending_.blocking_key(key).get();
    if (!known->plan) {
        detail::Call call;
        call.key = key;
        known->plan = far_plan_of(station_, key, pending_.ask(call, [&](bool all_can_pull) {
            return station_.plan_texts(key, all_can_pull);
        }));
    }
    if (known->plan->refusal != nullptr) {
        std::rethrow_exception(known->plan->refusal);
    }
    return {key.op, key.root, key.bytes, known->plan->local.algorithm};
}

TeamStatistics ClusterMember::statistics() const {
    const std::vector<Rank>& members = station_.home.members;
    TeamStatistics all = detail::statistics_of(pending_.record(), static_cast<int>(members.size()));
    const TeamStatistics far = detail::statistics_of(pending_.far_waits(), size());
    all.waits += far.waits;
    all.waited += far.waited;
    const auto within = std::exchange(all.waited_for, far.waited_for);
    for (std::size_t place = 0; place < members.size(); ++place) {
        all.waited_for[static_cast<std::size_t>(members[place])] += within[place];
    }
    all.plans = pending_.chosen_plans();
    return all;
}

void ClusterMember::set_deadline(std::int64_t deadline_ns) noexcept {
    station_.deadline_ns = deadline_ns;
    pending_.set_deadline(deadline_ns);
}

} // namespace corymb::cluster
