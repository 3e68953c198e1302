// SPDX-License-Identifier: Apache-2.0
#include "agreement/agree.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace corymb::mpi {

bool agree(Agreement& agreement, MPI_Comm comm) noexcept {
    const Host& mpi = host();
    const MPI_Op ops[] = {mpi.op_bor, mpi.op_max, mpi.op_sum}; // As Agreement::By.
    for (const Agreement::By by : Agreement::all_ways) {
        const std::span<const std::uint64_t> own = agreement.words(by);
        if (own.empty()) {
            continue;
        }
        std::array<std::uint64_t, Agreement::words_most> all{};
        if (mpi.Allreduce(own.data(), all.data(), static_cast<int>(own.size()), mpi.type_uint64,
                          ops[static_cast<std::size_t>(by)], comm) != MPI_SUCCESS) {
            return false;
        }
        agreement.take(by, {all.data(), own.size()});
    }
    return true;
}

} // namespace corymb::mpi
