// SPDX-License-Identifier: Apache-2.0
// Failures for C callers, in place of exceptions: a status, and the text and ranks of the last
// failure of their thread.
#pragma once

#include <corymb.h>
#include <corymb/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corymb::c {

[[nodiscard]] corymb_status status_of(Errc code) noexcept;
/// The Errc of a status; team_broken for a status that is no Errc.
[[nodiscard]] Errc errc_of(corymb_status status) noexcept;

/// Ends a call of the C interface with an error.
[[noreturn]] inline void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

/// Throws for a null pointer; `what` names the parameter as in the header.
template <class T>
void require(T* pointer, const char* what) {
    if (pointer == nullptr) [[unlikely]] {
        refuse(std::string(what) + " is NULL");
    }
}

/// Throws if the handler of a message has returned a failure.
inline void check_handler(corymb_status status) {
    if (status != CORYMB_OK) {
        throw Error(errc_of(status),
                    std::string("the handler of a message returned ") + corymb_status_name(status));
    }
}

/// Keeps text and ranks for corymb_last_error; returns `status`.
corymb_status note_failure(corymb_status status, const char* text,
                           const std::vector<int>& ranks = {}) noexcept;
/// Failures noted on this thread, and the status of the last one.
[[nodiscard]] std::uint64_t failure_count() noexcept;
[[nodiscard]] corymb_status last_status() noexcept;
/// As note_failure, for the exception that is being handled, of any type.
corymb_status note_exception() noexcept;

/// Runs the body of a function of the C interface: its exceptions end here.
template <class Body>
corymb_status guarded(Body&& body) noexcept {
    try {
        body();
        return CORYMB_OK;
    } catch (...) {
        return note_exception();
    }
}

} // namespace corymb::c
