// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace corymb {

/// Threads that are made while this lives get no signal: signals are for the program's threads, and
/// new threads inherit the mask.
class BlockedSignals {
public:
    BlockedSignals() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_{};
};

} // namespace corymb
