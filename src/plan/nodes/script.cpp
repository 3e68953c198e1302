// SPDX-License-Identifier: Apache-2.0
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace corymb::nodes {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Whether `next` begins in the same buffer where `last` ends; nothing follows nothing.
bool follows(const Blocks& last, const Blocks& next) {
    if (last.count == 0 || next.count == 0) {
        return last.count == next.count;
    }
    return last.buffer == next.buffer && last.first + last.count == next.first;
}

Blocks swapped(Blocks blocks) {
    if (blocks.buffer != Buffer::scratch) {
        blocks.buffer = blocks.buffer == Buffer::input ? Buffer::output : Buffer::input;
    }
    return blocks;
}

} // namespace

void Script::move(Rank from, Rank to, Blocks source, Blocks target) {
    add({from, to, source, target, {}});
}

void Script::fold(Rank from, Rank to, Blocks source, Blocks target, Blocks own, bool precedes) {
    add({from, to, source, target, own, precedes});
}

void Script::add(const Transfer& move) {
    if (move.source.count == 0) {
        return;
    }
    Round& round = rounds_.back();
    if (!round.empty()) {
        Transfer& last = round.back();
        if (last.from == move.from && last.to == move.to && follows(last.source, move.source) &&
            follows(last.target, move.target) && follows(last.own, move.own)) {
            last.source.count += move.source.count;
            last.target.count += move.target.count;
            last.own.count += move.own.count;
            return;
        }
    }
    round.push_back(move);
}

Blocks Script::scratch(Rank rank, std::size_t count) {
    const Blocks blocks{Buffer::scratch, used_[at(rank)], static_cast<std::uint32_t>(count)};
    used_[at(rank)] += blocks.count;
    return blocks;
}

Script Script::reversed() const {
    Script back(*layout_);
    back.used_ = used_;
    for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round) {
        back.begin_round();
        for (const Transfer& move : *round) {
            back.move(move.to, move.from, swapped(move.target), swapped(move.source));
        }
    }
    return back;
}

void Script::play(PlanWriter& writer) const {
    writer.need_scratch(*std::ranges::max_element(used_));
    for (const Round& round : rounds_) {
        play(writer, round);
    }
}

/// An edge within a node holds few messages: the second of a pair of ranks waits for a turn of its
/// own.
void Script::play(PlanWriter& writer, const Round& round) const {
    std::map<std::pair<Rank, Rank>, std::size_t> sent;
    std::vector<Round> turns(1);
    for (const Transfer& move : round) {
        if (move.from == move.to) {
            writer.copy(move.from, move.source, move.target);
            continue;
        }
        std::size_t turn = 0;
        if (layout_->node_of_rank[at(move.from)] == layout_->node_of_rank[at(move.to)]) {
            turn = sent[{move.from, move.to}]++;
        }
        turns.resize(std::max(turns.size(), turn + 1));
        turns[turn].push_back(move);
    }
    for (const Round& turn : turns) {
        writer.round(turn);
    }
}

Layout actors(const Layout& layout, const Scheme& scheme) {
    if (scheme.roles == Roles::runs) {
        return layout.runs();
    }
    if (scheme.roles != Roles::flat) {
        return layout;
    }
    std::vector<int> alone(at(layout.size()));
    int number = 0;
    for (const auto& node : layout.nodes) {
        for (const Rank rank : node) {
            alone[at(rank)] = number++;
        }
    }
    return Layout(alone);
}

bool is_run(std::span<const Rank> ranks) {
    return std::ranges::adjacent_find(ranks, [](Rank a, Rank b) { return b != a + 1; }) ==
           ranks.end();
}

} // namespace corymb::nodes
