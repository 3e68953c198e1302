// SPDX-License-Identifier: Apache-2.0
#include "base/memory.hpp"

#include "base/cache_line.hpp"
#include "base/limit_text.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace corymb {

namespace {

constexpr std::size_t block_alignment = 4096;
/// Blocks from here on come from the kernel, as pages of zeros that exist once they are touched:
/// clearing a channel costs more than most messages through it. Shorter ones are cleared at once,
/// which is faster than a call of the kernel.
constexpr std::size_t long_bytes = std::size_t{16} << 10;
/// Bytes taken from the kernel at a time, at least. The amount grows with the bytes in use, up to
/// the most. A team of many ranks has thousands of channels, and each stretch is one more mapping
/// of the process.
constexpr std::size_t stretch_least = std::size_t{256} << 10;
constexpr std::size_t stretch_most = std::size_t{16} << 20;

std::size_t whole(std::size_t bytes) noexcept {
    return (bytes + block_alignment - 1) / block_alignment * block_alignment;
}

[[noreturn]] void refuse(std::size_t bytes) {
    throw Error(Errc::io, "no memory for " + std::to_string(bytes) +
                              " bytes of channels: " + reason_with_limit(ENOMEM));
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
        std::free(at(block));
    }
    for (const auto& [begin, stretch] : stretches_) {
        ::munmap(at(begin), stretch.bytes);
    }
}

std::byte* HeapMemory::at(Offset offset) const noexcept {
    return std::bit_cast<std::byte*>(offset);
}

Offset HeapMemory::take(std::size_t bytes) {
    const std::size_t all = whole(bytes);
    if (all >= long_bytes) {
        return cut(all);
    }
    void* const block = std::aligned_alloc(block_alignment, all);
    if (block == nullptr) {
        refuse(bytes);
    }
    std::memset(block, 0, all);
    const auto offset = std::bit_cast<Offset>(block);
    blocks_.emplace(offset, all);
    return offset;
}

Offset HeapMemory::cut(std::size_t bytes) {
    auto newest = stretches_.find(newest_);
    if (newest == stretches_.end() || newest->second.bytes - newest->second.used < bytes) {
        const std::size_t before = newest == stretches_.end() ? 0 : newest->second.bytes;
        const std::size_t wanted =
            std::max(bytes, std::clamp(2 * before, stretch_least, stretch_most));
        // If memory is short, the bytes that are needed alone.
        for (const std::size_t size : {wanted, bytes}) {
            void* const pages =
                ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (pages != MAP_FAILED) {
                newest_ = std::bit_cast<Offset>(pages);
                newest = stretches_.emplace(newest_, Stretch{size}).first;
                break;
            }
            if (size == bytes) {
                refuse(bytes);
            }
        }
    }
    Stretch& stretch = newest->second;
    const Offset block = newest->first + stretch.used;
    stretch.used += bytes;
    ++stretch.blocks;
    return block;
}

void HeapMemory::give_back(Offset block, std::size_t /*bytes*/) noexcept {
    if (const auto found = blocks_.find(block); found != blocks_.end()) {
        blocks_.erase(found);
        std::free(at(block));
        return;
    }
    const auto of = std::prev(stretches_.upper_bound(block));
    if (--of->second.blocks == 0) {
        ::munmap(at(of->first), of->second.bytes);
        stretches_.erase(of);
    }
}

} // namespace corymb
