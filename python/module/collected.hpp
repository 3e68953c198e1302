// SPDX-License-Identifier: Apache-2.0
// Lets Python's collector see through objects of C++ that hold Python functions: a function that
// refers to the object which holds it, such as a method of the object's owner, is a cycle.
#pragma once

#include "bindings.hpp"
#include "python_call.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace corymb::python {

/// Shows a function to the collector unless somebody else, who is not shown, holds it as well.
inline int visit_function(const std::shared_ptr<nb::callable>& function, visitproc visit,
                          void* arg) {
    if (function.use_count() == 1) {
        Py_VISIT(function->ptr());
    }
    return 0;
}

/// Functions by number, held here and nowhere else: what the library is given is a weak reference.
class HeldFunctions {
public:
    /// In place of the one that had this number.
    void hold(std::uint32_t number, std::shared_ptr<nb::callable> function) {
        functions_[number] = std::move(function);
    }
    int visit(visitproc visit, void* arg) const {
        for (const auto& [number, function] : functions_) {
            if (const int stop = visit_function(function, visit, arg); stop != 0) {
                return stop;
            }
        }
        return 0;
    }
    void clear() noexcept { functions_.clear(); }

private:
    std::map<std::uint32_t, std::shared_ptr<nb::callable>> functions_;
};

/// For nb::type_slots of a class with `int visit(visitproc, void*) const`, and `void let_go()
/// noexcept`, which ends what needs the functions and then drops them. That runs as a finalizer:
/// the functions still find all that they refer to.
template <class Object>
struct Collected {
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        return nb::inst_ready(self) ? nb::inst_ptr<Object>(self)->visit(visit, arg) : 0;
    }
    static int clear(PyObject* self) {
        if (nb::inst_ready(self)) {
            nb::inst_ptr<Object>(self)->let_go();
        }
        return 0;
    }
    static void finalize(PyObject* self) {
        const nb::error_scope keeps_raised;
        clear(self);
    }
    static inline PyType_Slot slots[] = {
        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(clear)},
        {Py_tp_finalize, reinterpret_cast<void*>(finalize)},
        {0, nullptr},
    };
};

} // namespace corymb::python
