// SPDX-License-Identifier: Apache-2.0
#include "cluster/agreements.hpp"

#include "cluster/attic.hpp"

#include <algorithm>
#include <utility>

namespace corymb::cluster {

Agreements::Agreement::Agreement(Station& station, FarKey& of, const detail::Call& call, int lane,
                                 const team::CallDigest& of_call)
    : key(&of), which(call.key), terms(call.terms), digest(of_call), mail(station, lane),
      exchange(std::make_unique<PlanExchange>(station, mail, which,
                                              Station::mark_of(of_call.signature()))) {}

FarKey& Agreements::key_for(const detail::Call& call, int lane, const team::CallDigest& digest) {
    const auto [found, is_new] = keys_.try_emplace(call.key);
    if (is_new) {
        try {
            under_way_.emplace_back(*station_, found->second, call, lane, digest);
        } catch (...) {
            keys_.erase(found);
            throw;
        }
    }
    return found->second;
}

void Agreements::go_on() {
    for (auto one = under_way_.begin(); one != under_way_.end();) {
        const std::size_t before = one->exchange->moves();
        bool is_over = false;
        try {
            is_over = one->foreign_from < 0 && one->exchange->advance();
        } catch (const ForeignMessage& met) {
            one->foreign_from = met.from;
        }
        if (is_over || one->exchange->moves() != before) {
            ++moves_;
        }
        if (!is_over) {
            const Rank peer = one->exchange->awaited();
            one->key->awaited = station_->home.is_far(peer) ? peer : -1;
            ++one;
            continue;
        }
        one->key->plan.emplace(far_plan_of(*station_, one->which, one->exchange->text()));
        one = under_way_.erase(one);
    }
}

std::vector<FarWait> Agreements::waits() const {
    std::vector<FarWait> all;
    for (const Agreement& one : under_way_) {
        FarWait wait;
        wait.sequence = one.mail.lane();
        wait.number = 1;
        wait.digest = one.digest.value();
        wait.last = {one.terms};
        if (say_where(wait, one.mail, one.foreign_from)) {
            all.push_back(std::move(wait));
        }
    }
    return all;
}

bool Agreements::has(int lane) const noexcept {
    return std::ranges::any_of(under_way_,
                               [lane](const Agreement& one) { return one.mail.lane() == lane; });
}

void Agreements::abandon_all() noexcept {
    for (Agreement& one : under_way_) {
        if (one.mail.abandon_all()) {
            keep_for_good(std::move(one.exchange));
        }
    }
    under_way_.clear();
}

} // namespace corymb::cluster
