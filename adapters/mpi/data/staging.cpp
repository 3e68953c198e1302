// SPDX-License-Identifier: Apache-2.0
#include "data/staging.hpp"

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

/// Elements at MPI_BOTTOM as one element at another place: MPICH 4.0 takes no null pointer to pack
/// from or to unpack to.
class FromAnchor {
public:
    FromAnchor(MPI_Datatype type, int elements) noexcept {
        MPI_Aint place = 0;
        host().Get_address(&anchor_, &place);
        place = -place;
        host().Type_create_hindexed(1, &elements, &place, type, &type_);
        host().Type_commit(&type_);
    }
    FromAnchor(const FromAnchor&) = delete;
    FromAnchor& operator=(const FromAnchor&) = delete;
    ~FromAnchor() { host().Type_free(&type_); }

    [[nodiscard]] std::byte* anchor() const noexcept { return &anchor_; }
    [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

private:
    mutable std::byte anchor_{};
    MPI_Datatype type_{};
};

void pack_piece(const std::byte* from, int elements, MPI_Datatype type, std::byte* to,
                MPI_Count bytes) {
    const Host& mpi = host();
#if CORYMB_MPI_HAS_MPI_4
    if (mpi.Pack_c != nullptr) {
        MPI_Count done = 0;
        mpi.Pack_c(from, elements, type, to, bytes, &done, mpi.comm_self);
        return;
    }
#endif
    int done = 0;
    mpi.Pack(from, elements, type, to, static_cast<int>(bytes), &done, mpi.comm_self);
}

void unpack_piece(const std::byte* from, MPI_Count bytes, std::byte* to, int elements,
                  MPI_Datatype type) {
    const Host& mpi = host();
#if CORYMB_MPI_HAS_MPI_4
    if (mpi.Unpack_c != nullptr) {
        MPI_Count done = 0;
        mpi.Unpack_c(from, bytes, &done, to, elements, type, mpi.comm_self);
        return;
    }
#endif
    int done = 0;
    mpi.Unpack(from, static_cast<int>(bytes), &done, to, elements, type, mpi.comm_self);
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
    const auto* const all = static_cast<const std::byte*>(buffer);
    in_pieces(buffer, count, layout,
              [&](MPI_Count first, int elements, std::size_t at, auto bytes) {
                  const std::byte* const from = element(all, first, layout);
                  if (from == nullptr) {
                      const FromAnchor there(layout.type, elements);
                      pack_piece(there.anchor(), 1, there.type(), to + at, bytes);
                  } else {
                      pack_piece(from, elements, layout.type, to + at, bytes);
                  }
              });
}

void unpack(const std::byte* from, void* buffer, MPI_Count count, const Layout& layout) {
    auto* const all = static_cast<std::byte*>(buffer);
    in_pieces(buffer, count, layout,
              [&](MPI_Count first, int elements, std::size_t at, auto bytes) {
                  std::byte* const to = element(all, first, layout);
                  if (to == nullptr) {
                      const FromAnchor there(layout.type, elements);
                      unpack_piece(from + at, bytes, there.anchor(), 1, there.type());
                  } else {
                      unpack_piece(from + at, bytes, to, elements, layout.type);
                  }
              });
}

} // namespace corymb::mpi
