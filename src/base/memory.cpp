// SPDX-License-Identifier: Apache-2.0
#include "base/memory.hpp"

#include <corymb/error.hpp>

#include <bit>
#include <cstdlib>
#include <cstring>

namespace corymb {

namespace {

constexpr std::size_t block_alignment = 4096;

} // namespace

HeapMemory::~HeapMemory() {
    for (const auto& [block, bytes] : blocks_) {
        std::free(at(block));
    }
}

std::byte* HeapMemory::at(Offset offset) const noexcept {
    return std::bit_cast<std::byte*>(offset);
}

Offset HeapMemory::take(std::size_t bytes) {
    const std::size_t whole = (bytes + block_alignment - 1) / block_alignment * block_alignment;
    void* const block = std::aligned_alloc(block_alignment, whole);
    if (block == nullptr) {
        throw Error(Errc::io, "no memory for " + std::to_string(bytes) + " bytes of channels");
    }
    std::memset(block, 0, whole);
    const auto offset = std::bit_cast<Offset>(block);
    blocks_.emplace(offset, bytes);
    return offset;
}

void HeapMemory::give_back(Offset block, std::size_t /*bytes*/) noexcept {
    blocks_.erase(block);
    std::free(at(block));
}

} // namespace corymb
