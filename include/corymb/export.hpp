// SPDX-License-Identifier: Apache-2.0
// Marks the exported names of the shared library; all other names have hidden visibility.
#pragma once

#if defined(CORYMB_STATIC)
#define CORYMB_EXPORT
#else
#define CORYMB_EXPORT __attribute__((visibility("default")))
#endif
