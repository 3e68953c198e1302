// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "below/host.hpp"
#include "below/mpi_progress.hpp"
#include "data/elements.hpp"

#include <cstddef>
#include <cstdint>

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

/// Whether the MPI refuses input that is output, too; a switch of its own may permit it
/// (MPIR_CVAR_COLL_ALIAS_CHECK=0). It is asked, where nobody else is concerned, with an element of
/// no data: MPICH ends the process that copies a byte onto itself.
[[nodiscard]] inline bool refuses_aliased() noexcept {
    static const bool refuses = [] {
        const Host& mpi = host();
        const MPI_Comm quiet = quiet_comm();
        const int length = 0;
        const MPI_Aint place = 0;
        char byte = 0;
        MPI_Datatype none{};
        if (quiet == mpi.comm_null ||
            mpi.Type_create_hindexed(0, &length, &place, mpi.type_byte, &none) != MPI_SUCCESS) {
            return true;
        }
        mpi.Type_commit(&none);
        const int result = mpi.Gather(&byte, 1, none, &byte, 1, none, 0, quiet);
        mpi.Type_free(&none);
        return result != MPI_SUCCESS;
    }();
    return refuses;
}

/// MPICH and Intel MPI refuse a buffer that is both input and output, described alike, without
/// MPI_IN_PLACE. They refuse on the calling rank, which may call again, so no other rank is told.
/// All other buffers that overlap are copied first (Work::separate).
[[nodiscard]] inline bool is_aliased([[maybe_unused]] const Described& in,
                                     [[maybe_unused]] const Described& out) noexcept {
#if defined(OPEN_MPI)
    return false;
#else
    return in.buffer == out.buffer && in.buffer != nullptr && in.count > 0 &&
           in.count == out.count && in.type == out.type && refuses_aliased();
#endif
}

} // namespace corymb::mpi
