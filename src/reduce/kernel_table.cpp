// SPDX-License-Identifier: Apache-2.0
#include "reduce/kernel_table.hpp"

#include <hwy/highway.h>

namespace corymb::reduce {

KernelTable make_kernel_table() {
    KernelTable table;
    fill_bits(table);
    fill_integers(table);
    fill_floats(table);
    fill_halves(table);
    fill_pairs(table);
    return table;
}

const KernelTable& kernel_table() {
    static const KernelTable table = make_kernel_table();
    return table;
}

} // namespace corymb::reduce

namespace corymb {

const char* kernel_instructions() noexcept {
    // The lowest bit is the best one (hwy/targets.h).
    const auto usable = hwy::SupportedTargets() & HWY_TARGETS;
    return hwy::TargetName(usable & -usable);
}

} // namespace corymb
