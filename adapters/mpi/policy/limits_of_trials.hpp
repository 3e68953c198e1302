// SPDX-License-Identifier: Apache-2.0
// What is not tried.
#pragma once

#include "policy/choice.hpp"
#include "policy/tuning.hpp"

#include <cstdint>

namespace corymb::mpi {

/// What the ranks of a communicator on one node have agreed on.
struct Crowd {
    bool is_crowded;  ///< There are more ranks than CPUs.
    bool is_mpi_slow; ///< A call of the MPI's waits for slices of time.
    bool has_thread;  ///< Requests of a rank go on by a thread.
};

/// Gives corymb what is not tried. True: nonblocking calls are not tried at all, so the ranks need
/// not agree on any.
[[nodiscard]] inline bool limit_trials(const Crowd& crowd, Choice& choice,
                                       Choice& request_choice) noexcept {
    if (!crowd.is_crowded) {
        return false;
    }
    choice.give_to_corymb(crowd.is_mpi_slow ? ~std::uint64_t{0} : tuning::crowded_bytes);
    request_choice.give_any_size_to_corymb();
    if (crowd.is_mpi_slow) {
        request_choice.give_to_corymb();
        return true;
    }
    if (!crowd.has_thread) { // Threads take CPUs from ranks, in short calls, too.
        request_choice.give_to_corymb(tuning::crowded_bytes);
    }
    return false;
}

} // namespace corymb::mpi
