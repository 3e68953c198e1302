// SPDX-License-Identifier: Apache-2.0
#include "communicator/request_board.hpp"

#include "base/cache_line.hpp"

#include <new>
#include <sys/mman.h>

namespace corymb::mpi {

namespace {

using Shared = RequestBoard::End::Shared;

/// One kind's: the word, and behind it the measurements of all ranks, of two terms.
std::size_t kind_bytes(std::size_t ranks) noexcept {
    const std::size_t bytes = sizeof(Shared) + 2 * ranks * sizeof(Shared::Facts);
    return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

} // namespace

RequestBoard::~RequestBoard() {
    if (memory_ != nullptr) {
        ::munmap(memory_, bytes(static_cast<int>(size_)));
    }
}

std::size_t RequestBoard::bytes(int size) noexcept {
    return Choice::places * kind_bytes(static_cast<std::size_t>(size));
}

bool RequestBoard::open(int descriptor, ::off_t place) noexcept {
    void* const mapped = descriptor < 0
                             ? MAP_FAILED
                             : ::mmap(nullptr, bytes(static_cast<int>(size_)),
                                      PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, place);
    memory_ = mapped != MAP_FAILED ? static_cast<std::byte*>(mapped) : nullptr;
    return memory_ != nullptr;
}

RequestBoard::End& RequestBoard::end(Operation operation, std::uint64_t bytes) {
    const std::size_t place = Choice::place(operation, bytes);
    std::byte* const kind = memory_ + place * kind_bytes(size_);
    auto& shared = *std::launder(reinterpret_cast<Shared*>(kind));
    auto* const facts = std::launder(reinterpret_cast<Shared::Facts*>(kind + sizeof(Shared)));
    return ends_.try_emplace(place, shared, facts, rank_, size_).first->second;
}

} // namespace corymb::mpi
