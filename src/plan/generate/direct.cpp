// SPDX-License-Identifier: Apache-2.0
// Everybody reads what it needs straight out of everybody's buffers, and reductions are cut in one
// slice a rank, which that rank combines: nothing is copied on the way (movement-avoiding
// reductions: Peng et al., ICPP 2023; single-copy collectives: Chakraborty, Subramoni, Panda, IEEE
// Cluster 2017). Each rank publishes where its buffer lies, and the others take their parts of it.
// A barrier at the end acknowledges all loans at once.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <utility>

namespace corymb::generate {

namespace {

/// Calls visit(peer) for all others, nearest numbers first: below, then above. So partial results
/// stay runs of ranks, and ranks begin at different peers.
template <class Visit>
void for_each_other(Rank rank, Rank size, Visit visit) {
    for (Rank peer = rank - 1; peer >= 0; --peer) {
        visit(peer);
    }
    for (Rank peer = rank + 1; peer < size; ++peer) {
        visit(peer);
    }
}

Plan allgather(const GenerateInput& input) {
    const Rank size = input.costs.size();
    PlanWriter writer(Collective::allgather, size, 0, transport(input), direct.name);
    for (Rank rank = 0; rank < size; ++rank) {
        if (size > 1) {
            writer.publish(rank, places(Buffer::input, 0));
        }
        for_each_other(rank, size,
                       [&](Rank peer) { writer.read(rank, peer, places(Buffer::output, peer)); });
    }
    writer.barrier();
    for (Rank rank = 0; rank < size; ++rank) {
        writer.copy(rank, places(Buffer::input, 0), places(Buffer::output, rank));
    }
    return std::move(writer).finished();
}

/// Whether ranks publish one address for all, rather than tell each other where each part lies.
bool publishes_for_all(const GenerateInput& input) {
    return !input.addresses_each && input.costs.size() > 1;
}

Plan alltoall(const GenerateInput& input) {
    const Rank size = input.costs.size();
    PlanWriter writer(Collective::alltoall, size, 0, transport(input), direct.name);
    const bool is_lent = publishes_for_all(input);
    for (Rank rank = 0; rank < size; ++rank) {
        if (is_lent) {
            writer.lend(rank, places(Buffer::input, 0, size));
        } else {
            for_each_other(rank, size, [&](Rank peer) {
                writer.send(rank, peer, places(Buffer::input, peer));
            });
        }
        writer.copy(rank, places(Buffer::input, rank), places(Buffer::output, rank));
        for_each_other(rank, size, [&](Rank peer) {
            const Blocks target = places(Buffer::output, peer);
            if (is_lent) {
                writer.take(rank, peer, static_cast<std::uint32_t>(rank), target);
            } else {
                writer.recv(rank, peer, target);
            }
        });
    }
    writer.barrier();
    return std::move(writer).finished();
}

/// Rank r combines the blocks `slice(r)` of everybody's input into `target`, block by block, so
/// that the result stays in its nearest cache. Others are only told where their slices are: by a
/// publication if a slice is one block, otherwise block by block, for a publication is read once.
template <class SliceOf, class TargetOf>
void combine_slices(PlanWriter& writer, const GenerateInput& input, std::uint32_t blocks,
                    SliceOf slice, TargetOf target) {
    const Rank size = writer.size();
    const bool is_lent = blocks == 1 && publishes_for_all(input);
    for (std::uint32_t block = 0; block < blocks; ++block) {
        for (Rank rank = 0; rank < size; ++rank) {
            if (is_lent) {
                writer.lend(rank, places(Buffer::input, 0, size));
            } else {
                for_each_other(rank, size, [&](Rank peer) {
                    writer.send(rank, peer, {Buffer::input, slice(peer) + block, 1});
                });
            }
            Blocks own{Buffer::input, slice(rank) + block, 1};
            const Blocks result = target(rank, block);
            for_each_other(rank, size, [&](Rank peer) {
                if (is_lent) {
                    writer.take_fold(rank, peer, slice(rank), own, result);
                } else {
                    writer.fold(rank, peer, own, result);
                }
                own = result;
            });
            if (size == 1) {
                writer.copy(rank, own, result);
            }
        }
    }
}

Plan reduce_scatter(const GenerateInput& input) {
    const Rank size = input.costs.size();
    PlanWriter writer(Collective::reduce_scatter, size, 0, transport(input), direct.name);
    const std::uint32_t blocks = writer.plan().block_count;
    combine_slices(
        writer, input, blocks,
        [blocks](Rank rank) { return static_cast<std::uint32_t>(rank) * blocks; },
        [](Rank, std::uint32_t block) { return Blocks{Buffer::output, block, 1}; });
    writer.barrier();
    return std::move(writer).finished();
}

/// Slices of allreduce and reduce: `blocks` of them for each rank.
struct Slices {
    Transport how;
    std::uint32_t blocks;

