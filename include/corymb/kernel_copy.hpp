// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corymb {

/// The cost of a copy that the kernel makes out of another process.
struct KernelCopy {
    double start_ns = 0; ///< Before the first byte moves.
    double gbs = 0;      ///< 10^9 bytes per second; 0: absent.
    [[nodiscard]] bool present() const noexcept { return gbs > 0; }
};

} // namespace corymb
