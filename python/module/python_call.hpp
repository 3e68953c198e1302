// SPDX-License-Identifier: Apache-2.0
// A Python function that the library calls and lets go of, on any thread.
#pragma once

#include "bindings.hpp"

#include <corymb/error.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace corymb::python {

/// Copied without the interpreter lock, and let go of with it, by whoever has it last.
inline std::shared_ptr<nb::callable> shared_function(nb::callable function) {
    return {new nb::callable(std::move(function)), [](nb::callable* last) {
                const nb::gil_scoped_acquire lock;
                delete last;
            }};
}

/// Copied without the interpreter lock; takes it to call.
class PythonCall {
public:
    /// `as_text`: what it raises leaves as text, for what goes to another process.
    PythonCall(nb::callable function, bool as_text)
        : PythonCall(shared_function(std::move(function)), as_text) {}
    PythonCall(std::shared_ptr<nb::callable> function, bool as_text)
        : function_(std::move(function)), as_text_(as_text) {}

    void operator()() const {
        const nb::gil_scoped_acquire lock;
        run([this] { (*function_)(); });
    }
    void operator()(std::span<const std::byte> message) const {
        const nb::gil_scoped_acquire lock;
        run([&] {
            (*function_)(nb::bytes(static_cast<const void*>(message.data()), message.size()));
        });
    }

    /// Gives take(result) what function(from, argument) returns.
    template <class Take>
    void ask(int from, std::span<const std::byte> argument, const Take& take) const {
        const nb::gil_scoped_acquire lock;
        run([&] {
            const nb::bytes copy(static_cast<const void*>(argument.data()), argument.size());
            take((*function_)(from, copy));
        });
    }

private:
    /// A KeyboardInterrupt is of this thread, and raised again when Python goes on; who waits for
    /// the function hears of it in words.
    template <class Call>
    void run(const Call& call) const {
        try {
            call();
        } catch (nb::python_error& error) {
            if (error.matches(PyExc_KeyboardInterrupt)) {
                PyErr_SetInterrupt();
                throw Error(Errc::interrupted, "Ctrl-C has ended the function that was called");
            }
            if (as_text_) {
                throw std::runtime_error(std::string(nb::type_name(error.type()).c_str()) + ": " +
                                         nb::str(error.value()).c_str());
            }
            throw;
        }
    }

    std::shared_ptr<nb::callable> function_;
    bool as_text_;
};

} // namespace corymb::python
