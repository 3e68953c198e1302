// SPDX-License-Identifier: Apache-2.0
// The table of combine functions, one a type and operator, filled a family of types at a time with
// the functions for the best instruction set that the processor has.
#pragma once

#include <corymb/operators.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace corymb::reduce {

using Combine = Reduction::Combine;

/// Null where is_defined() does not hold.
class KernelTable {
public:
    [[nodiscard]] Combine at(ElementType type, Operator op) const noexcept {
        return combine_[index_of(type, op)];
    }
    void set(ElementType type, Operator op, Combine combine) noexcept {
        combine_[index_of(type, op)] = combine;
    }

private:
    static std::size_t index_of(ElementType type, Operator op) noexcept {
        return static_cast<std::size_t>(type) * operator_count + static_cast<std::size_t>(op);
    }
    std::array<Combine, element_type_count * operator_count> combine_{};
};

// Fills the table with kernels of the best `usable` instruction set; one file a family keeps
// compilation parallel.
void fill_bits(KernelTable& table,
               std::int64_t usable); ///< Bitwise and logical operators, boolean.
void fill_integers(KernelTable& table, std::int64_t usable); ///< sum, prod, min, max of integers.
void fill_floats(KernelTable& table, std::int64_t usable);   ///< float, double and complex.
void fill_halves(KernelTable& table, std::int64_t usable);   ///< float16, bfloat16.
void fill_pairs(KernelTable& table);                         ///< min_loc, max_loc.

/// A new table for the sets of usable_instructions() that are in `usable` (tests restrict them).
KernelTable make_kernel_table(std::int64_t usable);
/// The table of this process, made at the first call. Thread-safe.
const KernelTable& kernel_table();

} // namespace corymb::reduce
