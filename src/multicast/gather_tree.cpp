// SPDX-License-Identifier: Apache-2.0
#include "multicast/gather_tree.hpp"

#include <corymb/error.hpp>

#include <map>
#include <string>

namespace corymb::multicast {

namespace {

/// 64 MiB. A chain of 16,000 positions has half as many.
constexpr std::size_t parts_max = std::size_t{1} << 22;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(Errc::invalid_argument, "acknowledgements cannot gather up this tree: " + why);
}

/// The positions below each one, in one list: those below p are [first[p], first[p + 1]).
struct Below {
    explicit Below(std::span<const Position> parent) : first(parent.size() + 1) {
        const auto size = static_cast<Position>(parent.size());
        Position roots = 0;
        for (Position p = 0; p < size; ++p) {
            if (parent[p] >= size) {
                refuse("position " + std::to_string(parent[p]) + " is not there");
            }
            (parent[p] == p ? roots : first[parent[p] + 1]) += 1;
        }
        if (roots != 1) {
            refuse("it has " + std::to_string(roots) + " roots");
        }
        for (Position p = 0; p < size; ++p) {
            first[p + 1] += first[p];
        }
        list.resize(first.back());
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (Position p = 0; p < size; ++p) {
            if (parent[p] != p) {
                list[next[parent[p]]++] = p;
            }
        }
    }
    [[nodiscard]] std::span<const Position> of(Position p) const {
        return {list.data() + first[p], first[p + 1] - first[p]};
    }

    std::vector<std::uint32_t> first;
    std::vector<Position> list;
};

} // namespace

GatherTree::GatherTree(std::span<const Position> parent) : place_of_(parent.size()) {
    find_nodes(parent);
    find_members();
}

/// Breadth first, so that the nodes below a node are next to each other.
void GatherTree::find_nodes(std::span<const Position> parent) {
    const Below below(parent);
    Position root = 0;
    while (parent[root] != root) {
        ++root;
    }
    std::size_t reached = 1;
    const auto add = [this](Position position, std::uint32_t above) {
        Node& made = nodes_.emplace_back();
        made.position = made.first_below = position;
        made.parent = above;
    };
    add(root, 0);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        const Position at = nodes_[node].position;
        place_of_[at] = node;
        nodes_[node].below.begin = size();
        for (const Position child : below.of(at)) {
            ++reached;
            if (nodes_[node].first_below == at) {
                nodes_[node].first_below = child;
            }
            if (below.of(child).empty()) {
                place_of_[child] = node;
            } else {
                add(child, node);
            }
        }
        nodes_[node].below.end = size();
    }
    if (reached != parent.size()) {
        refuse("its root does not reach every position");
    }
}

void GatherTree::find_members() {
    using Set = std::map<std::uint32_t, std::uint64_t>; // Bits by word.
    std::vector<Set> direct(nodes_.size());
    for (Position p = 0; p < place_of_.size(); ++p) {
        direct[place_of_[p]][p / 64] |= bit_of(p);
    }
    const auto store = [this](const Set& set) {
        const auto begin = static_cast<std::uint32_t>(parts_.size());
        for (const auto& [word, bits] : set) {
            parts_.push_back({word, bits});
        }
        if (parts_.size() > parts_max) {
            refuse("it is too deep for " + std::to_string(place_of_.size()) +
                   " ranks; plan a reduce of another algorithm");
        }
        return Range{begin, static_cast<std::uint32_t>(parts_.size())};
    };
    std::vector<Set> subtree = direct;
    for (std::uint32_t node = size(); node-- > 0;) {
        nodes_[node].direct = store(direct[node]);
        nodes_[node].subtree = store(subtree[node]);
        if (node != 0) {
            Set& above = subtree[nodes_[node].parent];
            for (const auto& [word, bits] : subtree[node]) {
                above[word] |= bits;
            }
        }
        subtree[node].clear();
    }
}

} // namespace corymb::multicast
