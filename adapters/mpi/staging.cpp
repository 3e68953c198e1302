// SPDX-License-Identifier: Apache-2.0
#include "staging.hpp"

#include <algorithm>

namespace corymb::mpi {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 28; // MPI_Pack counts with int.

template <class Char>
Char* element(Char* buffer, MPI_Count index, const Layout& layout) {
    return buffer + static_cast<std::ptrdiff_t>(index) * layout.extent;
}

/// Calls action(first element, elements, first byte, bytes) for pieces that an int can count. MPICH
/// takes no more than one element at MPI_BOTTOM.
template <class Action>
void in_pieces(const void* buffer, MPI_Count count, const Layout& layout, const Action& action) {
    const std::size_t most = buffer == nullptr ? 1 : piece_bytes;
    const auto per_piece = static_cast<MPI_Count>(
        std::max<std::size_t>(most / std::max<std::size_t>(layout.size, 1), 1));
    for (MPI_Count first = 0; first < count; first += per_piece) {
        const MPI_Count elements = std::min(per_piece, count - first);
        action(first, static_cast<int>(elements), static_cast<std::size_t>(first) * layout.size,
               static_cast<int>(static_cast<std::size_t>(elements) * layout.size));
    }
}

} // namespace

void pack(const void* buffer, MPI_Count count, const Layout& layout, std::byte* to) {
    const auto* const from = static_cast<const std::byte*>(buffer);
    in_pieces(buffer, count, layout, [&](MPI_Count first, int elements, std::size_t at, int bytes) {
        int position = 0;
        host().Pack(element(from, first, layout), elements, layout.type, to + at, bytes, &position,
                    host().comm_self);
    });
}

void unpack(const std::byte* from, void* buffer, MPI_Count count, const Layout& layout) {
    auto* const to = static_cast<std::byte*>(buffer);
    in_pieces(buffer, count, layout, [&](MPI_Count first, int elements, std::size_t at, int bytes) {
        int position = 0;
        host().Unpack(from + at, bytes, &position, element(to, first, layout), elements,
                      layout.type, host().comm_self);
    });
}

} // namespace corymb::mpi
