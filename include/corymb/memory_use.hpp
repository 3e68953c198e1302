// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace corymb {

/// What a shared structure takes on this rank, in bytes.
struct MemoryUse {
    std::size_t data = 0;
    std::size_t replicas = 0; ///< Copies of elements of other ranks.
    std::size_t overhead = 0; ///< All else.
};

} // namespace corymb
