// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/export.hpp>
#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace corymb::detail {

struct MailboxShared; // src/message/

/// Names a PartMemory to the other ranks of the group.
struct PartName {
    std::uint64_t offset = 0; ///< 0: there is none.
    std::uint64_t bytes = 0;
};

/// Bytes that all ranks of this node reach: in the heap of one process, or in memory that all
/// processes map. Ends with the last rank that has it open. A rank that has ended
/// without closing it does not count: its bytes are given back by the next that closes. Movable.
class CORYMB_EXPORT PartMemory {
public:
    PartMemory() noexcept = default; ///< None.
    /// In a task: makes one, of zeros. Throws Errc::io when there is no more memory.
    explicit PartMemory(std::size_t bytes);
    /// In a task: opens the one that another rank has made and has open. Takes its name from there.
    explicit PartMemory(const PartName& name);
    PartMemory(PartMemory&& other) noexcept;
    PartMemory& operator=(PartMemory&& other) noexcept;
    ~PartMemory();

    [[nodiscard]] const PartName& name() const noexcept { return name_; }
    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    /// What it takes beside the bytes that were asked for.
    [[nodiscard]] std::size_t overhead() const noexcept;

private:
    struct Head;
    void use();
    void close() noexcept;
    std::shared_ptr<MailboxShared> group_;
    int number_ = -1; ///< This rank's among the members of `group_`.
    PartName name_;
    std::byte* data_ = nullptr;
};

/// In a task: whether that rank is on this node, so that its PartMemory can be opened here.
[[nodiscard]] CORYMB_EXPORT bool shares_memory(Rank with);
/// The memory node (NUMA) of the CPU on which this thread runs. 0 if the kernel does not say.
[[nodiscard]] CORYMB_EXPORT int memory_node_here() noexcept;

} // namespace corymb::detail
