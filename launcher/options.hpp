// SPDX-License-Identifier: Apache-2.0
// The command line of corymb-run.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace corymb::launcher {

struct Options {
    int processes = 0;
    int threads = 1; ///< Ranks of each process.
    /// CPUs of the ranks in turn; empty: not bound.
    std::vector<int> cpus;
    double attach_deadline_s = 60;
    /// CORYMB_PATIENCE and CORYMB_DEADLINE of the processes; empty: inherited.
    std::string patience;
    std::string deadline;
    bool prefix = false;     ///< Each line of output begins with its rank.
    bool keep_going = false; ///< A rank that fails does not end the others.
    bool help = false;
    std::vector<std::string> program;
};

/// A fault of the command line.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws UsageError.
[[nodiscard]] Options parse(const std::vector<std::string>& words);
[[nodiscard]] const char* usage() noexcept;

} // namespace corymb::launcher