    explicit Slices(const GenerateInput& input) : how(transport(input)), blocks(how.blocks) {
        how.blocks *= static_cast<std::uint32_t>(input.costs.size());
    }
    [[nodiscard]] std::uint32_t first(Rank rank) const {
        return static_cast<std::uint32_t>(rank) * blocks;
    }
};

Plan allreduce(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Slices slices(input);
    PlanWriter writer(Collective::allreduce, size, 0, slices.how, direct.name);
    const auto result_of = [&](Rank rank) {
        return Blocks{Buffer::output, slices.first(rank), slices.blocks};
    };
    combine_slices(
        writer, input, slices.blocks, [&](Rank rank) { return slices.first(rank); },
        [&](Rank rank, std::uint32_t block) {
            return Blocks{Buffer::output, slices.first(rank) + block, 1};
        });
    for (Rank rank = 0; size > 1 && rank < size; ++rank) {
        const std::uint32_t ordinal = writer.publish(rank, result_of(rank));
        for_each_other(rank, size,
                       [&](Rank peer) { writer.read(rank, peer, result_of(peer), ordinal); });
    }
    writer.barrier();
    return std::move(writer).finished();
}

Plan reduce(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    const Slices slices(input);
    PlanWriter writer(Collective::reduce, size, root, slices.how, direct.name);
    if (size > 1) {
        writer.need_scratch(slices.blocks * static_cast<std::uint32_t>(size));
    }
    const auto buffer_of = [root](Rank rank) {
        return rank == root ? Buffer::output : Buffer::scratch;
    };
    combine_slices(
        writer, input, slices.blocks, [&](Rank rank) { return slices.first(rank); },
        [&](Rank rank, std::uint32_t block) {
            return Blocks{buffer_of(rank), slices.first(rank) + block, 1};
        });
    for (Rank rank = 0; rank < size; ++rank) {
        if (rank != root) {
            const Blocks slice{Buffer::output, slices.first(rank), slices.blocks};
            writer.transfer({rank, root, {Buffer::scratch, slice.first, slice.count}, slice, {}});
        }
    }
    writer.barrier();
    return std::move(writer).finished();
}

/// Each rank takes its slice from the root and the other slices from everybody else, so that no
/// buffer is read by all at once.
Plan broadcast(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    const Slices slices(input);
    PlanWriter writer(Collective::broadcast, size, root, slices.how, direct.name);
    const auto slice_of = [&](Rank rank) {
        return Blocks{Buffer::output, slices.first(rank), slices.blocks};
    };
    const bool is_lent = publishes_for_all(input);
    for (Rank rank = 0; rank < size; ++rank) {
        if (rank == root && is_lent) {
            writer.lend(root, {Buffer::output, 0, slices.how.blocks});
        } else if (rank == root) {
            for_each_other(root, size, [&](Rank peer) { writer.send(root, peer, slice_of(peer)); });
        } else if (is_lent) {
            writer.take(rank, root, slices.first(rank), slice_of(rank));
        } else {
            writer.recv(rank, root, slice_of(rank));
        }
    }
    for (Rank rank = 0; size > 1 && rank < size; ++rank) {
        const bool is_read = rank == root || size > 2;
        if (is_read) {
            writer.publish(rank, slice_of(rank));
        }
        if (rank == root) {
            continue;
        }
        for_each_other(rank, size, [&](Rank peer) {
            writer.read(rank, peer, slice_of(peer), is_lent && peer == root ? 1 : 0);
        });
    }
    writer.barrier();
    return std::move(writer).finished();
}

Plan scatter(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    PlanWriter writer(Collective::scatter, size, root, transport(input), direct.name);
    writer.lend(root, places(Buffer::input, 0, size));
    for (Rank rank = 0; rank < size; ++rank) {
        if (rank == root) {
            writer.copy(root, places(Buffer::input, root), places(Buffer::output, 0));
        } else {
            writer.take(rank, root, static_cast<std::uint32_t>(rank), places(Buffer::output, 0));
        }
    }
    return std::move(writer).finished();
}

bool applies(Collective op, const GenerateInput& input) {
    // Larger groups have slices level by level (composed-direct).
    if (input.via != Mechanism::pull ||
        tuning::square_ranks_most.decides(input.costs.size() > tuning::square_ranks_most)) {
        return false;
    }
    switch (op) {
    case Collective::allgather:
    case Collective::alltoall: return input.blocks == 1;
    case Collective::scatter: return input.blocks == 1 && publishes_for_all(input);
    case Collective::reduce_scatter: return true;
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::broadcast:
        return input.costs.size() == 1 ||
               !tuning::slice_bytes_least.decides(
                   input.bytes / static_cast<std::uint64_t>(input.costs.size()) / input.blocks <
                   tuning::slice_bytes_least);
    default: return false;
    }
}

Plan make(Collective op, const GenerateInput& input) {
    switch (op) {
    case Collective::allgather: return allgather(input);
    case Collective::alltoall: return alltoall(input);
    case Collective::reduce_scatter: return reduce_scatter(input);
    case Collective::allreduce: return allreduce(input);
    case Collective::reduce: return reduce(input);
    case Collective::scatter: return scatter(input);
    default: return broadcast(input);
    }
}

} // namespace

constinit const Family direct{
    .name = "direct", .applies = applies, .make = make, .nearest_first = true};

} // namespace corymb::generate
