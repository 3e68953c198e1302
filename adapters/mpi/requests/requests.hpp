// SPDX-License-Identifier: Apache-2.0
// Operations of corymb's that the program holds an MPI_Request of (request_handles.hpp).
#pragma once

#include "below/call.hpp"
#include "communicator/communicator.hpp"
#include "data/work.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace corymb::mpi {

/// Makes a work in the place where it stays; not owning.
class WorkMaker {
public:
    template <class F>
    explicit WorkMaker(const F& make) noexcept
        : self_(&make), make_([](const void* self) { return (*static_cast<const F*>(self))(); }) {}
    Work operator()() const { return make_(self_); }

private:
    const void* self_;
    Work (*make_)(const void*);
};

struct Handle;

/// An operation, until its request is completed or, if persistent, freed.
struct Requested {
    /// Throws std::bad_alloc.
    Requested(Communicator& its_communicator, Form its_form, Handle& its_handle,
              const WorkMaker& make)
        : communicator(&its_communicator), form(its_form), handle(&its_handle), work(make()) {}

    Communicator* communicator;
    Form form;
    Handle* handle;
    Work work;
    corymb_request* request = nullptr;
    bool is_active = false;  ///< Started, not completed.
    bool is_over = false;    ///< Done; the program has not been told.
    bool has_failed = false; ///< The MPI may still use its buffers.
    int error = MPI_SUCCESS;
};

/// Requests that the program holds, and those among them that are not done.
inline constinit std::atomic<int> requests_held{0};
inline constinit std::atomic<int> requests_active{0};
/// Waits in which all of them go on (polling.hpp).
inline constinit std::atomic<int> waits_by_polling{0};
/// How many have been started.
inline constinit std::atomic<std::uint32_t> requests_begun{0};
[[nodiscard]] inline bool has_requests() noexcept {
    return requests_held.load(std::memory_order_relaxed) != 0;
}
[[nodiscard]] inline bool has_active_requests() noexcept {
    return requests_active.load(std::memory_order_seq_cst) != 0;
}

/// Starts the work, or makes its persistent request. Returns corymb's status; after an error there
/// is no request. Throws std::bad_alloc.
corymb_status hand_out(Communicator& communicator, Form form, const WorkMaker& make,
                       MPI_Request* request);

/// The operation of a handle, or null: the request is the MPI's.
[[nodiscard]] Requested* find_request(MPI_Request handle) noexcept;
/// Looks once, bounded. True: the operation is over, or not active.
bool poll(Requested& requested) noexcept;
/// Returns when the operation is over.
void wait_for(Requested& requested) noexcept;
/// Starts a persistent request; returns MPI's error code.
int start(Requested& requested) noexcept;
/// The program is told that it is over: a nonblocking request goes, a persistent one can be started
/// again. Returns the operation's outcome.
int complete(Requested& requested, MPI_Request* handle) noexcept;
/// Frees a persistent request that is not active.
void free_request(Requested& requested, MPI_Request* handle) noexcept;
/// Forgets the operation, and gives its handle back.
void drop(Requested& requested) noexcept;
/// Calls the error handler of the operation's communicator; returns `error`.
int raise_error(Requested& requested, int error);

/// Called by the MPI, or by the thread in its place: goes on with all requests as far as possible
/// at once. Returns about how many are under way; 0: none.
std::size_t go_on_with_requests() noexcept;
/// Whether the program itself goes on with all that is under way: it is in a call that does.
[[nodiscard]] bool program_goes_on() noexcept;
/// The communicator's team is about to go, and has no requests under way.
void go_on_without(Communicator& communicator) noexcept;
/// For Communicator::forget_requests.
void forget_communicator(Communicator& communicator) noexcept;
/// At MPI_Finalize, where peers may still need this rank for operations that it has begun: goes on
/// with all of them until nothing is under way. Operations need not be completed in one order
/// everywhere.
void finish_requests() noexcept;
/// Call it at MPI_Finalize, when nothing is under way.
void forget_active_communicators() noexcept;
/// Gives back handles at MPI_Finalize; all of them, or those that the program does not have.
void give_back_handles(bool all) noexcept;

} // namespace corymb::mpi
