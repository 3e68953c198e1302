// SPDX-License-Identifier: Apache-2.0
// Memory in which the ranks of a team on one node agree, without waiting, who does nonblocking
// calls: a word and the ranks' measurements for each operation and size class.
#pragma once

#include "channel/env.hpp"
#include "channel/first_comer.hpp"
#include "operations.hpp"
#include "policy/request_term.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <sys/types.h>

namespace corymb::mpi {

class RequestBoard {
public:
    using End = channel::FirstComerEnd<channel::StandardEnv, told_words>;

    RequestBoard(int rank, int size) noexcept
        : rank_(static_cast<std::size_t>(rank)), size_(static_cast<std::size_t>(size)) {}
    RequestBoard(const RequestBoard&) = delete;
    RequestBoard& operator=(const RequestBoard&) = delete;
    ~RequestBoard();

    /// What the ranks share. Most of it is never touched, so it has no memory.
    [[nodiscard]] static std::size_t bytes(int size) noexcept;
    /// Maps the zeroed memory. False: this rank cannot.
    [[nodiscard]] bool open(int descriptor, ::off_t place) noexcept;

    /// This rank's end for calls of one kind; throws std::bad_alloc.
    [[nodiscard]] End& end(Operation operation, std::uint64_t bytes);

private:
    using Shared = End::Shared;

    std::size_t rank_;
    std::size_t size_;
    std::byte* memory_ = nullptr;
    std::map<std::size_t, End> ends_; ///< By Choice::place.
};

} // namespace corymb::mpi
