// SPDX-License-Identifier: Apache-2.0
// Memory of a Python object: whatever has the buffer protocol, or DLPack on the CPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <corymb/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace corymb::python {

namespace nb = nanobind;

/// Keeps the object alive and its memory in place. Made and destroyed with the interpreter lock.
class Buffer {
public:
    Buffer() noexcept = default;
    /// `name` is the argument's, for errors. Throws TypeError for what has no memory to show, and
    /// Errc::invalid_argument when it is not contiguous or, if it is `written`, read-only.
    Buffer(nb::handle object, bool written, const char* name);
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t item_bytes() const noexcept { return item_bytes_; }
    /// Empty when no operator combines such elements.
    [[nodiscard]] std::optional<ElementType> type() const noexcept { return type_; }
    [[nodiscard]] const std::string& format() const noexcept { return format_; }
    /// What ranks compare of such elements when they are only moved (corymb/detail/contents.hpp).
    [[nodiscard]] std::uint32_t contents() const noexcept { return contents_; }

private:
    bool read_view(nb::handle object, bool written, const char* name);
    bool read_tensor(nb::handle object, bool written, const char* name);

    Py_buffer view_{};
    nb::ndarray<nb::ro, nb::device::cpu> tensor_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t item_bytes_ = 1;
    std::optional<ElementType> type_;
    std::string format_;
    std::uint32_t contents_ = 0;
};

} // namespace corymb::python
