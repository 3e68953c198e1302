// SPDX-License-Identifier: Apache-2.0
// Orders CPUs by the cores that they are hardware threads of, for code that has no machine model.
#pragma once

#include <filesystem>
#include <vector>

namespace corymb {

/// `cpus` in the order in which a kernel gives them to ranks: one of each core, by number, then the
/// second threads of cores. A CPU that <root>/sys does not describe counts as a core of its own.
/// Asks once a process of "/", which `root` is except in tests. Thread-safe.
std::vector<int> one_of_each_core_first(std::vector<int> cpus,
                                        const std::filesystem::path& root = "/");

} // namespace corymb
