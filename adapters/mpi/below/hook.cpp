// SPDX-License-Identifier: Apache-2.0
#include "below/hook.hpp"

#include "below/host.hpp"
#include "below/mpi_progress.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace corymb::mpi {

namespace {

[[maybe_unused]] std::atomic<const HookActions*> hook_actions{nullptr};

} // namespace

#if defined(OPEN_MPI)

namespace {

using Hook = int (*)();
using Register = int (*)(Hook);

int called_by_mpi() noexcept {
    hook_actions.load(std::memory_order_acquire)->go_on();
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

void keep_hook(const HookActions& actions) noexcept {
    hook_actions.store(&actions, std::memory_order_release);
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
    const HookActions& actions = *hook_actions.load(std::memory_order_acquire);
    if (actions.go_on() != 0 && !must_end.load(std::memory_order_relaxed)) {
        idle.store(0, std::memory_order_relaxed);
        return nothing_done;
    }
    if (!must_end.load(std::memory_order_relaxed) &&
        idle.fetch_add(1, std::memory_order_relaxed) < idle_calls) {
        return nothing_done;
    }
    is_installed.store(false, std::memory_order_seq_cst);
    // A request that has begun in between has either installed it again or found it installed.
    const bool is_needed = actions.is_needed() && !must_end.load(std::memory_order_relaxed);
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

void keep_hook(const HookActions& actions) noexcept {
    hook_actions.store(&actions, std::memory_order_release);
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
        progress_mpi_at_once();
    }
}

#else

bool has_hook() noexcept {
    return false;
}
void keep_hook(const HookActions& /*actions*/) noexcept {}
bool may_be_complete(MPI_Request /*request*/) noexcept {
    return true;
}
void remove_hook() noexcept {}

#endif

bool goes_on_by_thread() noexcept {
    static const bool by_thread = [] {
        const char* const word = std::getenv("CORYMB_MPI_PROGRESS");
        const bool is_wanted = word != nullptr && std::strcmp(word, "thread") == 0;
        if (int rank = 0; word != nullptr && *word != '\0' && !is_wanted &&
                          host().Comm_rank(host().comm_world, &rank) == MPI_SUCCESS && rank == 0) {
            std::fprintf(stderr, "corymb: CORYMB_MPI_PROGRESS=%s means nothing; it may be thread\n",
                         word);
        }
        return is_wanted || !has_hook();
    }();
    return by_thread;
}

} // namespace corymb::mpi
