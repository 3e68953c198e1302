// SPDX-License-Identifier: Apache-2.0
// Turns a failure of corymb into an MPI error.
#pragma once

#include "below/host.hpp"
#include "below/library.hpp"

#include <cstdio>

namespace corymb::mpi {

[[nodiscard]] inline int error_class(corymb_status status) noexcept {
    switch (status) {
    case CORYMB_OK: return MPI_SUCCESS;
    case CORYMB_INVALID_ARGUMENT: return MPI_ERR_ARG;
    case CORYMB_OUT_OF_MEMORY: return MPI_ERR_NO_MEM;
    default: return MPI_ERR_OTHER;
    }
}

/// Reports to stderr, since MPI's error classes say little.
inline void report(corymb_status status) noexcept {
    std::fprintf(stderr, "corymb: %s\n",
                 status == CORYMB_OUT_OF_MEMORY ? "no memory" : library().last_error());
}

} // namespace corymb::mpi
