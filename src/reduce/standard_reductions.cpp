// SPDX-License-Identifier: Apache-2.0
#include "reduce/standard_reductions.hpp"

#include "reduce/kernel_table.hpp"

namespace corymb::reduce {

StandardReductions::StandardReductions() noexcept {
    for (std::size_t row = 0; row < element_type_count; ++row) {
        const auto type = static_cast<ElementType>(row);
        const std::size_t bytes = element_bytes(type);
        for (std::size_t column = 0; column < operator_count; ++column) {
            const auto op = static_cast<Operator>(column);
            rows_[row][column] = {kernel_table().at(type, op), bytes, true, nullptr,
                                  detail::reduction_identity(type, op)};
        }
        rows_[row][operator_count] = {nullptr, bytes, true, nullptr, detail::move_identity(type)};
    }
}

const StandardReductions& standard_reductions() {
    static const StandardReductions all;
    return all;
}

} // namespace corymb::reduce
