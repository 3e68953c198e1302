// SPDX-License-Identifier: Apache-2.0
#include "early_calls.hpp"

#include "group.hpp"

#include <algorithm>

namespace corymb::mpi {

bool have_taken_long(Group& group) noexcept {
    // Meeting costs a call: there are to be few, and none long after the time.
    constexpr std::int64_t least_growth = 2;
    constexpr std::int64_t most_growth = 8;
    constexpr int made_most = 1 << 26;

    EarlyCalls& early = group.early;
    const auto mine = static_cast<std::uint64_t>(early.ns);
    std::uint64_t most = 0;
    if (host().Allreduce(&mine, &most, 1, host().type_uint64, host().op_max, group.comm) !=
        MPI_SUCCESS) {
        return true; // The talks that follow fail in the same way, and say so.
    }
    const auto most_ns = std::max<std::int64_t>(static_cast<std::int64_t>(most), 1);
    if (most_ns >= early.wanted_ns || early.made > made_most) {
        return true;
    }
    const std::int64_t growth = std::clamp(early.wanted_ns / most_ns, least_growth, most_growth);
    early.until = early.made * static_cast<int>(growth);
    return false;
}

} // namespace corymb::mpi
