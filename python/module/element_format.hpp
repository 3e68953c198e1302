// SPDX-License-Identifier: Apache-2.0
// Element types as the buffer protocol writes them.
#pragma once

#include <corymb/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corymb::python {

/// The type of elements of `item_bytes` bytes with a format of Python's `struct` module, or of
/// numpy's extension of it: complex numbers ("Zd"), pairs of value and index ("T{d:value:...}").
/// Empty for one that no operator combines, such as text, long double or a foreign byte order.
[[nodiscard]] std::optional<ElementType> element_type_of_format(std::string_view format,
                                                                std::size_t item_bytes);

/// What ranks compare of such elements when they are only moved (corymb/detail/contents.hpp).
/// Names of fields do not count.
[[nodiscard]] std::uint32_t contents_of_format(std::string_view format, std::size_t item_bytes);

} // namespace corymb::python
