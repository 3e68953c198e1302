// SPDX-License-Identifier: Apache-2.0
#include "reduce/kernel_table.hpp"

#include "reduce/instructions.hpp"

namespace corymb::reduce {

KernelTable make_kernel_table(std::int64_t usable) {
    KernelTable table;
    fill_bits(table, usable);
    fill_integers(table, usable);
    fill_floats(table, usable);
    fill_halves(table, usable);
    fill_pairs(table);
    return table;
}

const KernelTable& kernel_table() {
    static const KernelTable table = make_kernel_table(usable_instructions());
    return table;
}

} // namespace corymb::reduce

namespace corymb {

const char* kernel_instructions() noexcept {
    // The lowest bit is the best one (hwy/targets.h).
    const std::int64_t usable = reduce::usable_instructions();
    return hwy::TargetName(usable & -usable);
}

} // namespace corymb
