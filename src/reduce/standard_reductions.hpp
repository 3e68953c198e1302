// SPDX-License-Identifier: Apache-2.0
// The reductions of the library's own types and operators, made once a process: making one takes as
// long as a small operation.
#pragma once

#include <corymb/operators.hpp>

#include <array>
#include <cstddef>

namespace corymb::reduce {

class StandardReductions {
public:
    StandardReductions() noexcept;

    /// The reduction of a type and an operator of the library. Its `combine` is null where
    /// is_defined() does not hold.
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

/// The reductions of this process, made at the first call. Thread-safe.
const StandardReductions& standard_reductions();

} // namespace corymb::reduce
