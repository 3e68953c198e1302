// SPDX-License-Identifier: Apache-2.0
// Who does a cell's operation: corymb, or what a user would write without it.
#pragma once

#include "cell.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace corymb::bench {

/// One rank's place. Used by one thread, or one process, alone.
class CellMember {
public:
    CellMember() = default;
    CellMember(const CellMember&) = delete;
    CellMember& operator=(const CellMember&) = delete;
    virtual ~CellMember() = default;
    /// One operation. The spans are as long as Cell::input_parts and output_parts say.
    virtual void call(int root, std::span<const double> input, std::span<double> output) = 0;
};

/// What the ranks share. Made by a process that becomes the parent of the ranks' processes, or has
/// their threads.
class CellGroup {
public:
    CellGroup() = default;
    CellGroup(const CellGroup&) = delete;
    CellGroup& operator=(const CellGroup&) = delete;
    virtual ~CellGroup() = default;
    /// In the rank's thread or process. May wait for the other ranks.
    [[nodiscard]] virtual std::unique_ptr<CellMember> join(int rank) = 0;
};

[[nodiscard]] std::unique_ptr<CellGroup> corymb_group(const Cell& cell);
[[nodiscard]] std::unique_ptr<CellGroup> plain_group(const Cell& cell);

} // namespace corymb::bench
