// SPDX-License-Identifier: Apache-2.0
// What the library's own types and operators make, put together once a process: a small operation
// is over in the time that it takes.
#pragma once

#include <corymb/operators.hpp>

#include <array>
#include <cstddef>

namespace corymb::reduce {

class StandardReductions {
public:
    StandardReductions() noexcept;

    /// Both are one of the library's. Its `combine` is null where is_defined() does not hold.
    [[nodiscard]] const Reduction& at(ElementType type, Operator op) const noexcept {
        return rows_[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
    }
    /// Elements are only moved.
    [[nodiscard]] const Reduction& of_moves(ElementType type) const noexcept {
        return rows_[static_cast<std::size_t>(type)][operator_count];
    }

private:
    using Row = std::array<Reduction, operator_count + 1>;
    std::array<Row, element_type_count> rows_{};
};

/// Those of this process, made at the first call. Thread-safe.
const StandardReductions& standard_reductions();

} // namespace corymb::reduce
