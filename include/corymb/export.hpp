// SPDX-License-Identifier: Apache-2.0
// Marks what the shared library exports; everything else has hidden visibility.
#pragma once

#if defined(CORYMB_STATIC)
#define CORYMB_EXPORT
#else
#define CORYMB_EXPORT __attribute__((visibility("default")))
#endif
