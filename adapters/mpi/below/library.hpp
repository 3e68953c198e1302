// SPDX-License-Identifier: Apache-2.0
// libcorymb, opened when the first team is made: this library is loaded into every process of a
// job, also into shells and launchers, and brings nothing along there.
#pragma once

#include <corymb.h>

#include <atomic>
#include <string>
#include <utility>

namespace corymb::mpi {

/// Functions of <corymb.h> that the adapter calls.
#define CORYMB_MPI_LIBRARY(X)                                                                      \
    X(last_error)                                                                                  \
    X(free)                                                                                        \
    X(set_hooks_urgent)                                                                            \
    X(attach)                                                                                      \
    X(process_team_create)                                                                         \
    X(process_team_try_meet)                                                                       \
    X(process_team_join)                                                                           \
    X(absent_ranks)                                                                                \
    X(make_team_descriptor)                                                                        \
    X(team_abandon)                                                                                \
    X(team_notes)                                                                                  \
    X(team_plans)                                                                                  \
    X(call_create)                                                                                 \
    X(call_run)                                                                                    \
    X(team_over_nodes)                                                                             \
    X(team_network)                                                                                \
    X(knows_network)                                                                               \
    X(run)                                                                                         \
    X(begin)                                                                                       \
    X(prepare)                                                                                     \
    X(is_defined)                                                                                  \
    X(op_create)                                                                                   \
    X(op_free)                                                                                     \
    X(type_of_bytes)                                                                               \
    X(type_size)                                                                                   \
    X(test)                                                                                        \
    X(wait)                                                                                        \
    X(start)                                                                                       \
    X(progress)                                                                                    \
    X(give_back)

struct Library {
#define CORYMB_MPI_MEMBER(name) decltype(&corymb_##name) name = nullptr;
    CORYMB_MPI_LIBRARY(CORYMB_MPI_MEMBER)
#undef CORYMB_MPI_MEMBER
    std::string missing; ///< Why it cannot be used; empty when it can.
};

/// Opens libcorymb at the first call.
[[nodiscard]] const Library& open_library();
inline constinit std::atomic<const Library*> known_library{nullptr};

[[nodiscard]] inline const Library& library() {
    const Library* const known = known_library.load(std::memory_order_acquire);
    return known != nullptr ? *known : open_library();
}

/// Gives a handle of libcorymb back, whatever that says, and sets it to null.
template <class Handle>
void give_back(corymb_handle_kind kind, Handle*& handle) {
    void* given = std::exchange(handle, nullptr);
    library().give_back(kind, &given);
}

} // namespace corymb::mpi
