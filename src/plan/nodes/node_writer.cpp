// SPDX-License-Identifier: Apache-2.0
#include "plan/nodes/node_writer.hpp"

#include "plan/places.hpp"

#include <algorithm>

namespace corymb::nodes {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

} // namespace

NodeWriter::NodeWriter(Collective op, const Layout& layout, const Scheme& scheme,
                       std::uint64_t bytes, std::uint32_t blocks, Rank root)
    : layout_(layout), inside_(scheme.inside), stores_(at(layout.size()), 0) {
    plan_.op = op;
    plan_.root = root;
    plan_.block_count = op == Collective::barrier ? 0 : blocks;
    plan_.bytes_max = std::max<std::uint64_t>(bytes, 1);
    plan_.algorithm = name_of(scheme);
    plan_.steps.resize(at(layout.size()));
}

bool NodeWriter::is_far(const Arrival& message) const {
    return layout_.node_of_rank[at(message.from)] != layout_.node_of_rank[at(message.to)];
}

bool NodeWriter::fits_line(std::uint32_t places) const {
    return plan::most_bytes_of(plan_, places) <= line_payload_bytes;
}

Mechanism NodeWriter::via(const Arrival& message) const {
    if (is_far(message)) {
        return Mechanism::network;
    }
    if (fits_line(message.source.count)) {
        return Mechanism::line;
    }
    return inside_ == Inside::shared ? Mechanism::pull : Mechanism::cells;
}

void NodeWriter::send(const Arrival& message) {
    add(message.from, {.kind = StepKind::send,
                       .via = via(message),
                       .peer = message.to,
                       .to = {},
                       .from = message.source});
}

void NodeWriter::receive(const Arrival& message) {
    const bool folds = message.own.count > 0;
    add(message.to, {.kind = folds ? StepKind::fold : StepKind::recv,
                     .via = via(message),
                     .peer = message.from,
                     .to = message.target,
                     .from = message.own,
                     .ordinal = 0,
                     .incoming_first = folds && (message.precedes || message.from < message.to)});
}

void NodeWriter::round(std::span<const Arrival> messages, bool known) {
    std::vector<Arrival> far;
    std::vector<Arrival> near;
    for (const Arrival& message : messages) {
        if (message.source.count > 0) {
            (is_far(message) ? far : near).push_back(message);
            if (!known && via(message) == Mechanism::pull) {
                lent_to_.emplace_back(message.from, message.to);
            }
        }
    }
    std::ranges::for_each(far, [this](const Arrival& message) { send(message); });
    local_round(near);
    std::ranges::for_each(far, [this](const Arrival& message) { receive(message); });
}

/// A message longer than a cell holds its sender until the receiver comes. Such messages go one
/// after the other as far as they share ranks: into every second receiver first.
void NodeWriter::local_round(std::span<const Arrival> messages) {
    const bool any_long = std::ranges::any_of(messages, [this](const Arrival& message) {
        return via(message) == Mechanism::cells &&
               message.source.count * plan_.block_bytes(plan_.bytes_max) > cell_bytes;
    });
    if (!any_long) {
        std::ranges::for_each(messages, [this](const Arrival& message) { send(message); });
        std::ranges::for_each(messages, [this](const Arrival& message) { receive(message); });
        return;
    }
    for (const std::size_t parity : {0u, 1u}) {
        for (std::size_t i = parity; i < messages.size(); i += 2) {
            send(messages[i]);
            receive(messages[i]);
        }
    }
}

void NodeWriter::give(std::span<const Gift> gifts) {
    if (inside_ == Inside::shared) {
        store(gifts);
        return;
    }
    for (const Gift& gift : gifts) {
        pass_down(gift);
    }
}

void NodeWriter::store(std::span<const Gift> gifts) {
    const auto is_empty = [this](const Gift& gift) {
        return gift.members.size() < 2 || (gift.blocks.count == 0 && plan_.block_count > 0);
    };
    const auto how = [this](const Gift& gift) {
        return gift.blocks.count == 0         ? Mechanism::none
               : fits_line(gift.blocks.count) ? Mechanism::line
                                              : Mechanism::pull;
    };
    std::vector<std::uint32_t> ordinal;
    for (const Gift& gift : gifts) {
        ordinal.push_back(stores_[at(gift.from)]);
        if (!is_empty(gift)) {
            ++stores_[at(gift.from)];
            add(gift.from, {.kind = StepKind::publish,
                            .via = how(gift),
                            .peer = -1,
                            .to = {},
                            .from = gift.blocks});
        }
    }
    for (std::size_t i = 0; i < gifts.size(); ++i) {
        const Gift& gift = gifts[i];
        for (const Rank member : gift.members) {
            if (is_empty(gift) || member == gift.from) {
                continue;
            }
            add(member, {.kind = StepKind::read,
                         .via = how(gift),
                         .peer = gift.from,
                         .to = gift.blocks,
                         .from = {},
                         .ordinal = ordinal[i]});
            if (how(gift) == Mechanism::pull) {
                lent_to_.emplace_back(gift.from, member);
            }
        }
    }
}

/// Down a binomial tree over the members, counted from the giver.
void NodeWriter::pass_down(const Gift& gift) {
    const auto count = gift.members.size();
    if (count < 2) {
        return;
    }
    const auto giver =
        static_cast<std::size_t>(std::ranges::find(gift.members, gift.from) - gift.members.begin());
    const auto member = [&](std::size_t place) {
        return gift.members[(giver + place) % count];
    };
    std::size_t distance = 1;
    while (distance < count) {
        distance *= 2;
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        for (std::size_t place = 0; place + distance < count; place += 2 * distance) {
            const Rank from = member(place);
            const Rank to = member(place + distance);
            if (plan_.block_count == 0) {
                signal(from, to);
            } else if (gift.blocks.count > 0) {
                send({from, to, gift.blocks, gift.blocks, {}});
                receive({from, to, gift.blocks, gift.blocks, {}});
            }
        }
    }
}

void NodeWriter::copy(Rank rank, Blocks from, Blocks to) {
    add(rank, {.kind = StepKind::copy, .via = Mechanism::none, .peer = -1, .to = to, .from = from});
}

void NodeWriter::signal(Rank from, Rank to) {
    signal_only(from, to);
    wait_only(to, from);
}

void NodeWriter::signal_only(Rank from, Rank to) {
    add(from, {.kind = StepKind::signal, .peer = to});
}

void NodeWriter::wait_only(Rank rank, Rank from) {
    add(rank, {.kind = StepKind::wait, .peer = from});
}

Plan NodeWriter::finished() && {
    std::ranges::sort(lent_to_);
    const auto repeated = std::ranges::unique(lent_to_);
    lent_to_.erase(repeated.begin(), repeated.end());
    for (const auto& [owner, reader] : lent_to_) {
        add(reader, {.kind = StepKind::signal, .peer = owner});
    }
    for (const auto& [owner, reader] : lent_to_) {
        add(owner, {.kind = StepKind::wait, .peer = reader});
    }
    return std::move(plan_);
}

} // namespace corymb::nodes
