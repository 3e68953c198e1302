// SPDX-License-Identifier: Apache-2.0
// Errors and interrupts across the language border.
#include "bindings.hpp"

#include <corymb/error.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <new>
#include <regex>
#include <stdexcept>
#include <string>

namespace corymb::python {

namespace {

/// Texts of the library name things as C++ does: options are arguments here, members have a dot,
/// and the buffers of a call have mpi4py's names.
std::string in_python(const Error& error) {
    static const std::regex option("\\b[A-Z]\\w*(Options|Request|Need|Topology)::(\\w+)");
    static const std::regex member("\\b([A-Z]\\w*)::([a-z]\\w*)");
    static const std::regex scope("\\b(?:corymb|std)::(?:[a-z]\\w*::)*(?=\\w)");
    static const std::regex both("\\binput and output\\b");
    static const std::regex input("\\bthe input\\b");
    static const std::regex output("\\bthe output\\b");
    std::string text = error.what();
    if (text.find("::") != std::string::npos) {
        text = std::regex_replace(std::regex_replace(text, option, "$2"), member, "$1.$2");
        text = std::regex_replace(text, scope, "");
    }
    if (error.code() == Errc::invalid_argument) {
        text = std::regex_replace(text, both, "sendbuf and recvbuf");
        text = std::regex_replace(text, input, "sendbuf");
        text = std::regex_replace(text, output, "recvbuf");
    }
    return text;
}

constexpr auto no_memory = "there is not enough memory; give smaller sizes or counts";

void translate(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const Error& error) {
        try {
            const nb::object type = nb::module_::import_("corymb.errors").attr("Error");
            const nb::object value = type(in_python(error), to_string(error.code()), error.ranks());
            PyErr_SetObject(type.ptr(), value.ptr());
        } catch (nb::python_error& failed) {
            failed.restore();
        }
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, no_memory);
    } catch (const std::length_error&) { // More than any memory holds.
        PyErr_SetString(PyExc_MemoryError, no_memory);
    }
}

} // namespace

void bind_error(nb::module_&) {
    nb::register_exception_translator(translate, nullptr);
}

bool ProgressBridge::report(double done, std::string_view what) {
    const nb::gil_scoped_acquire lock;
    if (exception_.is_valid()) {
        return false;
    }
    try {
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
        if (callable_.is_valid() && !callable_.is_none()) {
            const nb::object answer = callable_(done, nb::str(what.data(), what.size()));
            return !answer.is(nb::handle(Py_False));
        }
    } catch (nb::python_error& error) {
        exception_ = nb::borrow(error.value());
        return false;
    }
    return true;
}

void ProgressBridge::rethrow() {
    if (exception_.is_valid()) {
        PyErr_SetObject(nb::handle(exception_.type()).ptr(), exception_.ptr());
        throw nb::python_error();
    }
}

} // namespace corymb::python
