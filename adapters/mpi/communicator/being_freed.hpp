// SPDX-License-Identifier: Apache-2.0
// Communicators that the program is freeing. Their attributes go with them, in an order of the
// MPI's, and the attributes' callbacks may still call collectives. The MPI does all of these calls:
// the adapter's attribute may have gone before, and not on all ranks.
#pragma once

#include "below/host.hpp"

namespace corymb::mpi {

/// While it lives, on its thread. They end in the reverse order of their beginning.
class BeingFreed {
public:
    explicit BeingFreed(MPI_Comm comm) noexcept;
    BeingFreed(const BeingFreed&) = delete;
    BeingFreed& operator=(const BeingFreed&) = delete;
    ~BeingFreed();

    /// Whether this thread is freeing it.
    [[nodiscard]] static bool has(MPI_Comm comm) noexcept;

private:
    MPI_Comm comm_;
    const BeingFreed* outer_;
};

} // namespace corymb::mpi
