// SPDX-License-Identifier: Apache-2.0
#include "plan/learning_sets.hpp"

#include "plan/step_kind.hpp"

#include <algorithm>

namespace corymb::plan {

LearningSets::LearningSets(const Matching& matching) : set_(at(matching.plan().size()), 0) {
    const auto has_offer = [](const std::vector<Step>& steps) {
        return std::ranges::find(steps, StepKind::offer, &Step::kind) != steps.end();
    };
    if (std::ranges::any_of(matching.plan().steps, has_offer)) {
        return;
    }
    collect_peers(matching);
    found_.assign(set_.size(), 0);
    lowest_.assign(set_.size(), 0);
    for (Rank rank = 0; rank < matching.plan().size(); ++rank) {
        if (found_[at(rank)] == 0) {
            search_from(rank);
        }
    }
}

void LearningSets::collect_peers(const Matching& matching) {
    peers_.resize(set_.size());
    for (StepNumber number = 0; number < matching.step_count(); ++number) {
        const Step& step = matching.step(number);
        if (has_source(step.kind) && step.via != Mechanism::network) {
            peers_[at(step.peer)].push_back(matching.rank_of(number));
        }
    }
    for (std::vector<Rank>& peers : peers_) {
        std::ranges::sort(peers);
        const auto repeated = std::ranges::unique(peers);
        peers.erase(repeated.begin(), repeated.end());
    }
}

void LearningSets::search_from(Rank start) {
    enter(start);
    while (!path_.empty()) {
        auto& [rank, next] = path_.back();
        if (next == peers_[at(rank)].size()) {
            leave();
            continue;
        }
        const Rank peer = peers_[at(rank)][next++];
        if (found_[at(peer)] == 0) {
            enter(peer);
        } else if (set_[at(peer)] == 0) {
            lowest_[at(rank)] = std::min(lowest_[at(rank)], found_[at(peer)]);
        }
    }
}

void LearningSets::enter(Rank rank) {
    found_[at(rank)] = lowest_[at(rank)] = ++count_;
    open_.push_back(rank);
    path_.emplace_back(rank, 0);
}

void LearningSets::leave() {
    const Rank rank = path_.back().first;
    path_.pop_back();
    if (!path_.empty()) {
        Rank& above = lowest_[at(path_.back().first)];
        above = std::min(above, lowest_[at(rank)]);
    }
    if (lowest_[at(rank)] != found_[at(rank)]) {
        return;
    }
    ++sets_;
    while (set_[at(rank)] == 0) {
        set_[at(open_.back())] = sets_;
        open_.pop_back();
    }
}

} // namespace corymb::plan
