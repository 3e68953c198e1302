// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corymb {

/// Where the parts of a shared structure are kept. docs/reference/shared.md says what each gives.
enum class Placement {
    owned,     ///< On their owners alone.
    cached,    ///< Ranks also keep what they have fetched, until it is written.
    replicated ///< While the structure is frozen, also once for each memory node (NUMA) of ranks.
};

} // namespace corymb
