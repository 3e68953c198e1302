// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <signal.h>

namespace corymb {

/// Keeps signals that a system call sends to its own thread from ending the process: SIGXFSZ beyond
/// the limit of file sizes, SIGPIPE of a pipe without a reader. The call then fails with errno
/// alone. Signals that were blocked or pending before stay so.
class HeldSignals {
public:
    explicit HeldSignals(std::initializer_list<int> signals) noexcept;
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    ~HeldSignals();

private:
    sigset_t held_{}; ///< The signals that were not pending before.
    sigset_t before_{};
};

} // namespace corymb
