// SPDX-License-Identifier: Apache-2.0
// Ctrl-C. The signals are blocked except while the driver waits, so that none is lost between a
// look at the flag and the wait.
#pragma once

#include <csignal>
#include <exception>

namespace corymb::bench {

/// Thrown by waits of the driver; unwinding ends all children.
class Interrupted : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Blocks SIGINT, SIGTERM and SIGHUP for this thread and installs the handler; once, at the start.
void prepare_interrupts();
/// For a child between fork and exec: what `prepare_interrupts` found.
void restore_interrupts() noexcept;
/// The mask to wait with (`ppoll`).
const sigset_t& mask_while_waiting() noexcept;
/// Throws Interrupted when a signal has come.
void check_interrupt();

} // namespace corymb::bench
