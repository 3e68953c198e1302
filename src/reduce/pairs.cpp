// SPDX-License-Identifier: Apache-2.0
// Pairs of a value and an index. Element by element: the choice moves 8 to 16 bytes at once.
#include "reduce/kernel_table.hpp"

namespace corymb::reduce {
namespace {

template <class T, class Index>
void fill_pair(KernelTable& table, ElementType type) {
    using Pair = ValueIndex<T, Index>;
    table.set(type, Operator::min_loc, detail::combine_each<Pair, min_loc>);
    table.set(type, Operator::max_loc, detail::combine_each<Pair, max_loc>);
}

} // namespace

void fill_pairs(KernelTable& table) {
    fill_pair<std::int16_t, std::int32_t>(table, ElementType::int16_index32);
    fill_pair<std::int32_t, std::int32_t>(table, ElementType::int32_index32);
    fill_pair<std::int64_t, std::int32_t>(table, ElementType::int64_index32);
    fill_pair<float, std::int32_t>(table, ElementType::float32_index32);
    fill_pair<double, std::int32_t>(table, ElementType::float64_index32);
    fill_pair<std::int32_t, std::int64_t>(table, ElementType::int32_index64);
    fill_pair<std::int64_t, std::int64_t>(table, ElementType::int64_index64);
    fill_pair<float, std::int64_t>(table, ElementType::float32_index64);
    fill_pair<double, std::int64_t>(table, ElementType::float64_index64);
}

} // namespace corymb::reduce
