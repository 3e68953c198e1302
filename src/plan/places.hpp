// SPDX-License-Identifier: Apache-2.0
// The places of a rank's buffers: how many there are, and which of them may be the same memory.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb::plan {

/// Parts of a buffer of `rank` where `all` parts make a whole (Plan::parts); 0 when it does not
/// have the buffer, or need not have been given it. Scratch is counted in places only.
[[nodiscard]] constexpr std::uint32_t parts_of(Collective op, std::uint32_t all, Rank root,
                                               Rank rank, Buffer buffer) noexcept {
    const std::uint32_t at_root = rank == root ? all : 0;
    const bool is_input = buffer == Buffer::input;
    switch (op) {
    case Collective::barrier: return 0;
    case Collective::broadcast: return is_input ? 0 : 1;
    case Collective::reduce:
    case Collective::gather: return is_input ? 1 : at_root;
    case Collective::scatter: return is_input ? at_root : 1;
    case Collective::allreduce:
    case Collective::scan: return 1;
    case Collective::exscan: return is_input || rank != 0 ? 1 : 0;
    case Collective::allgather: return is_input ? 1 : all;
    case Collective::alltoall: return all;
    case Collective::reduce_scatter: return is_input ? all : 1;
    }
    return 0;
}
[[nodiscard]] inline std::uint32_t parts_of(const Plan& plan, Rank rank, Buffer buffer) noexcept {
    return parts_of(plan.op, plan.parts(), plan.root, rank, buffer);
}

/// Whether every rank of a vector operation knows the lengths of all parts. If not, it knows the
/// lengths of parts that it gives or gets.
[[nodiscard]] constexpr bool knows_all_lengths(Collective op) noexcept {
    return op == Collective::allgather || op == Collective::reduce_scatter;
}

/// Places of any buffer of `rank`.
[[nodiscard]] inline std::uint32_t places_of(const Plan& plan, Rank rank, Buffer buffer) noexcept {
    return buffer == Buffer::scratch ? plan.scratch_blocks
                                     : parts_of(plan, rank, buffer) * plan.block_count;
}

/// The offset of place 0 of input or output in the caller's memory, counted in places, when both
/// share that memory as far as they may (see Plan). Places whose sums are equal may be one.
[[nodiscard]] inline std::uint32_t memory_offset(const Plan& plan, Rank rank,
                                                 Buffer buffer) noexcept {
    const std::uint32_t own_part = static_cast<std::uint32_t>(rank) * plan.block_count;
    if (buffer == Buffer::scratch) {
        return 0;
    }
    switch (plan.op) {
    case Collective::gather:
    case Collective::allgather: return buffer == Buffer::input ? own_part : 0;
    case Collective::scatter:
    case Collective::reduce_scatter: return buffer == Buffer::output ? own_part : 0;
    case Collective::alltoall:
        return buffer == Buffer::output ? plan.parts() * plan.block_count : 0;
    default: return 0;
    }
}

/// Bytes from the beginning of a buffer to a place, for parts of `bytes`.
[[nodiscard]] inline std::uint64_t bytes_before(const Plan& plan, std::uint64_t place,
                                                std::uint64_t bytes) noexcept {
    const std::uint64_t within = place % plan.block_count * plan.block_bytes(bytes);
    return place / plan.block_count * bytes + (within < bytes ? within : bytes);
}

/// Bytes of a range of places for parts of `bytes`.
[[nodiscard]] inline std::uint64_t bytes_of(const Plan& plan, const Blocks& blocks,
                                            std::uint64_t bytes) noexcept {
    return blocks.count == 0
               ? 0
               : bytes_before(plan, std::uint64_t{blocks.first} + blocks.count, bytes) -
                     bytes_before(plan, blocks.first, bytes);
}

/// The longest that a range of `places` places can be for any size of an element: blocks are cut
/// at elements, so that a single one may hold all of its part.
[[nodiscard]] inline std::uint64_t most_bytes_of(const Plan& plan, std::uint64_t places) noexcept {
    return plan.block_count == 0
               ? 0
               : (places + plan.block_count - 1) / plan.block_count * plan.bytes_max;
}

} // namespace corymb::plan
