// SPDX-License-Identifier: Apache-2.0
// Operations whose data goes up or down: one leader a node, or every rank for itself; binomial
// trees or dissemination between them.
#include "plan/nodes/node_writer.hpp"
#include "plan/nodes/scheme.hpp"

#include <algorithm>
#include <utility>

namespace corymb::nodes {

namespace {

/// Groups that a leader each acts for, the root's first, led by the root; the others as they are
/// numbered.
std::vector<std::vector<Rank>> groups_of(const Layout& layout, const Scheme& scheme, Rank root) {
    std::vector<std::vector<Rank>> groups;
    for (const auto& node : layout.nodes) {
        if (scheme.roles == Roles::flat) {
            for (const Rank rank : node) {
                groups.push_back({rank});
            }
        } else {
            groups.push_back(node);
        }
    }
    const auto first = std::ranges::find_if(groups, [root](const std::vector<Rank>& group) {
        return std::ranges::find(group, root) != group.end();
    });
    std::rotate(groups.begin(), first, groups.end());
    std::iter_swap(groups.front().begin(), std::ranges::find(groups.front(), root));
    return groups;
}

std::size_t tree_top(std::size_t count) {
    std::size_t distance = 1;
    while (distance < count) {
        distance *= 2;
    }
    return distance / 2;
}

} // namespace

Plan broadcast(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    NodeWriter writer(Collective::broadcast, layout, scheme, bytes, 1, root);
    const auto groups = groups_of(layout, scheme, root);
    const Blocks data{Buffer::output, 0, 1};
    for (std::size_t distance = tree_top(groups.size()); distance > 0; distance /= 2) {
        std::vector<Arrival> messages;
        for (std::size_t g = 0; g + distance < groups.size(); g += 2 * distance) {
            messages.push_back({groups[g].front(), groups[g + distance].front(), data, data, {}});
        }
        writer.round(messages);
    }
    std::vector<Gift> gifts;
    for (const auto& group : groups) {
        gifts.push_back({group.front(), group, data});
    }
    writer.give(gifts);
    return std::move(writer).finished();
}

Plan reduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    NodeWriter writer(Collective::reduce, layout, scheme, bytes, 1, root);
    const auto groups = groups_of(layout, scheme, root);
    std::vector<bool> has_sum(static_cast<std::size_t>(layout.size()), false);
    const auto add = [&](std::vector<Arrival>& messages, Rank from, Rank to) {
        const Blocks input{Buffer::input, 0, 1};
        const Blocks sum{to == root ? Buffer::output : Buffer::scratch, 0, 1};
        const auto operand = [&](Rank rank, Blocks its_sum) {
            return has_sum[static_cast<std::size_t>(rank)] ? its_sum : input;
        };
        messages.push_back(
            {from, to, operand(from, {Buffer::scratch, 0, 1}), sum, operand(to, sum)});
    };
    writer.need_scratch(layout.size() > 1 ? 1 : 0);
    const auto round = [&](const std::vector<Arrival>& messages) {
        writer.round(messages);
        for (const Arrival& message : messages) {
            has_sum[static_cast<std::size_t>(message.to)] = true;
        }
    };
    for (std::size_t member = 1; member < static_cast<std::size_t>(layout.size()); ++member) {
        std::vector<Arrival> messages;
        for (const auto& group : groups) {
            if (member < group.size()) {
                add(messages, group[member], group.front());
            }
        }
        round(messages);
    }
    for (std::size_t distance = 1; distance < groups.size(); distance *= 2) {
        std::vector<Arrival> messages;
        for (std::size_t g = 0; g + distance < groups.size(); g += 2 * distance) {
            add(messages, groups[g + distance].front(), groups[g].front());
        }
        round(messages);
    }
    if (layout.size() == 1) {
        writer.copy(root, {Buffer::input, 0, 1}, {Buffer::output, 0, 1});
    }
    return std::move(writer).finished();
}

Plan barrier(const Layout& layout, const Scheme& scheme) {
    NodeWriter writer(Collective::barrier, layout, scheme, 0, 0);
    const auto groups = groups_of(layout, scheme, 0);
    for (const auto& group : groups) {
        for (std::size_t member = 1; member < group.size(); ++member) {
            writer.signal(group[member], group.front());
        }
    }
    const std::size_t size = groups.size();
    for (std::size_t distance = 1; distance < size; distance *= 2) {
        for (std::size_t g = 0; g < size; ++g) {
            writer.signal_only(groups[g].front(), groups[(g + distance) % size].front());
        }
        for (std::size_t g = 0; g < size; ++g) {
            writer.wait_only(groups[g].front(), groups[(g + size - distance) % size].front());
        }
    }
    std::vector<Gift> gifts;
    for (const auto& group : groups) {
        gifts.push_back({group.front(), group, {}});
    }
    writer.give(gifts);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
