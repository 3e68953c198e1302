// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.hpp"
#include "host.hpp"

#include <cstddef>

namespace corymb::mpi {

/// A buffer as the program describes it, or the part of one that is this rank's.
struct Described {
    const void* buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/// The elements from number `first` on.
[[nodiscard]] inline Described from_element(MPI_Count first, const Described& all,
                                            const Layout& layout) noexcept {
    const auto* const begin = static_cast<const std::byte*>(all.buffer);
    return {begin == nullptr ? nullptr : begin + static_cast<std::ptrdiff_t>(first) * layout.extent,
            all.count, all.type};
}

/// MPICH and Intel MPI refuse what is both, described alike, without MPI_IN_PLACE. They do so on
/// the rank that calls, which may make up for it, so this is told without a word to others. Open
/// MPI refuses it in Reduce and Allreduce only, some versions of it; there libcorymb judges.
[[nodiscard]] inline bool is_aliased([[maybe_unused]] const Described& in,
                                     [[maybe_unused]] const Described& out) noexcept {
#if defined(OPEN_MPI)
    return false;
#else
    return in.buffer == out.buffer && in.buffer != nullptr && in.count > 0 &&
           in.count == out.count && in.type == out.type;
#endif
}

} // namespace corymb::mpi
