// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corymb {

/// The element of `names` with the least edit distance (Levenshtein) to `name`, to be proposed in
/// an error text; "" when even the nearest shares less than half of its letters.
/// O(names x length^2).
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& names);

} // namespace corymb
