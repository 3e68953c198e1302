// SPDX-License-Identifier: Apache-2.0
// The MPI_Requests that stand for operations of corymb: generalized requests of the MPI, so that no
// other request has their values. The MPI sees them only if the program completes one past the
// adapter (PMPI_Wait, another binding). For the MPI they are complete, with an error: it returns
// that error, and the program does not read data that is not there yet.
#pragma once

#include "requests/requests.hpp"

#include <optional>

namespace corymb::mpi {

/// A request handle, for one operation after the other.
struct Handle {
    MPI_Request request{};
    std::optional<Requested> requested{}; ///< Empty in spare handles.
    /// The MPI has freed it past the adapter, or the adapter is about to.
    bool is_gone = false;
};

/// A free handle. Throws std::bad_alloc.
[[nodiscard]] Handle& take_handle();
/// Gives back a handle whose operation is over. Unless it is gone, the next operation gets it.
void give_handle_back(Handle& handle) noexcept;
/// The handle of that value; null: the request is the MPI's.
[[nodiscard]] Handle* find_handle(MPI_Request request) noexcept;

} // namespace corymb::mpi
