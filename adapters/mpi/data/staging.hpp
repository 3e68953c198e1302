// SPDX-License-Identifier: Apache-2.0
// Elements of datatypes with gaps as bytes in one piece. Ranks may describe the data by different
// types, so each rank stages for itself.
#pragma once

#include "data/elements.hpp"

#include <cstddef>

namespace corymb::mpi {

/// Whether the MPI packs an element of the type: one without large counts takes 2 GiB at most.
[[nodiscard]] bool can_pack(const Layout& layout) noexcept;
/// Bytes of `count` elements in one piece, and back.
void pack(const void* buffer, MPI_Count count, const Layout& layout, std::byte* to);
void unpack(const std::byte* from, void* buffer, MPI_Count count, const Layout& layout);

} // namespace corymb::mpi
