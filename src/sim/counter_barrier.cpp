// SPDX-License-Identifier: Apache-2.0
#include "sim/charges.hpp"
#include "sim/shared_resource.hpp"

#include <corymb/simulate.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb {

namespace {

/// All in one known part.
bool are_together(const Machine& machine, std::span<const int> placement, Scope scope) {
    const int part = sim::part_number(machine, placement.front(), scope);
    return part >= 0 && std::ranges::all_of(placement, [&](int pu) {
               return sim::part_number(machine, pu, scope) == part;
           });
}

/// The curve for ranks on these PUs; null: there is none.
const SharedResource* word_of(const Machine& machine, std::span<const int> placement) {
    const SharedResource* narrowest = nullptr;
    for (const SharedResource& shared : machine.shared) {
        if (shared.use == SharedUse::word && are_together(machine, placement, shared.scope) &&
            (narrowest == nullptr || shared.scope < narrowest->scope)) {
            narrowest = &shared;
        }
    }
    return narrowest;
}

/// A store of the last rank until the last of the others, which poll, has it.
double release_of(const sim::Charges& charges, Rank ranks) {
    const Rank last = ranks - 1;
    std::vector<std::pair<double, Rank>> by_distance;
    double dearest = 0;
    for (Rank rank = 0; rank < last; ++rank) {
        by_distance.emplace_back(charges.receive(last, rank), rank);
        dearest = std::max(dearest, charges.send(last, rank));
    }
    std::ranges::sort(by_distance);
    double ahead = 0;
    double latest = 0;
    int place = 0;
    for (const auto& [distance, rank] : by_distance) {
        latest = std::max(latest, charges.publication_delay(last, rank, ++place, ahead));
        ahead += charges.send(last, rank);
    }
    return dearest + latest;
}

} // namespace

CounterBarrier counter_barrier(const Machine& machine, std::span<const int> placement) {
    const sim::Charges charges(machine, placement, 0);
    const auto ranks = static_cast<Rank>(placement.size());
    CounterBarrier barrier;
    if (ranks < 2) {
        return barrier;
    }
    if (const SharedResource* word = word_of(machine, placement)) {
        barrier.arrival = sim::word_time(*word, ranks);
        barrier.origin = word->origin;
    } else {
        for (Rank rank = 1; rank < ranks; ++rank) {
            barrier.arrival += charges.receive(rank - 1, rank);
        }
    }
    barrier.release = release_of(charges, ranks);
    return barrier;
}

} // namespace corymb
