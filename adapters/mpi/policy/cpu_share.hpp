// SPDX-License-Identifier: Apache-2.0
// Whether others want the CPUs of a rank: other ranks, other threads of its process, strangers.
#pragma once

#include "policy/tuning.hpp"

#include <cstdint>

namespace corymb::mpi {

/// Watches one thread of a rank.
class CpuShare {
public:
    /// `ran_ns` and `waited_ns` are how long the thread has had a CPU and has waited for one, since
    /// it began. Nothing changes before tuning::share_least_ns of both together are over.
    void look(std::uint64_t ran_ns, std::uint64_t waited_ns) noexcept {
        if (ran_ns < ran_ns_ || waited_ns < waited_ns_) { // It is another thread.
            begin(ran_ns, waited_ns);
            return;
        }
        const std::uint64_t ran = ran_ns - ran_ns_;
        const std::uint64_t waited = waited_ns - waited_ns_;
        if (ran + waited >= tuning::share_least_ns) {
            is_shared_ = waited * tuning::shared_is_one_part_of > ran + waited;
            ran_ns_ = ran_ns;
            waited_ns_ = waited_ns;
        }
    }
    /// Begins anew: another thread, or another communicator.
    void begin(std::uint64_t ran_ns, std::uint64_t waited_ns) noexcept {
        ran_ns_ = ran_ns;
        waited_ns_ = waited_ns;
    }
    [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

private:
    std::uint64_t ran_ns_ = 0;
    std::uint64_t waited_ns_ = 0;
    bool is_shared_ = false;
};

} // namespace corymb::mpi
