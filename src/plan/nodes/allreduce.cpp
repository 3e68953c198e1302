// SPDX-License-Identifier: Apache-2.0
// Allreduce with k leaders a node: leader l combines the l-th share of the payload for its node,
// then each share is reduced over the nodes at once, then it goes around in the node (Bayatpour
// and others, Scalable Reduction Collectives with Data Partitioning-based Multi-Leader Design,
// SC 2017).
#include "plan/nodes/node_writer.hpp"
#include "plan/nodes/scheme.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace corymb::nodes {

namespace {

class Allreduce {
public:
    Allreduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes)
        : scheme_(scheme), groups_(layout.nodes) {
        if (scheme.roles == Roles::flat) {
            groups_.clear();
            for (const auto& node : layout.nodes) {
                for (const Rank rank : node) {
                    groups_.push_back({rank});
                }
            }
        }
        shares_ = scheme.roles == Roles::flat ? 1 : static_cast<std::uint32_t>(scheme.leaders);
        blocks_ = scheme.exchange == Exchange::ring && groups_.size() > 1
                      ? static_cast<std::uint32_t>(groups_.size())
                      : 1;
        writer_.emplace(Collective::allreduce, layout, scheme, bytes,
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
    [[nodiscard]] Rank leader(std::size_t group, std::uint32_t share) const {
        const auto& ranks = groups_[group];
        const std::size_t size = ranks.size();
        return ranks[shares_ <= size ? size * share / shares_ : share % size];
    }
    [[nodiscard]] Blocks share(Buffer buffer, std::uint32_t share) const {
        return {buffer, (piece_ * shares_ + share) * blocks_, blocks_};
    }
    /// Scratch has as many places as the payload for every round: what was sent is kept.
    [[nodiscard]] Blocks kept(std::uint32_t round, std::uint32_t number) {
        const std::uint32_t all = writer_->block_count();
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
            std::vector<Arrival> messages;
            for (std::size_t g = 0; g < groups_.size(); ++g) {
                for (std::uint32_t s = 0; s < shares_; ++s) {
                    add_turn(messages, g, s, turn);
                }
            }
            writer_->round(messages, true);
        }
    }

    void add_turn(std::vector<Arrival>& messages, std::size_t g, std::uint32_t s,
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
            const Rank from = ranks[(place + turn) % ranks.size()];
            messages.push_back({from, to, share(Buffer::input, s), sum,
                                turn == 1 ? share(Buffer::input, s) : sum});
        }
    }

    /// Beyond the largest power of two, groups give their sum to another and get the result.
    void doubling() {
        const std::size_t power = std::bit_floor(groups_.size());
        std::vector<std::uint32_t> have(groups_.size(), 0); // by group: round of what it holds
        std::vector<Arrival> messages;
        for (std::size_t extra = power; extra < groups_.size(); ++extra) {
            for (std::uint32_t s = 0; s < shares_; ++s) {
                messages.push_back({leader(extra, s), leader(extra - power, s), kept(0, s),
                                    kept(1, s), kept(0, s)});
            }
            have[extra - power] = 1;
        }
        writer_->round(messages);
        for (std::size_t distance = 1; distance < power; distance *= 2) {
            messages.clear();
            for (std::size_t g = 0; g < power; ++g) {
                add_doubling(messages, g, g ^ distance, have, 2 * distance == power);
            }
            writer_->round(messages);
            for (std::size_t g = 0; g < power; ++g) {
                ++have[g];
            }
        }
        messages.clear();
        for (std::size_t extra = power; extra < groups_.size(); ++extra) {
            for (std::uint32_t s = 0; s < shares_; ++s) {
                const Blocks result = share(Buffer::output, s);
                messages.push_back(
                    {leader(extra - power, s), leader(extra, s), result, result, {}});
            }
        }
        writer_->round(messages);
    }

    void add_doubling(std::vector<Arrival>& messages, std::size_t to, std::size_t from,
                      const std::vector<std::uint32_t>& have, bool last) {
        for (std::uint32_t s = 0; s < shares_; ++s) {
            const Blocks target = last ? share(Buffer::output, s) : kept(have[to] + 1, s);
            messages.push_back(
                {leader(from, s), leader(to, s), kept(have[from], s), target, kept(have[to], s)});
        }
    }

    /// Reduce-scatter, then allgather, of a block for each group.
    void ring() {
        const std::size_t n = groups_.size();
        for (std::size_t step = 0; step + 1 < n; ++step) {
            pass([&](std::size_t to, std::uint32_t s, Arrival& message) {
                const auto p = static_cast<std::uint32_t>((to + 2 * n - 1 - step) % n);
                const Blocks own = block(kept(0, s), p);
                message.source = step == 0 ? own : block(share(Buffer::output, s), p);
                message.target = block(share(Buffer::output, s), p);
                message.own = own;
            });
        }
        for (std::size_t step = 0; step + 1 < n; ++step) {
            pass([&](std::size_t to, std::uint32_t s, Arrival& message) {
                const auto p = static_cast<std::uint32_t>((to + 2 * n - step) % n);
                message.source = message.target = block(share(Buffer::output, s), p);
            });
        }
    }

    [[nodiscard]] static Blocks block(Blocks blocks, std::uint32_t number) {
        return {blocks.buffer, blocks.first + number, 1};
    }

    template <class Fill>
    void pass(Fill fill) {
        std::vector<Arrival> messages;
        const std::size_t n = groups_.size();
        for (std::size_t to = 0; to < n; ++to) {
            for (std::uint32_t s = 0; s < shares_; ++s) {
                Arrival message{leader((to + n - 1) % n, s), leader(to, s), {}, {}, {}};
                fill(to, s, message);
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
    std::vector<std::vector<Rank>> groups_;
    std::uint32_t shares_ = 1;
    std::uint32_t blocks_ = 1; // Of a share.
    std::uint32_t piece_ = 0;  // The one that is written.
    std::optional<NodeWriter> writer_;
};

} // namespace

Plan allreduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    return Allreduce(layout, scheme, bytes).plan();
}

} // namespace corymb::nodes
