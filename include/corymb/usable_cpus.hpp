// SPDX-License-Identifier: Apache-2.0
// The number of ranks that can run at the same time in this process.
#pragma once

#include <corymb/export.hpp>

#include <optional>
#include <vector>

namespace corymb {

/// CPUs that this process may use: affinity mask, cpuset and CPU quota together.
struct CORYMB_EXPORT UsableCpus {
    std::vector<int> allowed;    ///< Operating-system numbers, out of the calling thread's mask.
    std::optional<double> quota; ///< CPUs' worth of time per period from cgroups, if limited.
    /// min(allowed, floor(quota)), at least 1: the number of ranks that can run at the same time.
    [[nodiscard]] int count() const noexcept;
};
/// The mask is the present one; the quota is read once a process. Thread-safe.
CORYMB_EXPORT UsableCpus usable_cpus();

} // namespace corymb
