// SPDX-License-Identifier: Apache-2.0
// Sleeps between its looks, since it has the CPU of the rank that it works for: longer and longer,
// and without end when nothing has been under way for long. When the program has stopped to begin
// requests while some are under way, and does not wait for them itself, it computes, or waits in
// the MPI, and looks are close again.
//
// The thread that begins a request and the progress thread that falls asleep see each other:
// 1. begin: counts the request (seq_cst), then reads `asleep` (seq_cst);
// 2. thread: writes `asleep` (seq_cst), then reads the count (seq_cst). One of them sees the other.
// The thread that ends the progress thread does as `begin`, with `must_end` in place of the count.
#include "requests/progress_thread.hpp"

#include "below/hook.hpp"
#include "below/host.hpp"
#include "below/node_ranks.hpp"
#include "policy/tuning.hpp"
#include "requests/requests.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace corymb::mpi {

namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

std::atomic<bool> is_running{false};
std::atomic<bool> must_end{false};
std::atomic<bool> asleep{false};
pthread_t thread{};
pid_t process = 0; ///< The process of the thread: a forked process has none.

void sleep_ns(std::int64_t ns) noexcept {
    constexpr std::int64_t second_ns = 1'000'000'000;
    const timespec time{ns / second_ns, ns % second_ns};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

void sleep_until_woken() noexcept {
    asleep.store(true, std::memory_order_seq_cst);
    if (has_active_requests() || must_end.load(std::memory_order_seq_cst)) {
        asleep.store(false, std::memory_order_relaxed);
    } else {
        asleep.wait(true, std::memory_order_relaxed);
    }
}

void* run(void* /*argument*/) noexcept {
    ::prctl(PR_SET_NAME, "corymb-requests");
    ::prctl(PR_SET_TIMERSLACK, 1);
    std::int64_t pause_ns = tuning::shortest_look_ns; // Pause of a rank that has its CPU to itself.
    std::uint32_t begun_before = 0;
    bool gets_on = true;           // The program, by itself.
    int idle = tuning::idle_looks; // The thread begins asleep.
    while (!must_end.load(std::memory_order_relaxed)) {
        const std::uint32_t begun = requests_begun.load(std::memory_order_relaxed);
        if (has_active_requests()) {
            const bool is_needed = !program_goes_on();
            if (is_needed) {
                static_cast<void>(go_on_with_requests());
            }
            const bool got_on =
                std::exchange(gets_on, begun != begun_before || (gets_on && !is_needed));
            pause_ns = got_on && !gets_on ? tuning::shortest_look_ns
                                          : std::min(pause_ns * 5 / 4, tuning::longest_look_ns);
            idle = 0;
        } else if (++idle > tuning::idle_looks) {
            sleep_until_woken();
            pause_ns = tuning::shortest_look_ns;
            idle = 0;
        }
        begun_before = begun;
        sleep_ns(pause_ns * known_ranks_per_cpu());
    }
    return nullptr;
}

/// Tells the thread to end. False: there is none.
bool stop() noexcept {
    if (!is_running.exchange(false, std::memory_order_acq_rel) || process != ::getpid()) {
        return false;
    }
    must_end.store(true, std::memory_order_seq_cst);
    asleep.store(false, std::memory_order_seq_cst);
    asleep.notify_one();
    return true;
}

/// Called when the program ends, perhaps from within the MPI, with a lock that the thread waits
/// for.
void end_at_exit() noexcept {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (stop() && pthread_timedjoin_np(thread, nullptr, &until) != 0) {
        pthread_detach(thread);
    }
}

/// Signals of the program are for its own threads.
int create() noexcept {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_attr_t attributes;
    if (const int error = pthread_attr_init(&attributes); error != 0) {
        return error;
    }
    // The variables of threads lie on their stacks, and the program may have many.
    using LeastStack = std::size_t (*)(const pthread_attr_t*);
    const auto least =
        reinterpret_cast<LeastStack>(::dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
    if (least != nullptr) {
        pthread_attr_setstacksize(&attributes, least(&attributes) + stack_bytes);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before);
    process = ::getpid();
    const int error = pthread_create(&thread, &attributes, &run, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        std::atexit(&end_at_exit); // A program may end without MPI_Finalize.
    }
    return error;
}

} // namespace

bool make_progress_thread() noexcept {
    static const bool is_made = [] {
        const int error = create();
        if (error != 0) {
            std::fprintf(stderr,
                         "corymb: no thread for requests under way can be made (%s): nonblocking "
                         "and persistent collectives are left to the MPI\n",
                         std::strerror(error));
        }
        is_running.store(error == 0, std::memory_order_release);
        return error == 0;
    }();
    return is_made;
}

void wake_progress_thread() noexcept {
    if (asleep.load(std::memory_order_seq_cst) &&
        asleep.exchange(false, std::memory_order_seq_cst)) {
        asleep.notify_one();
    }
}

void end_progress_thread() noexcept {
    if (stop()) {
        pthread_join(thread, nullptr);
    }
}

} // namespace corymb::mpi
