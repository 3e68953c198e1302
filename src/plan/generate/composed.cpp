// SPDX-License-Identifier: Apache-2.0
// Plans composed along the machine's levels (plan/compose.hpp): groups of ranks by trees or by
// direct slices, their leaders by an algorithm for few ranks that are far apart, and that again
// for groups of groups. Hierarchical collectives as in HAN (Luo et al., IEEE Cluster 2020) and
// XHC (Katevenis, Ploumidis, Marazakis, IEEE Cluster 2022), from plans instead of code per level.
#include "plan/compose.hpp"
#include "plan/generate/family_list.hpp"
#include "plan/search/levels.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// The family that carries an operation among some ranks.
using Choose = const Family& (*)(Collective op);
struct Choices {
    Choose leaders; ///< Among the leaders of groups.
    Choose members; ///< Among the members of a group that is cut no further.
};

/// Some ranks of the request as a request of their own.
class Subset {
public:
    Subset(const GenerateInput& input, std::vector<Rank> ranks)
        : ranks_(std::move(ranks)), costs_(costs_of(input, ranks_)) {
        for (const Rank rank : ranks_) {
            if (!input.placement.empty()) {
                placement_.push_back(input.placement[at(rank)]);
            }
        }
    }

    /// Searches among some of the ranks are short: there are many of them.
    [[nodiscard]] GenerateInput input(const GenerateInput& whole, Rank root) const {
        GenerateInput part{.costs = costs_};
        part.machine = whole.machine;
        part.placement = placement_;
        part.root = root;
        part.bytes = whole.bytes;
        part.seed = whole.seed;
        const std::uint64_t moves_each = moves_of(whole) / (4 * at(whole.costs.size()));
        part.moves = std::max<std::uint64_t>(1, moves_each * ranks_.size());
        part.via = whole.via;
        part.blocks = whole.blocks;
        part.addresses_each = true;
        return part;
    }

private:
    static CostView costs_of(const GenerateInput& input, const std::vector<Rank>& ranks) {
        std::vector<float> send;
        std::vector<float> receive;
        for (const Rank from : ranks) {
            for (const Rank to : ranks) {
                const bool same = from == to;
                send.push_back(same ? 0.0F : static_cast<float>(input.costs.send(from, to)));
                receive.push_back(same ? 0.0F : static_cast<float>(input.costs.receive(from, to)));
            }
        }
        return {static_cast<Rank>(ranks.size()), std::move(send), std::move(receive)};
    }

    std::vector<Rank> ranks_;
    CostView costs_;
    std::vector<int> placement_;
};

class Recursion {
public:
    Recursion(const GenerateInput& whole, const Choices& choices, std::string_view name,
              std::vector<Partition> levels)
        : whole_(whole), choices_(choices), name_(name), levels_(std::move(levels)) {}

    /// The plan of `op` for `ranks`, cut by the levels from `level` on; `root` is a place in them.
    [[nodiscard]] Plan plan(Collective op, const std::vector<Rank>& ranks, Rank root,
                            std::size_t level) const {
        if (level == levels_.size()) {
            return leaf(choices_.members(op), op, ranks, root);
        }
        std::vector<RankGroup> groups = cut(ranks, root, levels_[level]);
        if (groups.size() == 1 || groups.size() == ranks.size()) {
            return plan(op, ranks, root, level + 1);
        }
        std::vector<Rank> leaders;
        for (RankGroup& group : groups) {
            std::vector<Rank> members;
            for (const Rank place : group.members) {
                members.push_back(ranks[at(place)]);
            }
            leaders.push_back(members[at(group.leader)]);
            if (members.size() > 1 && op != Collective::broadcast) {
                group.up = plan(Collective::reduce, members, group.leader, level + 1);
            }
            if (members.size() > 1 && op != Collective::reduce) {
                group.down = plan(Collective::broadcast, members, group.leader, level + 1);
            }
        }
        // The group of the root comes first.
        const Plan top = leaf(choices_.leaders(op), op, leaders, 0);
        return compose(op, groups, top, name_);
    }

private:
    [[nodiscard]] Plan leaf(const Family& family, Collective op, const std::vector<Rank>& ranks,
                            Rank root) const {
        const Subset subset(whole_, ranks);
        return family.make(op, subset.input(whole_, root));
    }

    /// Groups of places in `ranks`, that of `root` first; leaders are the root or the first ranks.
    static std::vector<RankGroup> cut(const std::vector<Rank>& ranks, Rank root,
                                      const Partition& partition) {
        std::vector<RankGroup> groups;
        std::vector<std::int32_t> labels;
        const auto add = [&](Rank place) {
            const std::int32_t label = partition[at(ranks[at(place)])];
            const auto known = std::ranges::find(labels, label) - labels.begin();
            if (static_cast<std::size_t>(known) == labels.size()) {
                labels.push_back(label);
                groups.emplace_back();
            }
            groups[static_cast<std::size_t>(known)].members.push_back(place);
        };
        add(root);
        for (Rank place = 0; at(place) < ranks.size(); ++place) {
            if (place != root) {
                add(place);
            }
        }
        return groups;
    }

