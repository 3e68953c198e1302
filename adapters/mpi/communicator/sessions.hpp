// SPDX-License-Identifier: Apache-2.0
// Sessions of the program, and the end of MPI (entry/lifecycle.cpp).
#pragma once

#include <atomic>

namespace corymb::mpi {

/// Sessions that are open; MPI_Finalize, or the last session after it, ends the adapter.
inline constinit std::atomic<int> open_sessions{0};
inline constinit std::atomic<bool> had_sessions{false};

[[nodiscard]] inline bool has_sessions() noexcept {
    return open_sessions.load() > 0;
}
/// Whether a session is open or was once. Each has a thread level of its own.
[[nodiscard]] inline bool has_had_sessions() noexcept {
    return had_sessions.load();
}

/// Sees that all is given back in MPI_Finalize, however that is called; the sooner the better. Null
/// only before the adapter's constructors have run.
inline constinit std::atomic<void (*)() noexcept> watch_for_the_end{nullptr};

} // namespace corymb::mpi
