// SPDX-License-Identifier: Apache-2.0
// Ranks write into each other's outputs while others read: both sides share a copy that one side
// alone would make.
//
// A gather: everybody writes its part into the root's output. A broadcast: the root writes a slice
// of one n-th to each rank, which meanwhile reads the others. A reduction goes in one slice a rank,
// as in `direct`, and each rank writes its slice where it is wanted as it combines it: into the
// root's output, which so only combines its own, or into everybody's. To one root this is
// reduce-scatter and gather in one, and no slice is written twice. The root's own operand comes
// last where the order permits; then the root lends it together with the place for the result.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

/// The other ranks in the order in which `rank` combines them. With `ordered`, partial results stay
/// runs of ranks; without it the root, if there is one, comes last.
std::vector<Rank> peers_in_order(Rank rank, Rank size, Rank root, bool ordered) {
    std::vector<Rank> peers;
    for (Rank peer = rank - 1; peer >= 0; --peer) {
        peers.push_back(peer);
    }
    for (Rank peer = rank + 1; peer < size; ++peer) {
        peers.push_back(peer);
    }
    if (!ordered && root >= 0 && rank != root) {
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

Plan broadcast(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    Transport how = transport(input);
    how.blocks = static_cast<std::uint32_t>(size);
    PlanWriter writer(Collective::broadcast, size, root, how, direct_push.name);
    const bool is_first = root == 0;
    const Blocks written = places(Buffer::output, is_first ? 0 : size - 1);
    const Blocks read = places(Buffer::output, is_first ? 1 : 0, size - 1);
    writer.publish(root, read);
    for (Rank rank = 0; rank < size; ++rank) {
        if (rank != root) {
            writer.offer(rank, root, written);
            writer.put(root, rank, written);
            writer.read(rank, root, read);
        }
    }
    writer.barrier();
    return std::move(writer).finished();
}

/// Writes the steps of a reduction, to the root or to everybody.
class Slices {
public:
    Slices(Collective op, const GenerateInput& input)
        : size_(input.costs.size()), root_(op == Collective::reduce ? root_or_first(input) : -1),
          pieces_(input.blocks), root_width_(width_of_root(input, root_)),
          writer_(op, size_, std::max(root_, 0), how(input), direct_push.name) {
        for (Rank rank = 0; rank < size_; ++rank) {
            peers_.push_back(peers_in_order(rank, size_, root_, input.ordered));
        }
        if (root_ >= 0 && size_ > 2) {
            writer_.need_scratch(writer_.plan().block_count);
        }
    }

    Plan plan() && {
        for (std::uint32_t number = 0; number < pieces_; ++number) {
            for (Rank rank = 0; rank < size_; ++rank) {
                lend(rank, number);
                combine(rank, number);
            }
        }
        writer_.barrier();
        return std::move(writer_).finished();
    }

private:
    static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

    /// Slices of the root, in blocks. Between two processes the rank that is not the root copies
    /// its operands twice, once in and once out, so the root takes twice as much.
    static std::uint32_t width_of_root(const GenerateInput& input, Rank root) {
        const bool is_copied = input.machine != nullptr && input.machine->kernel_copy.present();
        return root >= 0 && input.costs.size() == 2 && is_copied ? 2 : 1;
    }
    [[nodiscard]] Transport how(const GenerateInput& input) const {
        Transport how = transport(input);
        how.blocks = pieces_ * (static_cast<std::uint32_t>(size_) - 1 + root_width_);
        return how;
    }
    [[nodiscard]] bool wants(Rank rank) const { return root_ < 0 || rank == root_; }
    [[nodiscard]] const std::vector<Rank>& peers(Rank rank) const { return peers_[at(rank)]; }
    /// Piece `number` of a rank's slice.
    [[nodiscard]] Blocks piece(Buffer buffer, Rank rank, std::uint32_t number) const {
        const std::uint32_t width = rank == root_ ? root_width_ : 1;
        const std::uint32_t behind = root_ >= 0 && rank > root_ ? root_width_ - 1 : 0;
        const std::uint32_t slice = static_cast<std::uint32_t>(rank) + behind;
        return {buffer, slice * pieces_ + number * width, width};
    }
    /// The root's operand of the rank's pieces goes with the place for the result.
    [[nodiscard]] bool ends_at_root(Rank rank) const {
        return root_ >= 0 && peers(rank).back() == root_;
    }

    void lend(Rank owner, std::uint32_t number) {
        for (const Rank peer : peers(owner)) {
            const Blocks operand = piece(Buffer::input, peer, number);
            const Blocks result = piece(Buffer::output, peer, number);
            if (owner == root_ && ends_at_root(peer)) {
                writer_.offer(root_, peer, result, operand);
                continue;
            }
            writer_.send(owner, peer, operand);
            if (wants(owner)) {
                writer_.offer(owner, peer, result);
            }
        }
    }

    void combine(Rank rank, std::uint32_t number) {
        const Blocks result = piece(wants(rank) ? Buffer::output : Buffer::scratch, rank, number);
        Blocks own = piece(Buffer::input, rank, number);
        for (const Rank peer : peers(rank)) {
            if (peer == root_ && ends_at_root(rank)) {
                writer_.put_fold(rank, root_, own);
                return;
            }
            writer_.fold(rank, peer, own, result);
            own = result;
        }
        for (const Rank peer : peers(rank)) {
            if (wants(peer)) {
                writer_.put(rank, peer, own);
            }
        }
    }

    Rank size_;
    Rank root_;                ///< -1: everybody wants the result.
    std::uint32_t pieces_;     // of each slice
    std::uint32_t root_width_; // of the pieces of the root's slice
    PlanWriter writer_;
    std::vector<std::vector<Rank>> peers_; // by rank
};

bool applies(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    if (input.via != Mechanism::pull || size == 1) {
        return false;
    }
    const auto has_slices = [&] {
        const std::uint64_t slice = input.bytes / static_cast<std::uint64_t>(size) / input.blocks;
        return !tuning::square_ranks_most.decides(size > tuning::square_ranks_most) &&
               !tuning::slice_bytes_least.decides(slice < tuning::slice_bytes_least);
    };
    switch (op) {
    case Collective::gather: return input.blocks == 1;
    case Collective::broadcast: return input.blocks == 1 && has_slices();
    case Collective::reduce:
    case Collective::allreduce: return has_slices();
    default: return false;
    }
}

Plan make(Collective op, const GenerateInput& input) {
    switch (op) {
    case Collective::gather: return gather(input);
    case Collective::broadcast: return broadcast(input);
    default: return Slices(op, input).plan();
    }
}

} // namespace

constinit const Family direct_push{
    .name = "direct-push", .applies = applies, .make = make, .reproducible = false, .pushes = true};

} // namespace corymb::generate
