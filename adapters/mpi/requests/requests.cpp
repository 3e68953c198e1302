// SPDX-License-Identifier: Apache-2.0
#include "requests/requests.hpp"

#include "below/hook.hpp"
#include "below/library.hpp"
#include "below/mpi_progress.hpp"
#include "below/outcome.hpp"
#include "below/tuning.hpp"
#include "requests/progress_thread.hpp"
#include "requests/request_handles.hpp"
#include "requests/request_trials.hpp"

#include <algorithm>
#include <mutex>
#include <sched.h>
#include <utility>
#include <vector>

namespace corymb::mpi {

namespace {

/// Communicators that have had requests under way. A thread that holds `lock` may be within the
/// MPI, but no thread waits for it there: the MPI's hook only tries to get the lock.
struct ActiveCommunicators {
    std::mutex lock;
    std::vector<Communicator*> communicators;
};

ActiveCommunicators& active_communicators() {
    static auto* const one = new ActiveCommunicators;
    return *one;
}

/// Lists the communicator: from now on its requests go on. Throws std::bad_alloc.
void list(Communicator& communicator) {
    if (!communicator.is_listed.load(std::memory_order_relaxed)) {
        ActiveCommunicators& all = active_communicators();
        const std::lock_guard lock(all.lock);
        // Another thread may have listed it.
        if (!communicator.is_listed.load(std::memory_order_relaxed)) {
            all.communicators.push_back(&communicator);
            communicator.forget_requests.store(&forget_communicator, std::memory_order_release);
            communicator.is_listed.store(true, std::memory_order_relaxed);
        }
    }
}

/// Gives the operation a handle, by which it is found then. Throws std::bad_alloc.
Requested& enter(Communicator& communicator, Form form, const WorkMaker& make) {
    Handle& handle = take_handle();
    try {
        Requested& requested = handle.requested.emplace(communicator, form, handle, make);
        requested.work.separate();
        requested.work.keep_types();
        requested.work.prepare();
        list(communicator);
        return requested;
    } catch (...) {
        handle.requested.reset();
        give_handle_back(handle);
        throw;
    }
}

constexpr HookActions hook_actions{&go_on_with_requests, &has_active_requests};

void begin(Requested& requested) noexcept {
    add(requested.communicator->active, 1);
    add(requests_begun, std::uint32_t{1});
    add(requests_active, 1, std::memory_order_seq_cst);
    requested.is_active = true;
    requested.is_over = false;
    requested.error = MPI_SUCCESS;
    goes_on_by_thread() ? wake_progress_thread() : keep_hook(hook_actions);
}

void end(Requested& requested) noexcept {
    add(requests_active, -1);
    add(requested.communicator->active, -1);
    requested.is_over = true;
}

/// Goes on with the requests under way on the communicator. Returns their number; 0 after a
/// failure.
std::size_t under_way(Communicator& communicator) noexcept {
    std::size_t left = 0;
    library().progress(communicator.team, &left);
    return left;
}

/// Goes on with the first communicator from `place` on that has something under way; false: there
/// is none, or another thread has the list. A thread that has the team keeps the communicator,
/// without the list.
bool go_on_from(std::size_t& place, std::size_t& left) noexcept {
    ActiveCommunicators& all = active_communicators();
    std::unique_lock lock(all.lock, std::try_to_lock);
    if (!lock.owns_lock()) {
        return false;
    }
    while (place < all.communicators.size() &&
           all.communicators[place]->active.load(std::memory_order_relaxed) == 0) {
        ++place;
    }
    if (place >= all.communicators.size()) {
        return false;
    }
    Communicator& communicator = *all.communicators[place++];
    const InUse use(communicator, std::try_to_lock);
    if (use.has_it()) {
        lock.unlock();
        left += under_way(communicator); // Failures are told by their requests.
    } else {
        left += static_cast<std::size_t>(communicator.active.load(std::memory_order_relaxed));
    }
    return true;
}

/// The library is done with the operation.
void settle(Requested& requested, corymb_status status) noexcept {
    if (status == CORYMB_OK) {
        requested.work.finish();
    } else {
        report(status);
        requested.communicator->has_failed.store(true, std::memory_order_relaxed);
        requested.error = error_class(status);
        requested.has_failed = true;
    }
    end(requested);
}

/// Under InUse: frees works that could not be freed at once.
void free_left(Communicator& communicator) noexcept {
    if (communicator.has_left.load(std::memory_order_relaxed)) {
        const std::lock_guard lock(communicator.left_lock);
        for (corymb_request*& request : communicator.left) {
            give_back(CORYMB_HANDLE_REQUEST, request);
        }
        communicator.left.clear();
        communicator.has_left.store(false, std::memory_order_relaxed);
    }
}

/// MPI_Request_free waits for nobody: another thread of the program's may be in a collective of the
/// communicator, and its peers may wait for this one.
void free_or_leave(Communicator& communicator, corymb_request* request) noexcept {
    try {
        const InUse use(communicator, std::try_to_lock);
        if (use.has_it()) {
            give_back(CORYMB_HANDLE_REQUEST, request);
            return;
        }
        if (has_many_threads()) {
            const std::lock_guard lock(communicator.left_lock);
            communicator.left.push_back(request);
            communicator.has_left.store(true, std::memory_order_relaxed);
            return;
        }
    } catch (const std::exception&) { // No memory to leave it in: it waits.
    }
    const InUse use(communicator);
    give_back(CORYMB_HANDLE_REQUEST, request);
}

} // namespace

void drop(Requested& requested) noexcept {
    Communicator* const communicator = requested.communicator;
    if (requested.request != nullptr) {
        free_or_leave(*communicator, requested.request);
    }
    add(requests_held, -1);
    Handle& handle = *requested.handle;
    if (requested.has_failed) { // Copies that abandoned messages lie in are never given back.
        static auto* const kept = new std::vector<std::unique_ptr<Work>>;
        try {
            kept->push_back(std::make_unique<Work>(std::move(requested.work)));
        } catch (const std::exception&) { // The handle is not freed either.
            let_go(*communicator);
            return;
        }
    }
    handle.requested.reset(); // The destruction may give types back to the MPI.
    give_handle_back(handle);
    let_go(*communicator);
}

corymb_status hand_out(Communicator& communicator, Form form, const WorkMaker& make,
                       MPI_Request* request) {
    if (!communicator.is_shared && goes_on_by_thread()) {
        communicator.is_shared = true;
    }
    Requested& requested = enter(communicator, form, make);
    hold(communicator);
    add(requests_held, 1);
    if (form == Form::nonblocking) {
        begin(requested);
    }
    corymb_status status = CORYMB_OK;
    {
        const InUse use(communicator);
        free_left(communicator);
        status = requested.work.call(form, communicator.team, &requested.request);
    }
    if (status != CORYMB_OK) {
        if (form == Form::nonblocking) {
            end(requested);
        }
        drop(requested);
        return status;
    }
    *request = requested.handle->request;
    return CORYMB_OK;
}

Requested* find_request(MPI_Request handle) noexcept {
    Handle* const found = find_handle(handle);
    return found != nullptr && found->requested ? &*found->requested : nullptr;
}

bool poll(Requested& requested) noexcept {
    if (!requested.is_active || requested.is_over) {
        return true;
    }
    int done = 0;
    corymb_status status = CORYMB_OK;
    {
        const InUse use(*requested.communicator, std::try_to_lock);
        if (!use.has_it()) {
            return false; // The thread that has the team goes on with this operation, too.
        }
        status = library().test(&requested.request, &done);
    }
    if (done == 0 && status == CORYMB_OK) {
        return false;
    }
    settle(requested, status);
    return true;
}

void wait_for(Requested& requested) noexcept {
    if (!requested.is_active || requested.is_over) {
        return;
    }
    if (!has_many_threads()) {
        corymb_status status = CORYMB_OK;
        {
            const InUse use(*requested.communicator);
            status = library().wait(&requested.request);
        }
        settle(requested, status);
        return;
    }
    // Another thread may have to use the communicator before this operation can end.
    add(requested.communicator->waits, 1);
    for (int polls = 0; !poll(requested); ++polls) {
        progress_mpi();
        if (polls > tuning::polls_awake) {
            sched_yield();
        }
    }
    add(requested.communicator->waits, -1);
}

int start(Requested& requested) noexcept {
    if (requested.is_active) {
        return MPI_ERR_REQUEST;
    }
    corymb_status status = CORYMB_OUT_OF_MEMORY;
    try {
        requested.work.prepare();
        begin(requested);
        const InUse use(*requested.communicator);
        status = library().start(requested.request);
    } catch (const std::exception&) {
        abandon(*requested.communicator, "no memory for a copy of a buffer");
        report(status);
        return MPI_ERR_NO_MEM;
    }
    if (status != CORYMB_OK) {
        report(status);
        requested.communicator->has_failed.store(true, std::memory_order_relaxed);
        end(requested);
        requested.is_active = false;
        return error_class(status);
    }
    return MPI_SUCCESS;
}

int complete(Requested& requested, MPI_Request* handle) noexcept {
    const int error = requested.error;
    requested.is_active = false;
    requested.is_over = false;
    requested.error = MPI_SUCCESS;
    if (requested.form == Form::nonblocking) {
        free_request(requested, handle);
    }
    return error;
}

void free_request(Requested& requested, MPI_Request* handle) noexcept {
    drop(requested);
    *handle = host().request_null;
}

int raise_error(Requested& requested, int error) {
    host().Comm_call_errhandler(is_orphan(*requested.communicator) ? host().comm_world
                                                                   : requested.communicator->comm,
                                error);
    return error;
}

std::size_t go_on_with_requests() noexcept {
    const int active = requests_active.load(std::memory_order_relaxed);
    if (active <= 0) {
        return 0;
    }
    if (is_within_mpi) { // The library has called the MPI, whose hook has come back here.
        return static_cast<std::size_t>(active);
    }
    is_within_mpi = true;
    std::size_t left = 0;
    for (std::size_t place = 0; go_on_from(place, left);) {
    }
    is_within_mpi = false;
    return std::max<std::size_t>(left, 1);
}

bool program_goes_on() noexcept {
    if (waits_by_polling.load(std::memory_order_relaxed) != 0) {
        return true;
    }
    ActiveCommunicators& all = active_communicators();
    const std::unique_lock lock(all.lock, std::try_to_lock);
    return lock.owns_lock() &&
           std::ranges::all_of(all.communicators, [](const Communicator* communicator) {
               return communicator->active.load(std::memory_order_relaxed) == 0 ||
                      communicator->busy.load(std::memory_order_relaxed) ||
                      communicator->waits.load(std::memory_order_relaxed) != 0;
           });
}

void go_on_without(Communicator& communicator) noexcept {
    if (communicator.is_listed.load(std::memory_order_relaxed)) {
        ActiveCommunicators& all = active_communicators();
        const std::lock_guard lock(all.lock);
        std::erase(all.communicators, &communicator);
        communicator.is_listed.store(false, std::memory_order_relaxed);
    }
    const InUse last(
        communicator); // Another thread may still go on with an operation that is over.
    free_left(communicator);
}

void forget_communicator(Communicator& communicator) noexcept {
    forget_attempts(communicator);
    go_on_without(communicator);
}

void finish_requests() noexcept {
    ActiveCommunicators& all = active_communicators();
    std::size_t left = 1;
    for (int polls = 0; left > 0; ++polls) {
        left = 0;
        is_within_mpi = true; // The MPI's hook has nothing to add.
        for (std::size_t place = 0;; ++place) {
            // Not under the list's lock: the MPI may free a communicator meanwhile.
            std::unique_lock lock(all.lock);
            if (place >= all.communicators.size()) {
                break;
            }
            Communicator& communicator = *all.communicators[place];
            const InUse use(communicator);
            lock.unlock();
            left += under_way(communicator);
        }
        is_within_mpi = false;
        if (left > 0) {
            progress_mpi();
        }
        if (polls > tuning::polls_awake) {
            sched_yield();
        }
    }
}

void forget_active_communicators() noexcept {
    ActiveCommunicators& communicators = active_communicators();
    const std::lock_guard lock(communicators.lock);
    communicators.communicators.clear();
}

} // namespace corymb::mpi
