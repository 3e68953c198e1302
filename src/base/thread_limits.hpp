// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace corymb {

/// The limits on threads and memory of this process, for the text of an error.
[[nodiscard]] std::string limits_of_threads();

} // namespace corymb
