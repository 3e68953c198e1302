// SPDX-License-Identifier: Apache-2.0
// Everybody writes what the root is to have straight into the root's output, at the same time. A
// gather is just that. A reduction goes in one slice a rank, as in `direct`, and each rank writes
// its slice as it combines it, so that the root only combines its own: reduce-scatter and gather in
// one, and no slice is written twice. The root's own operand comes last where the order permits;
// then the root lends it together with the place for the result.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

/// The others in the order in which `rank` combines them: partial results stay runs of ranks with
/// `ordered`, else the root is the last one.
std::vector<Rank> peers_in_order(Rank rank, Rank size, Rank root, bool ordered) {
    std::vector<Rank> peers;
    for (Rank peer = rank - 1; peer >= 0; --peer) {
        peers.push_back(peer);
    }
    for (Rank peer = rank + 1; peer < size; ++peer) {
        peers.push_back(peer);
    }
    if (!ordered && rank != root) {
        peers.erase(std::ranges::find(peers, root));
        peers.push_back(root);
    }
    return peers;
}

Plan gather(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    PlanWriter writer(Collective::gather, size, root, transport(input), direct_push.name);
    for (Rank rank = 0; rank < size; ++rank) {
        if (rank != root) {
            writer.offer(root, rank, places(Buffer::output, rank));
            writer.put(rank, root, places(Buffer::input, 0));
        }
    }
    writer.copy(root, places(Buffer::input, 0), places(Buffer::output, root));
    return std::move(writer).finished();
}

/// Writes the steps of a reduction.
class Slices {
public:
    explicit Slices(const GenerateInput& input)
        : size_(input.costs.size()), root_(root_or_first(input)), blocks_(input.blocks),
          writer_(Collective::reduce, size_, root_, how(input), direct_push.name) {
        for (Rank rank = 0; rank < size_; ++rank) {
            peers_.push_back(peers_in_order(rank, size_, root_, input.ordered));
        }
        if (size_ > 2) {
            writer_.need_scratch(writer_.plan().block_count);
        }
    }

    Plan plan() && {
        for (std::uint32_t block = 0; block < blocks_; ++block) {
            for (Rank rank = 0; rank < size_; ++rank) {
                lend(rank, block);
                combine(rank, block);
            }
        }
        writer_.barrier();
        return std::move(writer_).finished();
    }

private:
    /// Blocks of the payload: as many as asked for in each rank's slice.
    static Transport how(const GenerateInput& input) {
        Transport how = transport(input);
        how.blocks *= static_cast<std::uint32_t>(input.costs.size());
        return how;
    }
    [[nodiscard]] const std::vector<Rank>& peers(Rank rank) const {
        return peers_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] Blocks piece(Buffer buffer, Rank rank, std::uint32_t block) const {
        return {buffer, static_cast<std::uint32_t>(rank) * blocks_ + block, 1};
    }

    void lend(Rank owner, std::uint32_t block) {
        for (const Rank peer : peers(owner)) {
            const Blocks operand = piece(Buffer::input, peer, block);
            const Blocks result = piece(Buffer::output, peer, block);
            if (owner == root_ && peers(peer).back() == root_) {
                writer_.offer(root_, peer, result, operand);
                continue;
            }
            writer_.send(owner, peer, operand);
            if (owner == root_) {
                writer_.offer(root_, peer, result);
            }
        }
    }

    void combine(Rank rank, std::uint32_t block) {
        const Blocks result = piece(rank == root_ ? Buffer::output : Buffer::scratch, rank, block);
        Blocks own = piece(Buffer::input, rank, block);
        for (const Rank peer : peers(rank)) {
            if (peer == root_ && peer == peers(rank).back()) {
                writer_.put_fold(rank, root_, own);
                return;
            }
            writer_.fold(rank, peer, own, result);
            own = result;
        }
        if (rank != root_) {
            writer_.put(rank, root_, own);
        }
    }

    Rank size_;
    Rank root_;
    std::uint32_t blocks_; // of a slice
    PlanWriter writer_;
    std::vector<std::vector<Rank>> peers_; // by rank
};

bool applies(Collective op, const GenerateInput& input) {
    constexpr std::uint64_t slice_bytes_min = 512; // As for `direct`.
    constexpr Rank slicing_ranks_max = 64;
    const Rank size = input.costs.size();
    if (input.via != Mechanism::pull || size == 1) {
        return false;
    }
    switch (op) {
    case Collective::gather: return input.blocks == 1;
    case Collective::reduce:
        return size <= slicing_ranks_max &&
               input.bytes / static_cast<std::uint64_t>(size) / input.blocks >= slice_bytes_min;
    default: return false;
    }
}

Plan make(Collective op, const GenerateInput& input) {
    return op == Collective::gather ? gather(input) : Slices(input).plan();
}

} // namespace

constinit const Family direct_push{
    .name = "direct-push", .applies = applies, .make = make, .reproducible = false, .pushes = true};

} // namespace corymb::generate
