// SPDX-License-Identifier: Apache-2.0
// Who takes part, and how each is started.
#pragma once

#include "../case.hpp"
#include "child.hpp"

#include <string>
#include <vector>

namespace corymb::bench {

/// Programs that run ranks.
enum class Program : unsigned char { native, gcc_openmp, clang_openmp };

struct Contestant {
    std::string name;
    std::string family;  ///< "corymb", "floor", "textbook", "library", "openmp".
    std::string waiting; ///< How it waits, in its own words.
    Program program = Program::native;
    Environment environment;
};

/// Everybody who can do the case, in the order of the report, those who matter most first: when
/// time is short, the last ones are left out. The name without a suffix is always the contestant
/// with its defaults.
std::vector<Contestant> contestants_for(const Case& what);

/// Path of the program beside this executable; empty when it was not built.
std::string program_path(Program program);
/// Why it was not built, for people.
std::string why_absent(Program program);

/// Command line of the contestant's worker.
std::vector<std::string> worker_command(const Contestant& contestant, const Case& what,
                                        const std::string& path);

} // namespace corymb::bench
