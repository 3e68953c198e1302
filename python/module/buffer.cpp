// SPDX-License-Identifier: Apache-2.0
#include "buffer.hpp"

#include "element_format.hpp"

#include <corymb/detail/contents.hpp>
#include <corymb/error.hpp>

#include <utility>

namespace corymb::python {

namespace {

[[noreturn]] void refuse(const char* name, const std::string& text) {
    throw Error(Errc::invalid_argument, std::string(name) + " " + text);
}

[[noreturn]] void refuse_stride(const char* name) {
    refuse(name, "is not contiguous; pass a contiguous copy, and copy the result back");
}

[[noreturn]] void refuse_reading(const char* name) {
    refuse(name, "is read-only; the result needs memory that can be written");
}

/// Says why an object that has DLPack gives no tensor.
[[noreturn]] void refuse_tensor(nb::handle object, const char* name) {
    constexpr int cpu = 1; // DLPack's kDLCPU.
    std::string why = "no tensor of the CPU came out of it";
    try {
        if (nb::cast<int>(object.attr("__dlpack_device__")()[0]) == cpu) {
            static_cast<void>(object.attr("__dlpack__")());
        } else {
            why = "its memory is not that of a CPU";
        }
    } catch (nb::python_error& error) {
        why = nb::str(error.value()).c_str(); // No std::string: this file has no caster for it.
    } catch (const nb::cast_error&) {         // A device that is no number.
    }
    refuse(name, "has DLPack, but cannot be used: " + why +
                     "; pass memory of the CPU, or a view of it as numbers");
}

std::optional<ElementType> type_of(const nb::dlpack::dtype& type) {
    using Code = nb::dlpack::dtype_code;
    if (type.lanes != 1) {
        return std::nullopt;
    }
    const std::size_t bytes = type.bits / 8U;
    switch (static_cast<Code>(type.code)) {
    case Code::Int: return element_type_of_format("q", bytes);
    case Code::UInt: return element_type_of_format("Q", bytes);
    case Code::Float:
        return element_type_of_format(bytes == 2   ? "e"
                                      : bytes == 4 ? "f"
                                      : bytes == 8 ? "d"
                                                   : "g",
                                      bytes);
    case Code::Bfloat: return bytes == 2 ? std::optional(ElementType::bfloat16) : std::nullopt;
    case Code::Complex:
        return element_type_of_format(bytes == 8 ? "Zf" : bytes == 16 ? "Zd" : "Zg", bytes);
    case Code::Bool: return bytes == 1 ? std::optional(ElementType::boolean) : std::nullopt;
    default: return std::nullopt;
    }
}

/// Whether elements are references to Python objects; names of fields stand between colons.
bool holds_objects(const std::string& format) {
    bool in_name = false;
    for (const char code : format) {
        in_name = in_name != (code == ':');
        if (code == 'O' && !in_name) {
            return true;
        }
    }
    return false;
}

/// Whether the elements lie one after the other, the last index running fastest or the first.
template <class Tensor>
bool is_contiguous(const Tensor& tensor) {
    std::int64_t by_row = 1;
    std::int64_t by_column = 1;
    bool rows = true;
    bool columns = true;
    const std::size_t n = tensor.ndim();
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t back = n - 1 - i;
        rows = rows && (tensor.shape(back) == 1 || tensor.stride(back) == by_row);
        columns = columns && (tensor.shape(i) == 1 || tensor.stride(i) == by_column);
        by_row *= static_cast<std::int64_t>(tensor.shape(back));
        by_column *= static_cast<std::int64_t>(tensor.shape(i));
    }
    return rows || columns || tensor.size() == 0;
}

} // namespace

Buffer::Buffer(nb::handle object, bool written, const char* name) {
    if (!read_view(object, written, name) && !read_tensor(object, written, name)) {
        const std::string text =
            std::string(name) + " must have the buffer protocol (numpy, array, bytearray, " +
            "memoryview) or DLPack on the CPU, not " + nb::inst_name(object).c_str();
        throw nb::type_error(text.c_str());
    }
}

bool Buffer::read_view(nb::handle object, bool written, const char* name) {
    if (PyObject_CheckBuffer(object.ptr()) == 0) {
        return false;
    }
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_RECORDS_RO) != 0) {
        view_ = {};
        PyErr_Clear(); // Such as bfloat16 of ml_dtypes, which the protocol cannot describe.
        return false;
    }
    if (PyBuffer_IsContiguous(&view_, 'A') == 0) {
        PyBuffer_Release(&view_);
        refuse_stride(name);
    }
    if (written && view_.readonly != 0) {
        PyBuffer_Release(&view_);
        refuse_reading(name);
    }
    format_ = view_.format != nullptr ? view_.format : "B";
    if (holds_objects(format_)) {
        PyBuffer_Release(&view_);
        refuse(name, "holds Python objects, which mean nothing to another rank; the methods in "
                     "lower case send objects");
    }
    data_ = static_cast<std::byte*>(view_.buf);
    bytes_ = static_cast<std::size_t>(view_.len);
    item_bytes_ = view_.itemsize > 0 ? static_cast<std::size_t>(view_.itemsize) : 1;
    type_ = element_type_of_format(format_, item_bytes_);
    contents_ = contents_of_format(format_, item_bytes_);
    return true;
}

bool Buffer::read_tensor(nb::handle object, bool written, const char* name) {
    if (!nb::hasattr(object, "__dlpack__")) {
        return false;
    }
    if (!nb::try_cast(object, tensor_, false)) {
        refuse_tensor(object, name);
    }
    if (!is_contiguous(tensor_)) {
        refuse_stride(name);
    }
    nb::ndarray<nb::device::cpu> writable;
    if (written && !nb::try_cast(object, writable, false)) {
        refuse_reading(name);
    }
    data_ = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(tensor_.data())));
    item_bytes_ = tensor_.itemsize();
    bytes_ = tensor_.nbytes();
    type_ = type_of(tensor_.dtype());
    format_ = "DLPack type " + std::to_string(tensor_.dtype().code) + " of " +
              std::to_string(tensor_.dtype().bits) + " bits";
    contents_ = type_ ? detail::move_identity(*type_)
                      : detail::other_identity(detail::OtherElements::others,
                                               tensor_.dtype().code * 256U + tensor_.dtype().bits);
    return true;
}

Buffer::Buffer(Buffer&& other) noexcept
    : view_(std::exchange(other.view_, {})), tensor_(std::move(other.tensor_)),
      data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      item_bytes_(other.item_bytes_), type_(other.type_), format_(std::move(other.format_)),
      contents_(other.contents_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    if (this != &other) {
        std::swap(view_, other.view_); // The other one lets go of ours.
        std::swap(tensor_, other.tensor_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(item_bytes_, other.item_bytes_);
        std::swap(type_, other.type_);
        std::swap(format_, other.format_);
        std::swap(contents_, other.contents_);
    }
    return *this;
}

Buffer::~Buffer() {
    if (view_.obj != nullptr) {
        PyBuffer_Release(&view_);
    }
}

} // namespace corymb::python
