// SPDX-License-Identifier: Apache-2.0
// A mailbox as Python has it.
#pragma once

#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>

namespace corymb::python {

/// A mailbox, and whether a thread waits with it, without the interpreter lock.
struct PythonMailbox {
    Mailbox box;
    bool is_waiting = false;

    Mailbox& use() {
        if (is_waiting) {
            throw Error(Errc::invalid_argument, "another thread waits with this mailbox; one "
                                                "thread at a time uses it");
        }
        return box;
    }
};

} // namespace corymb::python
