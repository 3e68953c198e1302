// SPDX-License-Identifier: Apache-2.0
// Processes of the waiting map: a contestant's, and busy neighbours.
#pragma once

#include "board.hpp"
#include "contestant.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

namespace corymb::bench {

/// A forked process. It and what it forks end with this object, and with the driver.
class Forked {
public:
    /// Runs `work` in the child, which ends then. Throws std::system_error.
    explicit Forked(const std::function<void()>& work);
    Forked(Forked&& other) noexcept;
    Forked(const Forked&) = delete;
    Forked& operator=(const Forked&) = delete;
    ~Forked();

private:
    pid_t process_ = -1;
};

using MakeGroup = std::unique_ptr<CellGroup> (*)(const Cell& cell);

/// A contestant at work on a cell, restricted to the cell's CPUs.
[[nodiscard]] Forked start_contestant(const Cell& cell, MakeGroup make, const Board& board);
/// The neighbours that the cell asks for.
[[nodiscard]] std::vector<Forked> start_neighbours(const Cell& cell);

} // namespace corymb::bench
