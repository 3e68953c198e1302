// SPDX-License-Identifier: Apache-2.0
#include "plan/nodes/track.hpp"

#include "plan/nodes/script.hpp"

#include <algorithm>

namespace corymb::nodes {

std::uint32_t Track::settle(Exchange exchange, std::uint32_t base) {
    base_ = base;
    start_ = {0};
    parts_.clear();
    bool single_runs = true;
    for (const Position& position : positions_) {
        start_.push_back(start_.back() + static_cast<std::uint32_t>(position.parts.size()));
        parts_.insert(parts_.end(), position.parts.begin(), position.parts.end());
        single_runs = single_runs && is_run(position.parts);
    }
    run_starts_.clear();
    for (std::uint32_t k = 1; k < places(); ++k) {
        if (parts_[k] != parts_[k - 1] + 1) {
            run_starts_.push_back(k);
        }
    }
    rotated_ = exchange == Exchange::bruck && size() > 1;
    in_scratch_ = rotated_ || !(exchange == Exchange::ring ? single_runs : run_starts_.empty());
    return in_scratch_ ? places() : 0;
}

Blocks Track::range(std::size_t holder, std::size_t first, std::size_t count) const {
    const std::size_t end = first + count;
    const std::uint32_t whole = places();
    const std::uint32_t places_moved =
        end <= size() ? start_[end] - start_[first] : whole - start_[first] + start_[end - size()];
    if (places_moved == 0) {
        return {};
    }
    if (in_scratch_) {
        const std::uint32_t turn = rotated_ ? start_[holder] : 0;
        return {Buffer::scratch, base_ + (start_[first] + whole - turn) % whole, places_moved};
    }
    while (positions_[first].parts.empty()) {
        ++first; // A run that begins with positions that bring nothing.
    }
    return {Buffer::output, static_cast<std::uint32_t>(positions_[first].parts.front()),
            places_moved};
}

std::vector<std::pair<Blocks, Blocks>> Track::runs(std::size_t holder) const {
    const std::uint32_t turn = rotated_ ? start_[holder] : 0;
    std::vector<std::pair<Blocks, Blocks>> runs;
    const auto add = [&](std::uint32_t first, std::uint32_t count) {
        const std::uint32_t place = base_ + (first + places() - turn) % places();
        const auto target = static_cast<std::uint32_t>(parts_[first]);
        if (!runs.empty() && runs.back().second.first + runs.back().second.count == target) {
            runs.back().first.count += count; // Round the end; the places follow each other, too.
            runs.back().second.count += count;
            return;
        }
        runs.push_back({{Buffer::scratch, place, count}, {Buffer::output, target, count}});
    };
    const auto add_all = [&](std::uint32_t begin, std::uint32_t end) {
        auto next = std::ranges::upper_bound(run_starts_, begin);
        while (begin < end) {
            const std::uint32_t stop = next == run_starts_.end() ? end : std::min(*next++, end);
            add(begin, stop - begin);
            begin = stop;
        }
    };
    add_all(turn, places());
    add_all(0, turn);
    return runs;
}

Rounds Track::rounds(Exchange exchange) const {
    switch (exchange) {
    case Exchange::ring: return ring_rounds(size());
    case Exchange::doubling: return doubling_rounds(size());
    default: return bruck_rounds(size());
    }
}

} // namespace corymb::nodes
