// SPDX-License-Identifier: Apache-2.0
// A process of the benchmark that is stopped whenever it is not its turn, so that runtimes that
// spin while idle disturb nobody. It dies with its parent, and with this object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corymb::bench {

using Environment = std::vector<std::pair<std::string, std::string>>;

class Child {
public:
    /// Starts argv[0] with `environment` added and every OpenMP variable of the user removed.
    /// Throws std::system_error when the process cannot be made; a program that cannot be executed
    /// shows as an end of file and `exit_status` 127.
    Child(const std::vector<std::string>& argv, const Environment& environment);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { kill(); }

    /// Stops all its threads and returns when they stand still.
    void stop();
    void resume();
    /// False when the process is gone.
    bool send(const std::string& line);
    /// The next line; empty at end of file and when `deadline_ns` (monotonic) has passed. Throws
    /// Interrupted.
    std::optional<std::string> receive(std::int64_t deadline_ns);
    /// Ends it, however it behaves, and collects it. Idempotent.
    void kill() noexcept;
    /// After a receive that returned nothing: its exit status, or nothing if it still runs.
    std::optional<int> exit_status();

private:
    pid_t pid_ = -1;
    int to_ = -1, from_ = -1;
    std::optional<int> status_;
    std::string pending_;
};

} // namespace corymb::bench
