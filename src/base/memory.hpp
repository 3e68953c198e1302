// SPDX-License-Identifier: Apache-2.0
// The source of an arena's blocks: the heap of this process, or memory that several processes share
// (shared_memory.hpp). Blocks are named by offsets, because processes map them at different
// addresses.
#pragma once

#include "base/reach.hpp"

#include <corymb/error.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

namespace corymb {

/// Names a byte of a Memory; 0 names nothing.
using Offset = std::uint64_t;

class Memory {
public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    virtual ~Memory() = default;

    [[nodiscard]] virtual Reach reach() const noexcept = 0;
    [[nodiscard]] virtual std::byte* at(Offset offset) const noexcept = 0;

    // The lock of all arenas in this memory; taken only when something is made or dropped.
    virtual void lock() = 0;
    virtual void unlock() noexcept = 0;

    /// A block of zeros, aligned to 4096 bytes. Call it with the lock held. Throws Error (io) when
    /// there is no more.
    [[nodiscard]] virtual Offset take(std::size_t bytes) = 0;
    /// Returns a block of `take`, with its length. Call it with the lock held.
    virtual void give_back(Offset block, std::size_t bytes) noexcept = 0;
};

/// Gives this process the pages of memory that it is about to use, all at once: each costs some
/// microseconds when it is first touched. Where the kernel cannot do that (before Linux 5.14) they
/// come as they are touched.
void make_present(void* place, std::size_t bytes) noexcept;
/// Asks for the pages that are present to come into this core's caches, as far as they fit.
void bring_near(const void* place, std::size_t bytes) noexcept;

/// For destructors: calls `change()` with the lock held. If the lock cannot be had, its owner is
/// stopped: nothing is changed, and threads that wait for the change notice its lack.
template <class Change>
void change_if_possible(Memory& memory, const Change& change) noexcept {
    try {
        const std::lock_guard lock(memory);
        change();
    } catch (const Error&) {
        return;
    }
}

/// The heap of this process; an offset is an address. Blocks that were not given back are freed at
/// the end. Pages of long blocks do not exist before they are touched.
class HeapMemory final : public Memory {
public:
    ~HeapMemory() override;
    [[nodiscard]] Reach reach() const noexcept override { return Reach::process; }
    [[nodiscard]] std::byte* at(Offset offset) const noexcept override;
    void lock() override { mutex_.lock(); }
    void unlock() noexcept override { mutex_.unlock(); }
    [[nodiscard]] Offset take(std::size_t bytes) override;
    void give_back(Offset block, std::size_t bytes) noexcept override;

private:
    /// Pages from the kernel that long blocks are cut from, one behind the other.
    struct Stretch {
        std::size_t bytes = 0;
        std::size_t used = 0;
        std::size_t blocks = 0; ///< Blocks that were not given back.
    };
    [[nodiscard]] Offset cut(std::size_t bytes);

    std::mutex mutex_;
    std::unordered_map<Offset, std::size_t> blocks_; ///< Short ones: bytes by address.
    std::map<Offset, Stretch> stretches_;            ///< Stretches by address.
    Offset newest_ = 0;                              ///< Stretch that is cut from; 0: none.
};

} // namespace corymb
