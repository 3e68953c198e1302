// SPDX-License-Identifier: Apache-2.0
// The MPI_Requests that stand for operations of corymb's: generalized requests of the MPI's own, so
// that no other request has the same value. The MPI never sees them but where the program completes
// one past the adapter (PMPI_Wait, another binding). To the MPI they are complete, with an error:
// it returns that error, and nobody reads data that is not there yet.
#pragma once

#include "requests.hpp"

#include <optional>

namespace corymb::mpi {

/// One of these, for one operation after the other.
struct Handle {
    MPI_Request request{};
    std::optional<Requested> requested{}; ///< Of spare ones there is none.
    /// The MPI has freed it past the adapter, or the adapter is about to.
    bool is_gone = false;
};

/// One that nobody has. Throws std::bad_alloc.
[[nodiscard]] Handle& take_handle();
/// Its operation is over. Unless it is gone, the next one gets it.
void give_handle_back(Handle& handle) noexcept;
/// The one of that value; null: it is the MPI's.
[[nodiscard]] Handle* find_handle(MPI_Request request) noexcept;

} // namespace corymb::mpi
