// SPDX-License-Identifier: Apache-2.0
// Memory that several processes share (shared_memory.hpp) as an observer sees it: mapped without
// the right to write, without the lock. A value is of the moment that it was read; arenas are
// searched while others add to them, which their commits allow.
#pragma once

#include "base/memory.hpp"

#include <cstdint>
#include <memory>

namespace corymb {

class MemoryView final : public Memory {
public:
    /// Maps the memory of a descriptor, which stays the caller's. Throws Error (invalid_argument:
    /// not memory of SharedMemory, or of another version of corymb; unsupported: no addresses
    /// left).
    [[nodiscard]] static std::unique_ptr<MemoryView> open(int descriptor);
    ~MemoryView() override;

    [[nodiscard]] Reach reach() const noexcept override { return Reach::machine; }
    /// The address of an offset that was read from the memory.
    [[nodiscard]] std::byte* at(Offset offset) const noexcept override { return base_ + offset; }
    void lock() override {} ///< Nothing: it would be a write.
    void unlock() noexcept override {}
    [[nodiscard]] Offset take(std::size_t bytes) override; ///< Throws Error (unsupported).
    void give_back(Offset /*block*/, std::size_t /*bytes*/) noexcept override {}

    /// See SharedMemory::root.
    [[nodiscard]] Offset root() const noexcept { return root_; }

private:
    MemoryView(std::byte* base, std::size_t bytes, Offset root) noexcept
        : base_(base), bytes_(bytes), root_(root) {}

    std::byte* base_;
    std::size_t bytes_;
    Offset root_;
};

} // namespace corymb
