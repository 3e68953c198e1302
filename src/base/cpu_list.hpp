// SPDX-License-Identifier: Apache-2.0
// The kernel's text form of a set of CPUs: "0-3,8".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {

/// CPU numbers of a list such as "0-3,8", sorted and without duplicates. Empty text is the empty
/// set. Nothing if the text is malformed or names a CPU above 2^20. Accepts white space around
/// items.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The shortest list of the same set; the order and duplicates of `cpus` do not matter.
std::string format_cpu_list(std::vector<int> cpus);

} // namespace corymb
