// SPDX-License-Identifier: Apache-2.0
// The words in which an execution is told.
#pragma once

#include "explorer/memory.hpp"
#include "explorer/operation.hpp"

#include <source_location>
#include <string>

namespace corymb::verify {

[[nodiscard]] std::string thread_text(int thread);                ///< "a", "b", ...
[[nodiscard]] std::string value_text(std::uint64_t value);        ///< Hexadecimal when large.
[[nodiscard]] std::string place_text(std::source_location where); ///< "file.hpp:12"
[[nodiscard]] std::string order_text(std::memory_order order);    ///< "release"
[[nodiscard]] std::string kind_text(Kind kind);
[[nodiscard]] std::string read_text(std::uint64_t value, const Store& from);
[[nodiscard]] std::string written_text(std::uint64_t value, bool newest);
/// A line for an access to plain memory.
[[nodiscard]] std::string plain_text(std::uint64_t step, int thread, bool is_write,
                                     const std::string& what, std::size_t count,
                                     std::source_location where);

} // namespace corymb::verify
