// SPDX-License-Identifier: Apache-2.0
// In worlds a broken invariant ends the execution and is what the explorer reports. The library's
// own definition would throw through fibers.
#include "base/assert.hpp"
#include "explorer/explorer.hpp"

void corymb::invariant_broken(const char* invariant, const char* file, int line) {
    corymb::verify::Explorer::current().assertion_failed(invariant, file, line);
}
