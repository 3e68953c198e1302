// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace corymb {

/// Why a system call has failed, and which limit of this process may be the cause:
/// "Too many open files; this process may open 1024 (ulimit -n)".
[[nodiscard]] std::string reason_with_limit(int error);

} // namespace corymb
