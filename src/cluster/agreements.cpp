// SPDX-License-Identifier: Apache-2.0
#include "cluster/agreements.hpp"

#include "cluster/attic.hpp"

#include <utility>

namespace corymb::cluster {

Agreements::Agreement::Agreement(Station& station, FarKey& of, const team::PlanKey& its_key,
                                 int lane, int mark)
    : key(&of), which(its_key), mail(station, lane),
      exchange(std::make_unique<PlanExchange>(station, mail, its_key, mark)) {}

FarKey& Agreements::key_for(const team::PlanKey& which, int lane, int mark) {
    const auto [found, is_new] = keys_.try_emplace(which);
    if (is_new) {
        try {
            under_way_.emplace_back(*station_, found->second, which, lane, mark);
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
        const bool is_over = one->exchange->advance();
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

void Agreements::abandon_all() noexcept {
    for (Agreement& one : under_way_) {
        if (one.mail.abandon_all()) {
            keep_for_good(std::move(one.exchange));
        }
    }
    under_way_.clear();
}

} // namespace corymb::cluster
