// SPDX-License-Identifier: Apache-2.0
// Allreduce with k leaders a node: leader l combines the l-th share of the payload for its node.
// Then each share is reduced over the nodes at once, and goes around in the node (Bayatpour and
// others, Scalable Reduction Collectives with Data Partitioning-based Multi-Leader Design, SC
// 2017). By runs, everything is combined in the order of the ranks.
#include "plan/generate/rounds.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/nodes/writer_for.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace corymb::nodes {

namespace {

class Allreduce {
public:
    Allreduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) : scheme_(scheme) {
        if (scheme.roles == Roles::runs) {
            const Layout runs = layout.runs();
            groups_ = runs.nodes;
            for (std::size_t run = 0; run < groups_.size(); ++run) {
                leaders_.push_back(leaders_of(runs, run));
            }
            pair_neighbours();
        } else {
            pair_any(layout);
        }
        shares_ = scheme.roles == Roles::flat ? 1 : static_cast<std::uint32_t>(scheme.leaders);
        blocks_ = scheme.exchange == Exchange::ring && groups_.size() > 1
                      ? static_cast<std::uint32_t>(groups_.size())
                      : 1;
        writer_ = writer_for(Collective::allreduce, layout, scheme, bytes,
                             scheme.pieces * shares_ * blocks_);
    }

    Plan plan() && {
        for (piece_ = 0; piece_ < scheme_.pieces; ++piece_) {
            combine_in_groups();
            if (groups_.size() > 1) {
                scheme_.exchange == Exchange::ring ? ring() : doubling();
            }
            give();
        }
        return std::move(*writer_).finished();
    }

private:
    /// Groups beyond the inner ones, whose number is a power of two, give their sums to inner ones.
    void pair_any(const Layout& layout) {
        const bool is_flat = scheme_.roles == Roles::flat;
        const bool folds = scheme_.exchange == Exchange::folding;
        const std::size_t inner = std::bit_floor(is_flat ? layout.node_of_rank.size()
                                                 : folds ? layout.fastest
                                                         : layout.nodes.size());
        for (const std::size_t node : layout.fastest_inside(folds ? inner : 0)) {
            if (!is_flat) {
                groups_.push_back(layout.nodes[node]);
                leaders_.push_back(leaders_of(layout, node));
                continue;
            }
            for (const Rank rank : layout.nodes[node]) {
                groups_.push_back({rank});
                leaders_.push_back({rank});
            }
        }
        for (std::size_t group = 0; group < inner; ++group) {
            inner_.push_back(group);
        }
        for (std::size_t group = inner; group < groups_.size(); ++group) {
            outer_.emplace_back(group, group % inner);
        }
    }

    /// Pairs neighbours as MPICH does for operators that do not commute: the inner groups remain in
    /// order.
    void pair_neighbours() {
        const std::size_t pairs = groups_.size() - std::bit_floor(groups_.size());
        for (std::size_t group = 0; group < groups_.size(); ++group) {
            if (group < 2 * pairs && group % 2 == 1) {
                outer_.emplace_back(group, group - 1);
            } else {
                inner_.push_back(group);
            }
        }
    }

    [[nodiscard]] std::vector<Rank> leaders_of(const Layout& layout, std::size_t node) const {
        std::vector<Rank> leaders;
        for (const auto& part : layout.groups(node, scheme_.leaders)) {
            leaders.push_back(part.front());
        }
        return leaders;
    }
    [[nodiscard]] Rank leader(std::size_t group, std::uint32_t share) const {
        return leaders_[group][share % leaders_[group].size()];
    }
    [[nodiscard]] Blocks share(Buffer buffer, std::uint32_t share) const {
        return {buffer, (piece_ * shares_ + share) * blocks_, blocks_};
    }
    /// Scratch has as many places as the payload for every round: data that was sent is kept.
    [[nodiscard]] Blocks kept(std::uint32_t round, std::uint32_t number) {
        const std::uint32_t all = writer_->plan().block_count;
        writer_->need_scratch((round + 1) * all);
        return {Buffer::scratch, round * all + (piece_ * shares_ + number) * blocks_, blocks_};
    }

    /// Each leader has its share of the group's sum in scratch, or, where that is all, in output.
    void combine_in_groups() {
        std::size_t most = 0;
        for (const auto& ranks : groups_) {
            most = std::max(most, ranks.size());
        }
        for (std::size_t turn = 1; turn < std::max<std::size_t>(most, 2); ++turn) {
            std::vector<Transfer> messages;
            for (std::size_t g = 0; g < groups_.size(); ++g) {
                for (std::uint32_t s = 0; s < shares_; ++s) {
                    add_turn(messages, g, s, turn);
                }
            }
            writer_->round(messages);
        }
    }

