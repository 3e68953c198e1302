// SPDX-License-Identifier: Apache-2.0
// The version. Also read by C programs, through <corymb.h>.
#pragma once

#include <corymb/export.hpp>

#define CORYMB_VERSION_MAJOR 0
#define CORYMB_VERSION_MINOR 1
#define CORYMB_VERSION_PATCH 0

#ifdef __cplusplus
namespace corymb {

/// Version of the library that is running, "major.minor.patch"; the macros are of the headers.
CORYMB_EXPORT const char* version() noexcept;

} // namespace corymb
#endif
