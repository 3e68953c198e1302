// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <atomic>
#include <initializer_list>

namespace corymb::bench {

namespace {

// Relaxed: the handler runs on the thread that reads it.
std::atomic<bool> signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write nothing else");
sigset_t original_mask;

void on_signal(int /*number*/) {
    signalled.store(true, std::memory_order_relaxed);
}

} // namespace

void prepare_interrupts() {
    sigset_t blocked;
    sigemptyset(&blocked);
    struct sigaction action{};
    action.sa_handler = on_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        sigaddset(&blocked, number);
        sigaction(number, &action, nullptr);
    }
    // A worker that died is found out by the failing write.
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &blocked, &original_mask);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        sigdelset(&original_mask, number);
    }
}

void restore_interrupts() noexcept {
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &original_mask, nullptr);
}

const sigset_t& mask_while_waiting() noexcept {
    return original_mask;
}

void check_interrupt() {
    if (signalled.load(std::memory_order_relaxed)) {
        throw Interrupted();
    }
}

} // namespace corymb::bench