    void add_turn(std::vector<Transfer>& messages, std::size_t g, std::uint32_t s,
                  std::size_t turn) {
        const auto& ranks = groups_[g];
        const Rank to = leader(g, s);
        const Blocks sum = groups_.size() > 1 ? kept(0, s) : share(Buffer::output, s);
        if (ranks.size() == 1 && turn == 1) {
            writer_->copy(to, share(Buffer::input, s), sum);
        }
        if (turn < ranks.size()) {
            const auto place =
                static_cast<std::size_t>(std::ranges::find(ranks, to) - ranks.begin());
            const Rank from = ranks[next_to_combine(scheme_.roles, place, turn, ranks.size())];
            messages.push_back({from, to, share(Buffer::input, s), sum,
                                turn == 1 ? share(Buffer::input, s) : sum});
        }
    }

    /// The outer groups give their sums to inner ones and get the result.
    void doubling() {
        // by group: round of the sum that it holds
        std::vector<std::uint32_t> have(groups_.size(), 0);
        std::vector<Transfer> messages;
        for (std::size_t i = 0; i < outer_.size(); ++i) {
            const auto [outer, to] = outer_[i];
            for (std::uint32_t s = 0; s < shares_; ++s) {
                messages.push_back({leader(outer, s), leader(to, s), kept(0, s),
                                    kept(have[to] + 1, s), kept(have[to], s)});
            }
            ++have[to];
            if (i + 1 == outer_.size() || outer_[i + 1].second <= to) {
                writer_->round(std::exchange(messages, {}));
            }
        }
        for (std::size_t distance = 1; distance < inner_.size(); distance *= 2) {
            for (std::size_t i = 0; i < inner_.size(); ++i) {
                add_doubling(messages, inner_[i], inner_[i ^ distance], have,
                             2 * distance == inner_.size());
            }
            writer_->round(std::exchange(messages, {}));
            for (const std::size_t group : inner_) {
                ++have[group];
            }
        }
        for (const auto& [outer, giver] : outer_) {
            for (std::uint32_t s = 0; s < shares_; ++s) {
                const Blocks result = share(Buffer::output, s);
                messages.push_back({leader(giver, s), leader(outer, s), result, result, {}});
            }
        }
        writer_->round(messages);
    }

    void add_doubling(std::vector<Transfer>& messages, std::size_t to, std::size_t from,
                      const std::vector<std::uint32_t>& have, bool last) {
        for (std::uint32_t s = 0; s < shares_; ++s) {
            const Blocks target = last ? share(Buffer::output, s) : kept(have[to] + 1, s);
            messages.push_back(
                {leader(from, s), leader(to, s), kept(have[from], s), target, kept(have[to], s)});
        }
    }

    /// Reduce-scatter, then allgather, of a block for each group. A group ends the first with the
    /// block of the next group.
    void ring() {
        bool is_first = true;
        for (const std::vector<Hop>& round : ring_rounds(groups_.size())) {
            pass(round, [&](const Hop& hop, std::uint32_t s, Transfer& message) {
                message.own = block(kept(0, s), hop.first);
                message.target = block(share(Buffer::output, s), hop.first);
                message.source = is_first ? message.own : message.target;
            });
            is_first = false;
        }
        for (const std::vector<Hop>& round : ring_rounds(groups_.size(), 1)) {
            pass(round, [&](const Hop& hop, std::uint32_t s, Transfer& message) {
                message.source = message.target = block(share(Buffer::output, s), hop.first);
            });
        }
    }

    [[nodiscard]] static Blocks block(Blocks blocks, std::size_t number) {
        return {blocks.buffer, blocks.first + static_cast<std::uint32_t>(number), 1};
    }

    template <class Fill>
    void pass(const std::vector<Hop>& round, Fill fill) {
        std::vector<Transfer> messages;
        for (const Hop& hop : round) {
            for (std::uint32_t s = 0; s < shares_; ++s) {
                Transfer message{leader(hop.from, s), leader(hop.to, s), {}, {}, {}};
                fill(hop, s, message);
                messages.push_back(message);
            }
        }
        writer_->round(messages);
    }

    void give() {
        std::vector<Gift> gifts;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            for (std::uint32_t s = 0; s < shares_; ++s) {
                gifts.push_back({leader(g, s), groups_[g], share(Buffer::output, s)});
            }
        }
        writer_->give(gifts);
    }

    Scheme scheme_;
    std::vector<std::vector<Rank>> groups_, leaders_;
    std::vector<std::size_t> inner_; // Groups that double.
    /// The other groups, and the inner group that gets the sums of each.
    std::vector<std::pair<std::size_t, std::size_t>> outer_;
    std::uint32_t shares_ = 1;
    std::uint32_t blocks_ = 1; // Blocks of a share.
    std::uint32_t piece_ = 0;  // The piece that is being written.
    std::optional<PlanWriter> writer_;
};

} // namespace

Plan allreduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    return Allreduce(layout, scheme, bytes).plan();
}

} // namespace corymb::nodes
