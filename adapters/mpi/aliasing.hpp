// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host.hpp"

namespace corymb::mpi {

/// MPICH refuses a buffer that is both without MPI_IN_PLACE, Open MPI does not.
[[nodiscard]] inline bool is_aliased([[maybe_unused]] const void* in,
                                     [[maybe_unused]] const void* out,
                                     [[maybe_unused]] bool has_data) noexcept {
#if defined(OPEN_MPI)
    return false;
#else
    return in == out && in != nullptr && has_data;
#endif
}

} // namespace corymb::mpi
