// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/sentinels.hpp"

#include "base/random.hpp"
#include "machine/discover/pair_table.hpp"

#include <algorithm>
#include <set>

namespace corymb::discover {
namespace {

/// False also when either is missing: a CPU that is busy is no evidence.
bool moved(double before, double now) {
    constexpr double factor = 1.6;
    return now > factor * before || before > factor * now;
}

} // namespace

Sentinels::Sentinels(PairProbe& probe, std::uint64_t seed) : probe_(&probe) {
    constexpr std::size_t pairs_max = 20;
    const auto size = static_cast<std::uint32_t>(probe.size());
    Random random(seed);
    std::set<std::pair<int, int>> chosen;
    const std::size_t count = std::min<std::size_t>(pairs_max, std::size_t{size} * (size - 1) / 2);
    while (chosen.size() < count) {
        const int a = static_cast<int>(random.below(size));
        const int b = static_cast<int>(random.below(size));
        if (a != b) {
            chosen.insert(std::minmax(a, b));
        }
    }
    pairs_.assign(chosen.begin(), chosen.end());
}

double Sentinels::cost(int first, int second) {
    std::int64_t batches = 0;
    std::int64_t dropped = 0;
    return estimate_pair(*probe_, first, second, Effort{.batches_max = 12}, batches, dropped)
        .cost();
}

int Sentinels::changed(double end_s) {
    const bool first_time = before_.empty();
    int count = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        if (probe_->interrupted() || probe_->elapsed_s() >= end_s) {
            break;
        }
        const auto [a, b] = pairs_[i];
        if (first_time) {
            before_.push_back(cost(a, b));
        } else if (moved(before_[i], cost(a, b)) && moved(before_[i], cost(a, b))) {
            ++count;
        }
    }
    if (first_time) {
        pairs_.resize(before_.size());
    }
    return count;
}

} // namespace corymb::discover
