// SPDX-License-Identifier: Apache-2.0
// What a caller gives as send or receive buffer, in mpi4py's ways of writing it.
#pragma once

#include "buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace corymb::python {

/// A buffer, None, IN_PLACE, or a list: [buffer, count], [buffer, type], [buffer, count, type];
/// where parts differ in length [buffer, counts], [buffer, counts, displacements] and
/// [buffer, (counts, displacements)], each with a type at the end or without. A type is a Datatype,
/// a format, or what numpy takes for a dtype; counts are any sequence of integers.
struct Operand {
    Operand() noexcept = default;
    /// Errors as of Buffer, and Errc::invalid_argument for a list that is none of the above or
    /// names more elements than there are.
    Operand(nb::handle given, bool written, const char* name);

    Buffer buffer;
    const char* name = "";
    bool is_in_place = false;
    std::byte* data = nullptr;
    std::size_t element_bytes = 1;
    std::size_t count = 0; ///< Elements.
    std::optional<ElementType> type;
    std::uint32_t contents = 0; ///< What ranks compare of elements that are only moved.
    bool has_parts = false;
    std::vector<std::size_t> counts;        ///< Of the parts, in elements.
    std::vector<std::size_t> displacements; ///< Empty: each begins where the one before ends.

    [[nodiscard]] std::size_t bytes() const noexcept { return count * element_bytes; }

private:
    void read_list(nb::handle list, bool written);
    void read_counts(nb::handle given);
    void read_type(nb::handle given);
};

/// Numbers that are 0 or more; throws Errc::invalid_argument for others.
[[nodiscard]] std::vector<std::size_t> sizes_of(nb::handle sequence, const char* name);
/// The one object that stands for "the other buffer".
[[nodiscard]] nb::handle in_place();
void bind_types(nb::module_& module);

} // namespace corymb::python