    const GenerateInput& whole_;
    Choices choices_;
    std::string_view name_;
    std::vector<Partition> levels_;
};

Plan make(Collective op, const GenerateInput& input, const Choices& choices, std::string_view name,
          std::vector<Partition> levels) {
    const Recursion recursion(input, choices, name, std::move(levels));
    std::vector<Rank> everybody;
    for (Rank rank = 0; rank < input.costs.size(); ++rank) {
        everybody.push_back(rank);
    }
    Plan plan = recursion.plan(op, everybody, root_or_first(input), 0);
    plan.algorithm = name;
    return plan;
}

Plan make_exchange(Collective op, const GenerateInput& input) {
    const Choose choose = [](Collective part) -> const Family& {
        return part == Collective::barrier     ? dissemination_2
               : part == Collective::allreduce ? recursive_doubling
                                               : earliest_completion;
    };
    return make(op, input, {choose, choose}, composed_exchange.name, group_levels(input));
}

/// Results come down by trees: a rank's publications have one set of readers.
Plan make_direct(Collective op, const GenerateInput& input) {
    const Choose choose = [](Collective part) -> const Family& {
        return part == Collective::broadcast ? earliest_completion : direct;
    };
    return make(op, input, {choose, choose}, composed_direct.name, group_levels(input));
}

/// A searched tree of messages among the leaders of the groups of one level, counted from the
/// coarsest; and in each group one publication of its leader's, which all members read. Up, trees
/// of messages.
template <std::size_t level>
Plan make_hybrid(Collective op, const GenerateInput& input) {
    const auto leaders = [](Collective) -> const Family& {
        return annealed;
    };
    const auto members = [](Collective part) -> const Family& {
        return part == Collective::broadcast ? shared_line : earliest_completion;
    };
    static constexpr const Family* names[] = {&hybrid_1, &hybrid_2, &hybrid_3};
    return make(op, input, {leaders, members}, names[level]->name, {group_levels(input)[level]});
}

template <std::size_t level>
bool hybrid_applies(Collective op, const GenerateInput& input) {
    return has_one_payload(op) && op != Collective::reduce && !input.ordered && input.blocks == 1 &&
           shared_line.applies(op, input) && group_levels(input).size() > level;
}

bool exchange_applies(Collective op, const GenerateInput& input) {
    return (op == Collective::barrier || op == Collective::allreduce) && !input.ordered &&
           input.blocks == 1 && !group_levels(input).empty();
}

/// Slices that groups of all sizes have in common.
std::uint64_t common_slices(const GenerateInput& input) {
    std::vector<Partition> levels = group_levels(input);
    Partition everybody(at(input.costs.size()), 0);
    Partition alone(everybody.size());
    std::iota(alone.begin(), alone.end(), 0);
    levels.insert(levels.begin(), everybody);
    levels.push_back(alone);
    std::uint64_t slices = 1;
    for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
        for (const std::vector<Rank>& members : members_of(levels[level])) {
            std::set<std::int32_t> groups;
            for (const Rank rank : members) {
                groups.insert(levels[level + 1][at(rank)]);
            }
            slices = std::lcm(slices, std::uint64_t{groups.size()});
            if (slices > input.bytes) {
                return slices;
            }
        }
    }
    return slices;
}

bool direct_applies(Collective op, const GenerateInput& input) {
    return (op == Collective::reduce || op == Collective::allreduce) && !input.ordered &&
           input.blocks == 1 && input.via == Mechanism::pull && !group_levels(input).empty() &&
           !tuning::slice_bytes_least.decides(input.bytes / common_slices(input) <
                                              tuning::slice_bytes_least);
}

} // namespace

constinit const Family composed_exchange{"composed-exchange", exchange_applies, make_exchange};
constinit const Family composed_direct{"composed-direct", direct_applies, make_direct};
constinit const Family hybrid_1{.name = "hybrid-1",
                                .applies = hybrid_applies<0>,
                                .make = make_hybrid<0>,
                                .publishes = true,
                                .searches = true};
constinit const Family hybrid_2{.name = "hybrid-2",
                                .applies = hybrid_applies<1>,
                                .make = make_hybrid<1>,
                                .publishes = true,
                                .searches = true};
constinit const Family hybrid_3{.name = "hybrid-3",
                                .applies = hybrid_applies<2>,
                                .make = make_hybrid<2>,
                                .publishes = true,
                                .searches = true};

} // namespace corymb::generate
