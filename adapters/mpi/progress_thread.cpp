// SPDX-License-Identifier: Apache-2.0
// Sleeps between its looks, since it has the CPU of the rank that it works for: longer and longer
// while the program gets on by itself, and without end when nothing has been under way for long.
//
// Who begins a request and the thread that falls asleep see each other:
// 1. begin: counts the request (seq_cst), then reads `asleep` (seq_cst);
// 2. thread: writes `asleep` (seq_cst), then reads the count (seq_cst). One of them sees the other.
#include "progress_thread.hpp"

#include "hook.hpp"
#include "host.hpp"
#include "requests.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace corymb::mpi {

namespace {

constexpr std::int64_t shortest_ns = 50'000;
constexpr std::int64_t longest_ns = 1'000'000;
constexpr int idle_looks = 100;
constexpr std::size_t stack_bytes = 256 * 1024;

enum class State : std::uint8_t { none, runs, failed };

std::atomic<State> state{State::none};
std::atomic<bool> must_end{false};
std::atomic<bool> asleep{false};
pthread_t thread{};
pid_t process = 0; ///< That the thread is in: a forked one has none.

void sleep_ns(std::int64_t ns) noexcept {
    const timespec time{0, ns};
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
    std::int64_t pause_ns = shortest_ns;
    std::size_t left_before = 0;
    int idle = 0;
    while (!must_end.load(std::memory_order_relaxed)) {
        if (has_active_requests()) {
            const std::size_t left = go_on_with_requests();
            pause_ns = left < left_before ? shortest_ns : std::min(2 * pause_ns, longest_ns);
            left_before = left;
            idle = 0;
        } else if (++idle > idle_looks) {
            sleep_until_woken();
            pause_ns = shortest_ns;
            idle = 0;
        }
        sleep_ns(pause_ns);
    }
    return nullptr;
}

/// For a program that ends without MPI_Finalize, too.
void end_at_exit() {
    end_progress_thread();
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
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    process = ::getpid();
    const int error = pthread_create(&thread, &attributes, &run, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        std::atexit(&end_at_exit);
    }
    return error;
}

void begin() noexcept {
    State none = State::none;
    if (!state.compare_exchange_strong(none, State::failed, std::memory_order_acq_rel)) {
        return; // Another thread of the program's makes it.
    }
    if (const int error = create(); error != 0) {
        std::fprintf(stderr,
                     "corymb: no thread for requests under way (%s): they go on in collectives "
                     "and in functions that complete requests only\n",
                     std::strerror(error));
        return;
    }
    state.store(State::runs, std::memory_order_release);
}

} // namespace

bool goes_on_by_thread() noexcept {
    static const bool by_thread = [] {
        const char* const word = std::getenv("CORYMB_MPI_PROGRESS");
        return (word != nullptr && std::strcmp(word, "thread") == 0) || !has_hook();
    }();
    return by_thread;
}

void keep_progress_thread() noexcept {
    if (state.load(std::memory_order_acquire) == State::none) [[unlikely]] {
        begin();
    }
    if (asleep.load(std::memory_order_seq_cst) &&
        asleep.exchange(false, std::memory_order_seq_cst)) {
        asleep.notify_one();
    }
}

void end_progress_thread() noexcept {
    State runs = State::runs;
    if (!state.compare_exchange_strong(runs, State::failed, std::memory_order_acq_rel) ||
        process != ::getpid()) {
        return;
    }
    must_end.store(true, std::memory_order_seq_cst);
    asleep.store(false, std::memory_order_seq_cst);
    asleep.notify_one();
    pthread_join(thread, nullptr);
}

} // namespace corymb::mpi
