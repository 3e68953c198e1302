// SPDX-License-Identifier: Apache-2.0
#include "operand.hpp"

#include "element_format.hpp"

#include <corymb/error.hpp>
#include <corymb/operators.hpp>

#include <nanobind/stl/string.h>

#include <limits>
#include <string>

namespace corymb::python {

namespace {

struct InPlace {};

/// corymb._core.IN_PLACE, which the module holds.
nb::handle& the_place() {
    static nb::handle only;
    return only;
}

[[noreturn]] void refuse(const char* name, const std::string& text) {
    throw Error(Errc::invalid_argument, std::string(name) + " " + text);
}

bool is_list(nb::handle object) {
    return PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0;
}

/// An array of numpy may stand for an index, too: one that has a length is a sequence.
bool is_number(nb::handle object) {
    if (PyIndex_Check(object.ptr()) == 0) {
        return false;
    }
    const bool has_length =
        PyLong_Check(object.ptr()) == 0 && PyObject_Size(object.ptr()) >= 0; // Else an exception.
    PyErr_Clear();
    return !has_length;
}

/// numpy.dtype; None until somebody has imported numpy.
nb::object numpy_dtype() {
    const nb::object modules = nb::module_::import_("sys").attr("modules");
    const nb::object numpy = modules.attr("get")("numpy");
    return numpy.is_none() ? numpy : numpy.attr("dtype");
}

/// A dtype of numpy, or a class that numpy makes one of, such as numpy.float64.
bool is_numpy_type(nb::handle object) {
    const nb::object dtype = numpy_dtype();
    return !dtype.is_none() &&
           (PyType_Check(object.ptr()) != 0 || PyObject_IsInstance(object.ptr(), dtype.ptr()) == 1);
}

bool is_type(nb::handle object) {
    return nb::isinstance<nb::str>(object) || nb::isinstance<ElementType>(object) ||
           is_numpy_type(object);
}

std::size_t size_of(nb::handle number, const char* name) {
    if (PyIndex_Check(number.ptr()) == 0) {
        refuse(name, std::string("has a count or displacement that is no integer, ") +
                         nb::repr(number).c_str());
    }
    const Py_ssize_t value = PyNumber_AsSsize_t(number.ptr(), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    if (value < 0) {
        refuse(name, "has a negative count or displacement, " + std::to_string(value));
    }
    return static_cast<std::size_t>(value);
}

ElementType type_named(nb::handle given) {
    if (nb::isinstance<ElementType>(given)) {
        return nb::cast<ElementType>(given);
    }
    const auto text = nb::cast<std::string>(given);
    static const std::string narrow = "bB?c";
    static const std::string half = "hHe";
    static const std::string word = "iIf";
    const std::size_t bytes = narrow.find(text) != std::string::npos ? 1
                              : half.find(text) != std::string::npos ? 2
                              : word.find(text) != std::string::npos ? 4
                              : text == "Zd" || text == "D"          ? 16
                                                                     : 8;
    const auto type = element_type_of_format(text, bytes);
    return type ? *type : element_type_from_string(text);
}

std::string text_of(nb::handle object) {
    return nb::str(object).c_str();
}

} // namespace

std::vector<std::size_t> sizes_of(nb::handle sequence, const char* name) {
    std::vector<std::size_t> sizes;
    for (const nb::handle number : nb::borrow<nb::object>(sequence)) {
        sizes.push_back(size_of(number, name));
    }
    return sizes;
}

nb::handle in_place() {
    return the_place();
}

Operand::Operand(nb::handle given, bool written, const char* argument) : name(argument) {
    if (given.is_none()) {
        return;
    }
    if (given.is(in_place())) {
        is_in_place = true;
    } else if (is_list(given)) {
        read_list(given, written);
    } else {
        buffer = Buffer(given, written, name);
        data = buffer.data();
        element_bytes = buffer.item_bytes();
        count = buffer.bytes() / element_bytes;
        type = buffer.type();
        contents = buffer.contents();
    }
}

void Operand::read_list(nb::handle list, bool written) {
    std::vector<nb::object> items;
    for (const nb::handle item : nb::borrow<nb::object>(list)) {
        items.push_back(nb::borrow(item));
    }
    if (items.empty() || items.size() > 4) {
        refuse(name, "is a list of " + std::to_string(items.size()) +
                         " items; write [buffer, count, type] or "
                         "[buffer, counts, displacements, type]");
    }
    if (items[0].is_none()) {
        return;
    }
    buffer = Buffer(items[0], written, name);
    data = buffer.data();
    element_bytes = buffer.item_bytes();
    type = buffer.type();
    contents = buffer.contents();
    std::size_t end = items.size();
    if (end > 1 && is_type(items[end - 1])) {
        read_type(items[--end]);
    }
    count = buffer.bytes() / element_bytes;
    if (end > 1) {
        read_counts(items[1]);
    }
    if (end > 2 && has_parts && displacements.empty()) {
        displacements = items[2].is_none() ? displacements : sizes_of(items[2], name);
    } else if (end > 2) {
        refuse(name, "is a list of buffer, count and something that is no type; write "
                     "[buffer, count, corymb.DOUBLE] or the like");
    }
}

void Operand::read_counts(nb::handle given) {
    const std::size_t there = count;
    if (given.is_none()) {
        return;
    }
    if (is_number(given)) {
        count = size_of(given, name);
        if (count > there) {
            refuse(name, "has " + std::to_string(there) + " elements, fewer than the count " +
                             std::to_string(count));
        }
        return;
    }
    if (PySequence_Check(given.ptr()) == 0) {
        refuse(name, "is a list whose second item is neither a count nor a sequence of counts");
    }
    has_parts = true;
    const auto sequence = nb::borrow<nb::object>(given);
    if (is_list(given) && nb::len(sequence) == 2 && !is_number(sequence[0])) {
        counts = sizes_of(sequence[0], name);
        displacements = sequence[1].is_none() ? displacements : sizes_of(sequence[1], name);
    } else {
        counts = sizes_of(given, name);
    }
}

void Operand::read_type(nb::handle given) {
    std::size_t wide = 0;
    if (is_numpy_type(given)) {
        const Buffer none_of_it(nb::module_::import_("numpy").attr("empty")(0, given), false, name);
        type = none_of_it.type();
        contents = none_of_it.contents();
        wide = none_of_it.item_bytes();
    } else {
        type = type_named(given);
        contents = detail::move_identity(*type);
        wide = corymb::element_bytes(*type);
    }
    if (buffer.bytes() % wide != 0) {
        refuse(name, "has " + std::to_string(buffer.bytes()) +
                         " bytes, which is no whole number of elements of " + std::to_string(wide) +
                         " bytes (" + text_of(given) + ")");
    }
    element_bytes = wide;
}

void bind_types(nb::module_& module) {
    nb::class_<InPlace>(module, "InPlaceType", "The type of corymb.IN_PLACE.")
        .def("__repr__", [](const InPlace&) { return "corymb.IN_PLACE"; });
    const nb::object only = nb::cast(InPlace{});
    module.attr("IN_PLACE") = only;
    the_place() = only;
    nb::enum_<ElementType> types(module, "Datatype", "Element types; docs/reference/operators.md.");
    for (std::size_t i = 0; i < element_type_count; ++i) {
        const auto type = static_cast<ElementType>(i);
        types.value(to_string(type), type);
    }
    nb::enum_<Operator> operators(module, "Operator", "What reductions combine elements with.");
    for (std::size_t i = 0; i < operator_count; ++i) {
        const auto op = static_cast<Operator>(i);
        operators.value(to_string(op), op);
    }
}

} // namespace corymb::python
