// SPDX-License-Identifier: Apache-2.0
#include "staging.hpp"

#include <algorithm>
#include <limits>

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
               static_cast<MPI_Count>(static_cast<std::size_t>(elements) * layout.size));
    }
}

} // namespace

bool can_pack(const Layout& layout) noexcept {
#if CORYMB_MPI_HAS_MPI_4
    if (host().Pack_c != nullptr && host().Unpack_c != nullptr) {
        return true;
    }
#endif
    return layout.size <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

void pack(const void* buffer, MPI_Count count, const Layout& layout, std::byte* to) {
    const Host& mpi = host();
    const auto* const all = static_cast<const std::byte*>(buffer);
    in_pieces(buffer, count, layout,
              [&](MPI_Count first, int elements, std::size_t at, auto bytes) {
                  const std::byte* const from = element(all, first, layout);
#if CORYMB_MPI_HAS_MPI_4
                  if (mpi.Pack_c != nullptr) {
                      MPI_Count done = 0;
                      mpi.Pack_c(from, elements, layout.type, to + at, bytes, &done, mpi.comm_self);
                      return;
                  }
#endif
                  int done = 0;
                  mpi.Pack(from, elements, layout.type, to + at, static_cast<int>(bytes), &done,
                           mpi.comm_self);
              });
}

void unpack(const std::byte* from, void* buffer, MPI_Count count, const Layout& layout) {
    const Host& mpi = host();
    auto* const all = static_cast<std::byte*>(buffer);
    in_pieces(
        buffer, count, layout, [&](MPI_Count first, int elements, std::size_t at, auto bytes) {
            std::byte* const to = element(all, first, layout);
#if CORYMB_MPI_HAS_MPI_4
            if (mpi.Unpack_c != nullptr) {
                MPI_Count done = 0;
                mpi.Unpack_c(from + at, bytes, &done, to, elements, layout.type, mpi.comm_self);
                return;
            }
#endif
            int done = 0;
            mpi.Unpack(from + at, static_cast<int>(bytes), &done, to, elements, layout.type,
                       mpi.comm_self);
        });
}

} // namespace corymb::mpi
