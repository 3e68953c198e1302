// SPDX-License-Identifier: Apache-2.0
#include "user_operator.hpp"

#include "collected.hpp"
#include "python_call.hpp"

#include <corymb/error.hpp>

#include <nanobind/stl/optional.h>

#include <cstring>
#include <utility>

namespace corymb::python {

namespace {

UserOperator create(nb::callable function, bool commute) {
    return {shared_function(std::move(function)), commute};
}

const nb::callable& function_of(const UserOperator& op) {
    if (!op.function) {
        throw Error(Errc::invalid_argument, "this operator was freed; create another");
    }
    return *op.function;
}

/// The letter of struct for a type that a memoryview can show; "B", single bytes, for the others.
const char* letter_of(std::optional<ElementType> type) {
    if (!type) {
        return "B";
    }
    switch (*type) {
    case ElementType::int8: return "b";
    case ElementType::int16: return "h";
    case ElementType::uint16: return "H";
    case ElementType::int32: return "i";
    case ElementType::uint32: return "I";
    case ElementType::int64: return "q";
    case ElementType::uint64: return "Q";
    case ElementType::float32: return "f";
    case ElementType::float64: return "d";
    case ElementType::boolean: return "?";
    default: return "B";
    }
}

/// Bytes that belong to Python, seen as elements: the function may keep what it is given.
nb::object view_of(nb::handle bytes, std::optional<ElementType> type) {
    const nb::object view = nb::steal(PyMemoryView_FromObject(bytes.ptr()));
    if (!view.is_valid()) {
        throw nb::python_error();
    }
    return view.attr("cast")(letter_of(type));
}

} // namespace

int UserOperator::visit(visitproc visit, void* arg) const {
    return visit_function(function, visit, arg);
}

UserReduction::UserReduction(const UserOperator& op, std::size_t element_bytes,
                             std::optional<ElementType> type)
    : op_(op), element_bytes_(element_bytes), type_(type) {
    function_of(op_);
}

Reduction UserReduction::reduction() {
    return {combine, element_bytes_, op_.commutative, this, 0, !op_.commutative};
}

void UserReduction::combine(const void* left, const void* right, void* out, std::size_t count,
                            void* context) {
    const auto& self = *static_cast<const UserReduction*>(context);
    const std::size_t size = count * self.element_bytes_;
    if (size == 0) { // Blocks may be empty.
        return;
    }
    const nb::gil_scoped_acquire lock;
    const nb::bytes in(left, size);
    const nb::bytearray in_out(right, size);
    (*self.op_.function)(view_of(in, self.type_), view_of(in_out, self.type_), self.type_);
    if (in_out.size() != size) {
        throw Error(Errc::invalid_argument, "the operator has changed the length of inoutbuf");
    }
    std::memcpy(out, in_out.c_str(), size);
}

void bind_user_operator(nb::module_& module) {
    nb::class_<UserOperator>(
        module, "Op",
        "An operator of your own for the reductions of `corymb.Team`; as in mpi4py.\n\n"
        ">>> def gcds(inbuf, inoutbuf, datatype):\n"
        "...     for i, value in enumerate(inbuf):\n"
        "...         inoutbuf[i] = math.gcd(value, inoutbuf[i])",
        nb::type_slots(Collected<UserOperator>::slots))
        .def_static(
            "Create", create, nb::arg("function"), nb::arg("commute") = false,
            "An operator that calls `function(inbuf, inoutbuf, datatype)`, which sets each element "
            "of inoutbuf to inbuf (op) inoutbuf. Both are memoryviews of equally many elements: "
            "numbers where Python has them, else single bytes; `datatype` is None where corymb has "
            "none. It must be associative. Unless `commute` is true, inbuf comes from lower ranks "
            "than inoutbuf, and both hold all that a rank contributes; else they come in any order "
            "and in pieces. What it raises leaves the operation and breaks the team.")
        .def(
            "Free", [](UserOperator& self) { self.function.reset(); },
            "Lets go of the function; operations under way keep it.")
        .def(
            "Is_commutative", [](const UserOperator& self) { return self.commutative; },
            "Whether it was created so.")
        .def(
            "__call__",
            [](const UserOperator& self, nb::handle x, nb::handle y) {
                return nb::object(function_of(self)(x, y, nb::none()));
            },
            nb::arg("x"), nb::arg("y"),
            "`function(x, y, None)`, of objects instead of buffers: what `allreduce` and `reduce` "
            "of objects need.");
}

} // namespace corymb::python
