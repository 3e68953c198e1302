// SPDX-License-Identifier: Apache-2.0
// A mailbox as Python has it.
#pragma once

#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>

#include <utility>

namespace corymb::python {

/// A mailbox, and whether a thread waits with it, without the interpreter lock, or is in the middle
/// of a callback.
struct PythonMailbox {
    Mailbox box;
    bool is_waiting = false;
    bool is_probing = false;

    Mailbox& use() {
        if (is_waiting) {
            throw Error(Errc::invalid_argument, "another thread waits with this mailbox; one "
                                                "thread at a time uses it");
        }
        return box;
    }
    /// The mailbox, which the caller ends.
    Mailbox take() {
        if (is_probing) {
            throw Error(Errc::invalid_argument, "a callback must not close the mailbox that it is "
                                                "called by");
        }
        return std::move(use());
    }
};

} // namespace corymb::python
