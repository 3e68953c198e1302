// SPDX-License-Identifier: Apache-2.0
// Memory that several processes share: one anonymous file (memfd), which has no name in any file
// system and goes with the last process that has it, whatever ends that process. Each process maps
// the whole address range that the file may grow to; pages exist once they are touched.
#pragma once

#include "base/memory.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace corymb {

class SharedMemory final : public Memory {
public:
    /// New memory that no other user can read and that cannot be made shorter. If the addresses of
    /// the process are limited, it takes `needed` of them; 0: half of the addresses left for such
    /// memory. Throws Error (unsupported, io).
    [[nodiscard]] static std::shared_ptr<SharedMemory> create(std::size_t needed = 0);
    /// The one behind a descriptor, which is duplicated and stays the caller's. Throws Error
    /// (invalid_argument: not made by `create` of this version; unsupported: another user's).
    [[nodiscard]] static std::shared_ptr<SharedMemory> open(int descriptor);
    ~SharedMemory() override;

    struct Form {
        std::size_t capacity = 0;
        Offset root = 0;
    };
    /// The facts that an observer must know of the memory behind a descriptor, which may lack the
    /// right to write. Throws Error (invalid_argument, as `open`).
    [[nodiscard]] static Form form_of(int descriptor);

    [[nodiscard]] Reach reach() const noexcept override { return Reach::machine; }
    [[nodiscard]] std::byte* at(Offset offset) const noexcept override { return base_ + offset; }
    /// See RobustLock. A process that died with the lock is no obstacle, because all changes end in
    /// a commit.
    void lock() override;
    void unlock() noexcept override;
    [[nodiscard]] Offset take(std::size_t bytes) override;
    void give_back(Offset block, std::size_t bytes) noexcept override;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// The offset that the creator has told every process that opens the memory; 0 before.
    [[nodiscard]] Offset root() const noexcept;
    void set_root(Offset root) noexcept;
    /// Asks for huge pages. Returns the kernel's refusal, for people; empty when the kernel grants
    /// them.
    [[nodiscard]] std::string ask_for_huge_pages() noexcept;

private:
    struct Header;
    explicit SharedMemory(int descriptor) noexcept : descriptor_(descriptor) {}
    void map(std::size_t capacity);
    [[nodiscard]] Header& header() const noexcept;
    void grow(std::uint64_t end);

    int descriptor_;
    std::byte* base_ = nullptr;
    std::size_t capacity_ = 0;
};

} // namespace corymb
