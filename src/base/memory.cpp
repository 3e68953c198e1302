// SPDX-License-Identifier: Apache-2.0
#include "base/memory.hpp"

#include "base/cache_line.hpp"

#include <corymb/error.hpp>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace corymb {

namespace {

constexpr std::size_t block_alignment = 4096;
/// Blocks from here on come from the kernel, with pages that exist once they are touched.
constexpr std::size_t untouched_bytes = std::size_t{256} << 10;

std::size_t whole(std::size_t bytes) noexcept {
    return (bytes + block_alignment - 1) / block_alignment * block_alignment;
}

void* take_block(std::size_t bytes) noexcept {
    if (bytes >= untouched_bytes) {
        void* const block =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return block == MAP_FAILED ? nullptr : block;
    }
    void* const block = std::aligned_alloc(block_alignment, bytes);
    if (block != nullptr) {
        std::memset(block, 0, bytes);
    }
    return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
    if (bytes >= untouched_bytes) {
        ::munmap(block, bytes);
    } else {
        std::free(block);
    }
}

} // namespace

void make_present(void* place, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
    // Pages have up to 64 KiB, and the kernel refuses an address that does not begin one.
    const auto page = static_cast<std::size_t>(::getpagesize());
    const std::size_t before = std::bit_cast<std::uintptr_t>(place) % page;
    ::madvise(static_cast<std::byte*>(place) - before, bytes + before, MADV_POPULATE_WRITE);
#else
    static_cast<void>(place);
    static_cast<void>(bytes);
#endif
}

void bring_near(const void* place, std::size_t bytes) noexcept {
    const auto* const begin = static_cast<const std::byte*>(place);
    for (std::size_t at = 0; at < bytes; at += cache_line_bytes) {
        __builtin_prefetch(begin + at);
    }
}

HeapMemory::~HeapMemory() {
    for (const auto& [block, bytes] : blocks_) {
        free_block(at(block), bytes);
    }
}

std::byte* HeapMemory::at(Offset offset) const noexcept {
    return std::bit_cast<std::byte*>(offset);
}

Offset HeapMemory::take(std::size_t bytes) {
    void* const block = take_block(whole(bytes));
    if (block == nullptr) {
        throw Error(Errc::io, "no memory for " + std::to_string(bytes) + " bytes of channels");
    }
    const auto offset = std::bit_cast<Offset>(block);
    blocks_.emplace(offset, whole(bytes));
    return offset;
}

void HeapMemory::give_back(Offset block, std::size_t /*bytes*/) noexcept {
    const auto found = blocks_.find(block);
    const std::size_t bytes = found->second;
    blocks_.erase(found);
    free_block(at(block), bytes);
}

} // namespace corymb
