// SPDX-License-Identifier: Apache-2.0
#include "agreement/agree.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace corymb::mpi {

bool agree(Agreement& agreement, MPI_Comm comm) noexcept {
    const Host& mpi = host();
    for (const Agreement::By by : {Agreement::By::bit_or, Agreement::By::maximum}) {
        const std::span<const std::uint64_t> own = agreement.words(by);
        if (own.empty()) {
            continue;
        }
        std::array<std::uint64_t, Agreement::words_most> all{};
        const MPI_Op op = by == Agreement::By::bit_or ? mpi.op_bor : mpi.op_max;
        if (mpi.Allreduce(own.data(), all.data(), static_cast<int>(own.size()), mpi.type_uint64, op,
                          comm) != MPI_SUCCESS) {
            return false;
        }
        agreement.take(by, {all.data(), own.size()});
    }
    return true;
}

} // namespace corymb::mpi
