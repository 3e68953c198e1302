// SPDX-License-Identifier: Apache-2.0
#include "requests/hook.hpp"

#include "below/host.hpp"
#include "below/visit.hpp"
#include "requests/progress_thread.hpp"
#include "requests/requests.hpp"

#include <atomic>

namespace corymb::mpi {

#if defined(OPEN_MPI)

namespace {

using Hook = int (*)();
using Register = int (*)(Hook);

int called_by_mpi() noexcept {
    go_on_with_requests();
    return 0;
}

std::atomic<bool> is_installed{false};

Register function_of_mpi(const char* name) noexcept {
    return reinterpret_cast<Register>(find_in_host(name));
}

} // namespace

bool has_hook() noexcept {
    static const bool has = function_of_mpi("opal_progress_register") != nullptr &&
                            function_of_mpi("opal_progress_unregister") != nullptr;
    return has;
}

void keep_hook() noexcept {
    if (!is_installed.load(std::memory_order_relaxed) &&
        !is_installed.exchange(true, std::memory_order_relaxed)) {
        function_of_mpi("opal_progress_register")(&called_by_mpi);
    }
}

void remove_hook() noexcept {
    if (is_installed.exchange(false, std::memory_order_relaxed)) {
        function_of_mpi("opal_progress_unregister")(&called_by_mpi);
    }
}

bool may_be_complete(MPI_Request /*request*/) noexcept {
    return true;
}

#elif defined(MPIX_STREAM_NULL) && !defined(MPI_ABI)

namespace {

using Hook = int (*)(void* thing);
using Start = int (*)(Hook, void* state, MPIX_Stream stream);

constexpr int nothing_done = 0; // MPIX_ASYNC_NOPROGRESS
constexpr int is_over = 1;      // MPIX_ASYNC_DONE
/// Calls in a row without requests after which the hook goes: until then the next request costs
/// less.
constexpr int idle_calls = 1000;

std::atomic<bool> is_installed{false};
std::atomic<bool> must_end{false};
std::atomic<int> idle{0};

Start start_function() noexcept {
    return reinterpret_cast<Start>(find_in_host("PMPIX_Async_start"));
}

int end_at_once(void* /*thing*/) noexcept {
    return is_over;
}

int called_by_mpi(void* /*thing*/) noexcept {
    if (go_on_with_requests() != 0 && !must_end.load(std::memory_order_relaxed)) {
        idle.store(0, std::memory_order_relaxed);
        return nothing_done;
    }
    if (!must_end.load(std::memory_order_relaxed) &&
        idle.fetch_add(1, std::memory_order_relaxed) < idle_calls) {
        return nothing_done;
    }
    is_installed.store(false, std::memory_order_seq_cst);
    // A request that has begun in between has either installed it again or found it installed.
    const bool is_needed = has_active_requests() && !must_end.load(std::memory_order_relaxed);
    return is_needed && !is_installed.exchange(true, std::memory_order_seq_cst) ? nothing_done
                                                                                : is_over;
}

} // namespace

bool has_hook() noexcept {
    static const bool has = [] {
        const Start start = start_function();
        return start != nullptr && start(&end_at_once, nullptr, MPIX_STREAM_NULL) == MPI_SUCCESS;
    }();
    return has;
}

void keep_hook() noexcept {
    // While it ends, MPICH takes none any more; requests then go on in calls that wait for them.
    if (!must_end.load(std::memory_order_relaxed) &&
        !is_installed.exchange(true, std::memory_order_seq_cst)) {
        idle.store(0, std::memory_order_relaxed);
        start_function()(&called_by_mpi, nullptr, MPIX_STREAM_NULL);
    }
}

bool may_be_complete(MPI_Request request) noexcept {
    using IsComplete = int (*)(MPI_Request);
    static const auto is_complete =
        reinterpret_cast<IsComplete>(find_in_host("MPIX_Request_is_complete"));
    // The progress thread has no hook: the MPI goes on by the thread's own tests.
    return !is_within_mpi || goes_on_by_thread() || is_complete == nullptr ||
           is_complete(request) != 0;
}

void remove_hook() noexcept {
    must_end.store(true, std::memory_order_relaxed);
    for (int i = 0; i < 10 && is_installed.load(std::memory_order_seq_cst); ++i) {
        visit_mpi_at_once();
    }
}

#else

bool has_hook() noexcept {
    return false;
}
void keep_hook() noexcept {}
bool may_be_complete(MPI_Request /*request*/) noexcept {
    return true;
}
void remove_hook() noexcept {}

#endif

} // namespace corymb::mpi
