// SPDX-License-Identifier: Apache-2.0
// The processes that corymb-run has started: starting, output, ends.
#pragma once

#include "options.hpp"

#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace corymb::launcher {

/// A process and its output, if that goes through the launcher.
struct Process {
    pid_t pid = -1;
    int rank = 0; ///< The process's first rank.
    bool running = false;
    int output[2] = {-1, -1}; ///< Read ends of its stdout and stderr.
    std::string line[2];      ///< The part of a line that has come.
};

class Crew {
public:
    /// `team` is the descriptor that all inherit.
    Crew(const Options& options, int team) : options_(&options), team_(team) {}
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    /// Starts process `index`. Throws std::runtime_error when the program cannot be started.
    void start(int index);
    void signal_all(int number) const noexcept;
    [[nodiscard]] std::vector<Process>& processes() noexcept { return processes_; }
    [[nodiscard]] std::size_t running() const noexcept;
    /// Passes on the output at one end; closes the end after the stream.
    void pass_on(Process& process, int stream);
    /// Passes on all that is left.
    void drain();

private:
    [[noreturn]] void become(int index, int report, const int (&streams)[2]) const;

    const Options* options_;
    int team_;
    std::vector<Process> processes_;
};

} // namespace corymb::launcher
