// SPDX-License-Identifier: Apache-2.0
#include "requests/request_handles.hpp"

#include "below/threads.hpp"

#include <cstdio>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::mpi {

namespace {

/// Never destroyed: MPI may call back while the process ends.
struct Table {
    using Handles = std::unordered_map<MPI_Request, Handle>;

    std::mutex lock;
    Handles handles;
    std::vector<Handle*> spare;
    /// Gone, while their operations are under way. Room for all there are.
    std::vector<Handles::node_type> gone;
    Handle* last = nullptr; ///< The last handle that was looked up.
};

Table& table() {
    static auto* const one = new Table;
    return *one;
}

/// The MPI asks how a request has ended that the program completes past the adapter.
int refuse(void* /*handle*/, MPI_Status* status) noexcept {
    std::fputs("corymb: a request of a collective that corymb performs was completed past it, by "
               "PMPI_Wait or the like; CORYMB_MPI=blocking leaves such collectives to the MPI\n",
               stderr);
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = MPI_ERR_REQUEST;
    }
#if defined(OPEN_MPI) // Open MPI's PMPI_Request_get_status does not ask for the outcome.
    host().Comm_call_errhandler(host().comm_world, MPI_ERR_REQUEST);
#endif
    return MPI_ERR_REQUEST;
}

/// The MPI may use the value again for another request, so it is none of corymb's any more.
int forget(void* context) noexcept {
    auto& handle = *static_cast<Handle*>(context);
    Requested* idle = nullptr;
    Table& all = table();
    {
        const std::lock_guard lock(all.lock);
        if (handle.is_gone) {
            return MPI_SUCCESS;
        }
        handle.is_gone = true;
        all.last = nullptr;
        all.gone.push_back(all.handles.extract(handle.request));
        if (handle.requested && !handle.requested->is_active) {
            idle = &*handle.requested;
        }
    }
    if (idle != nullptr) { // PMPI_Request_free of a persistent one.
        drop(*idle);
    }
    return MPI_SUCCESS;
}

int do_not_cancel(void* /*handle*/, int /*is_complete*/) noexcept {
    return MPI_SUCCESS;
}

} // namespace

Handle& take_handle() {
    Table& all = table();
    {
        const LockAmongThreads lock(all.lock);
        if (!all.spare.empty()) {
            Handle& spare = *all.spare.back();
            all.spare.pop_back();
            return spare;
        }
    }
    // The handle's place in memory comes first, under a value that no request has, and goes on
    // failure.
    Table::Handles made;
    Handle& handle = made[host().request_null];
    const Host& mpi = host(); // Not under the lock: the MPI may call back.
    if (mpi.Grequest_start(&refuse, &forget, &do_not_cancel, &handle, &handle.request) !=
            MPI_SUCCESS ||
        mpi.Grequest_complete(handle.request) != MPI_SUCCESS) {
        throw std::bad_alloc();
    }
    auto node = made.extract(made.begin());
    node.key() = handle.request;
    const LockAmongThreads lock(all.lock);
    const std::size_t count = all.handles.size() + all.gone.size() + 1;
    all.spare.reserve(count); // Giving back cannot fail, nor forgetting.
    all.gone.reserve(count);
    all.handles.insert(std::move(node));
    return handle;
}

void give_handle_back(Handle& handle) noexcept {
    Table& all = table();
    const LockAmongThreads lock(all.lock);
    if (!handle.is_gone) {
        all.spare.push_back(&handle);
    }
}

Handle* find_handle(MPI_Request request) noexcept {
    Table& all = table();
    const LockAmongThreads lock(all.lock);
    if (all.last == nullptr || all.last->request != request) {
        const auto found = all.handles.find(request);
        if (found == all.handles.end()) {
            return nullptr;
        }
        all.last = &found->second;
    }
    return all.last;
}

void give_back_handles(bool all) noexcept {
    Table& handles = table();
    auto given_back = Table::Handles(); // Freed outside the lock: types go, and call the program.
    {
        const std::lock_guard lock(handles.lock);
        handles.last = nullptr;
        handles.spare.clear();
        for (auto entry = handles.handles.begin(); entry != handles.handles.end();) {
            const auto next = std::next(entry);
            if (all || !entry->second.requested) {
                entry->second.is_gone = true;
                given_back.insert(handles.handles.extract(entry));
            }
            entry = next;
        }
    }
    for (auto& [request, handle] : given_back) {
        MPI_Request value = request;
        host().Request_free(&value); // The MPI may use its number again.
    }
}

} // namespace corymb::mpi
