// SPDX-License-Identifier: Apache-2.0
// Which CPUs are hardware threads of one core, for those who cannot ask a machine's model.
#pragma once

#include <filesystem>
#include <vector>

namespace corymb {

/// `cpus` in the order in which a kernel gives them to ranks: one of each core, by number, then
/// second ones of cores. Those of which <root>/sys tells nothing count as cores of their own. Asks
/// once a process of "/", which `root` is except in tests. Thread-safe.
std::vector<int> one_of_each_core_first(std::vector<int> cpus,
                                        const std::filesystem::path& root = "/");

} // namespace corymb
