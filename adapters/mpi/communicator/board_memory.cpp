// SPDX-License-Identifier: Apache-2.0
#include "communicator/board_memory.hpp"

#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace corymb::mpi {

namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

std::size_t request_board_place(int size) noexcept {
    return whole_pages(CallBoard::bytes(size));
}

std::size_t early_board_place(int size) noexcept {
    return request_board_place(size) + whole_pages(RequestBoard::bytes(size));
}

} // namespace

/// The facts of all ranks, of two terms, follow it.
struct EarlyBoard::Shared {
    std::uint64_t nonce;
    std::atomic<std::uint32_t> is_wanted;
    End::Shared terms;

    [[nodiscard]] static std::size_t bytes(int size) noexcept {
        return sizeof(Shared) + 2 * static_cast<std::size_t>(size) * sizeof(End::Shared::Facts);
    }
    [[nodiscard]] End::Shared::Facts* facts() noexcept {
        return reinterpret_cast<End::Shared::Facts*>(this + 1);
    }
};

int make_board_memory(int size) noexcept {
    const int descriptor = ::memfd_create("corymb-calls", MFD_CLOEXEC);
    const std::size_t bytes = early_board_place(size) + EarlyBoard::bytes(size);
    if (descriptor >= 0 && ::ftruncate(descriptor, static_cast<::off_t>(bytes)) != 0) {
        ::close(descriptor);
        return -1;
    }
    return descriptor;
}

bool open_boards(RankTeam& team, int rank, int size, int descriptor) {
    team.board->open(descriptor);
    auto requests = std::make_unique<RequestBoard>(rank, size);
    if (!requests->open(descriptor, static_cast<::off_t>(request_board_place(size)))) {
        return false;
    }
    team.request_board = std::move(requests);
    return true;
}

EarlyBoard::EarlyBoard(int rank, int size) noexcept : rank_(rank), size_(size) {}

EarlyBoard::~EarlyBoard() {
    if (shared_ != nullptr) {
        ::munmap(shared_, bytes(size_));
    }
}

std::size_t EarlyBoard::bytes(int size) noexcept {
    return Shared::bytes(size);
}

bool EarlyBoard::open(int descriptor) noexcept {
    void* const mapped = descriptor < 0
                             ? MAP_FAILED
                             : ::mmap(nullptr, bytes(size_), PROT_READ | PROT_WRITE, MAP_SHARED,
                                      descriptor, static_cast<::off_t>(early_board_place(size_)));
    if (mapped == MAP_FAILED) {
        return false;
    }
    shared_ = static_cast<Shared*>(mapped);
    end_.emplace(shared_->terms, shared_->facts(), static_cast<std::size_t>(rank_),
                 static_cast<std::size_t>(size_));
    return true;
}

std::uint64_t& EarlyBoard::nonce() const noexcept {
    return shared_->nonce;
}

std::atomic<std::uint32_t>& EarlyBoard::is_wanted() const noexcept {
    return shared_->is_wanted;
}

} // namespace corymb::mpi
