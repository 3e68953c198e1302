// SPDX-License-Identifier: Apache-2.0
// The MPI library below: its functions under their PMPI_ names, and its constants.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>

namespace corymb::mpi {

/// Address of a symbol of the MPI that the process has loaded; null when it has none.
[[nodiscard]] void* find_in_host(const char* name) noexcept;
/// Address of a variable of the MPI. A program may have a copy of it in its own memory, which the
/// MPI then uses as well (copy relocation).
[[nodiscard]] void* find_variable(const char* name) noexcept;

} // namespace corymb::mpi

#if defined(OPEN_MPI) && defined(OMPI_PREDEFINED_GLOBAL)
// Open MPI's handles are addresses of its variables. A reference to one would keep this library
// from being loaded into programs without MPI, such as the launcher, so they are looked up.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                                       \
    (static_cast<type>(::corymb::mpi::find_variable(#global)))
#endif

#include "pmpi_functions.inc" // CORYMB_PMPI_FUNCTIONS(X), made by entry_points.py

namespace corymb::mpi {

/// Found once, when the program first calls MPI through this library. A function that this MPI does
/// not have is null.
struct Host {
#define CORYMB_PMPI_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
    CORYMB_PMPI_FUNCTIONS(CORYMB_PMPI_MEMBER)
#undef CORYMB_PMPI_MEMBER
    MPI_Comm comm_null{};
    MPI_Comm comm_world{};
    MPI_Comm comm_self{};
    MPI_Request request_null{};
    MPI_Datatype type_null{};
    MPI_Datatype type_byte{};
    MPI_Datatype type_uint64{};
    MPI_Op op_null{};
    MPI_Op op_bor{};
    MPI_Op op_max{};
    MPI_Op op_sum{};
    MPI_Errhandler errors_return{};
    bool whole = false; ///< All that the adapter itself needs is there.
};

/// Finds it at the first call.
[[nodiscard]] const Host& find_host() noexcept;
inline constinit std::atomic<const Host*> known_host{nullptr};

[[nodiscard]] inline const Host& host() noexcept {
    const Host* const known = known_host.load(std::memory_order_acquire);
    return known != nullptr ? *known : find_host();
}

} // namespace corymb::mpi
