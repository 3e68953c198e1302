// SPDX-License-Identifier: Apache-2.0
// Times of the programs, which follow the machine as those of the tests do (tests/limits.py).
#pragma once

#include <stdlib.h>

/// So many seconds of a quiet machine.
static inline unsigned scaled(unsigned seconds) {
    const char* const slowness = getenv("CORYMB_TEST_SLOWNESS");
    return seconds * (slowness ? (unsigned)strtol(slowness, 0, 10) : 1);
}
