// SPDX-License-Identifier: Apache-2.0
#include "base/held_signals.hpp"

#include <cerrno>
#include <ctime>

namespace corymb {

HeldSignals::HeldSignals(std::initializer_list<int> signals) noexcept {
    sigset_t pending{};
    ::sigpending(&pending);
    ::sigemptyset(&held_);
    for (const int signal : signals) {
        if (::sigismember(&pending, signal) == 0) {
            ::sigaddset(&held_, signal);
        }
    }
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() {
    const int kept = errno; // The errno of the call.
    const timespec at_once{};
    while (::sigtimedwait(&held_, nullptr, &at_once) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = kept;
}

} // namespace corymb
