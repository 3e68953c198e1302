// SPDX-License-Identifier: Apache-2.0
// Alltoall with k leaders a node: leader l collects its node's data for the l-th share of every
// other node's ranks. Leaders of equal index exchange these bundles and hand them out (Traeff,
// Hunold, Decomposing Collectives for Exploiting Multi-lane Communication, CLUSTER 2020). With as
// many leaders as ranks nothing is handed out.
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace corymb::nodes {

namespace {

class Alltoall {
public:
    Alltoall(const Layout& layout, const Scheme& scheme)
        : scheme_(scheme), actors_(actors(layout, scheme)), script_(layout) {}

    Script script() && {
        const std::size_t nodes = actors_.nodes.size();
        for (std::size_t node = 0; node < nodes; ++node) {
            groups_.push_back(actors_.groups(node, scheme_.leaders));
        }
        const auto lanes = static_cast<std::size_t>(scheme_.leaders);
        stands_.resize(lanes * nodes * nodes);
        script_.begin_round();
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            for (std::size_t from = 0; from < nodes; ++from) {
                for (std::size_t shift = 1; shift < nodes; ++shift) {
                    collect({lane, from, (from + shift) % nodes});
                }
            }
        }
        if (scheme_.exchange == Exchange::bruck) {
            exchange_in_steps();
        } else {
            exchange_at_once();
        }
        script_.begin_round();
        for_each([this](const Bundle& bundle, const Blocks& blocks) { hand_out(bundle, blocks); });
        return std::move(script_);
    }

private:
    /// All that node `from` has for the ranks of group `lane` of node `to`: for the first of them,
    /// in the order of the senders, then for the next.
    struct Bundle {
        std::size_t lane = 0, from = 0, to = 0;
    };
    /// The present place of a bundle; an empty one if there is none.
    [[nodiscard]] Blocks& stands(const Bundle& bundle) {
        const std::size_t nodes = actors_.nodes.size();
        return stands_[(bundle.lane * nodes + bundle.from) * nodes + bundle.to];
    }
    /// Acts for each bundle: by lane, then sender, then receiver.
    template <class Action>
    void for_each(const Action& action) {
        const std::size_t nodes = actors_.nodes.size();
        for (std::size_t index = 0; index < stands_.size(); ++index) {
            if (stands_[index].count != 0) {
                action(Bundle{index / nodes / nodes, index / nodes % nodes, index % nodes},
                       stands_[index]);
            }
        }
    }

    [[nodiscard]] Rank leader(std::size_t node, std::size_t lane) const {
        return groups_[node][lane % groups_[node].size()].front();
    }
    /// Whom a bundle is for; nobody where the node has fewer groups.
    [[nodiscard]] std::span<const Rank> receivers(const Bundle& bundle) const {
        const auto& groups = groups_[bundle.to];
        return bundle.lane < groups.size() ? groups[bundle.lane] : std::span<const Rank>{};
    }
    [[nodiscard]] const std::vector<Rank>& senders(const Bundle& bundle) const {
        return actors_.nodes[bundle.from];
    }
    [[nodiscard]] std::size_t places(const Bundle& bundle) const {
        return senders(bundle).size() * receivers(bundle).size();
    }

    void collect(const Bundle& bundle) {
        const std::span<const Rank> to = receivers(bundle);
        if (to.empty()) {
            return;
        }
        const Rank own = leader(bundle.from, bundle.lane);
        if (scheme_.exchange == Exchange::direct && senders(bundle).size() == 1 && is_run(to)) {
            stands(bundle) = slice(part(Buffer::input, to.front()), 0, to.size());
            return;
        }
        const Blocks store = script_.scratch(own, places(bundle));
        stands(bundle) = store;
        std::size_t place = 0;
        for (const Rank receiver : to) {
            for (const Rank sender : senders(bundle)) {
                script_.move(sender, own, part(Buffer::input, receiver), slice(store, place++));
            }
        }
    }

    /// Meanwhile data that stays in a node goes straight to its place.
    void exchange_at_once() {
        script_.begin_round();
        within_nodes();
        const std::size_t nodes = actors_.nodes.size();
        std::vector<std::vector<Bundle>> by_shift(nodes);
        for_each([&](const Bundle& bundle, const Blocks&) {
            by_shift[(bundle.to + nodes - bundle.from) % nodes].push_back(bundle);
        });
        for (std::size_t shift = 1; shift < nodes; ++shift) {
            for (const Bundle& bundle : by_shift[shift]) {
                Blocks& blocks = stands(bundle);
                const Rank receiver = leader(bundle.to, bundle.lane);
                Blocks target;
                if (receivers(bundle).size() == 1 && is_run(senders(bundle))) {
                    target = slice(part(Buffer::output, senders(bundle).front()), 0, blocks.count);
                } else {
                    target = script_.scratch(receiver, blocks.count);
                }
                script_.move(leader(bundle.from, bundle.lane), receiver, blocks, target);
                blocks = target;
            }
        }
    }

    /// Bruck and others (1997): a bundle that has to go `shift` nodes on goes by the binary digits
    /// of `shift`.
    void exchange_in_steps() {
        const std::size_t nodes = actors_.nodes.size();
        script_.begin_round();
        within_nodes();
        for (std::size_t digit = 1; digit < nodes; digit *= 2) {
            // By lane and node: the bundles that go on from there, in the order in which they
            // arrive.
            std::vector<std::vector<Bundle>> going(static_cast<std::size_t>(scheme_.leaders) *
                                                   nodes);
            for_each([&](const Bundle& bundle, const Blocks&) {
                const std::size_t shift = (bundle.to + nodes - bundle.from) % nodes;
                if ((shift & digit) != 0) {
                    const std::size_t here = (bundle.from + (shift & (digit - 1))) % nodes;
                    going[bundle.lane * nodes + here].push_back(bundle);
                }
            });
            step(going, digit);
        }
    }

    void step(const std::vector<std::vector<Bundle>>& going, std::size_t digit) {
        const std::size_t nodes = actors_.nodes.size();
        std::vector<Transfer> messages;
        script_.begin_round();
        for (std::size_t place = 0; place < going.size(); ++place) {
            const std::vector<Bundle>& bundles = going[place];
            if (bundles.empty()) {
                continue;
            }
            const std::size_t lane = place / nodes;
            const std::size_t here = place % nodes;
            std::size_t count = 0;
            for (const Bundle& bundle : bundles) {
                count += places(bundle);
            }
            const Rank from = leader(here, lane);
            const Rank to = leader((here + digit) % nodes, lane);
            const Blocks target = script_.scratch(to, count);
            messages.push_back({from, to, packed(from, bundles, count), target, {}});
            std::size_t next = 0;
            for (const Bundle& bundle : bundles) {
                stands(bundle) = slice(target, next, places(bundle));
                next += places(bundle);
            }
        }
        script_.begin_round();
        for (const Transfer& message : messages) {
            script_.move(message.from, message.to, message.source, message.target);
        }
    }

    /// Bundles of a rank side by side, as they stand or copied together.
    Blocks packed(Rank rank, const std::vector<Bundle>& bundles, std::size_t count) {
        Blocks run = stands(bundles.front());
        bool is_one = true;
        for (std::size_t i = 1; i < bundles.size(); ++i) {
            const Blocks& next = stands(bundles[i]);
            is_one = is_one && next.first == run.first + run.count;
            run.count += next.count;
        }
        if (is_one) {
            return run;
        }
        const Blocks copy = script_.scratch(rank, count);
        std::size_t place = 0;
        for (const Bundle& bundle : bundles) {
            const Blocks& blocks = stands(bundle);
            script_.move(rank, rank, blocks, slice(copy, place, blocks.count));
            place += blocks.count;
        }
        return copy;
    }

    void hand_out(const Bundle& bundle, const Blocks& blocks) {
        if (blocks.buffer == Buffer::output) {
            return; // The bundle has arrived in its place.
        }
        std::size_t place = 0;
        for (const Rank receiver : receivers(bundle)) {
            for (const Rank sender : senders(bundle)) {
                script_.move(leader(bundle.to, bundle.lane), receiver, slice(blocks, place++),
                             part(Buffer::output, sender));
            }
        }
    }

    void within_nodes() {
        for (const auto& node : actors_.nodes) {
            for (std::size_t shift = 0; shift < node.size(); ++shift) {
                for (std::size_t i = 0; i < node.size(); ++i) {
                    const Rank from = node[i];
                    const Rank to = node[(i + shift) % node.size()];
                    script_.move(from, to, part(Buffer::input, to), part(Buffer::output, from));
                }
            }
        }
    }

    Scheme scheme_;
    Layout actors_;
    Script script_;
    std::vector<std::vector<std::vector<Rank>>> groups_; // by node and lane
    std::vector<Blocks> stands_;                         // by bundle
};

} // namespace

Plan alltoall(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    PlanWriter writer = writer_for(Collective::alltoall, layout, scheme, bytes, 1);
    Alltoall(layout, scheme).script().play(writer);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
