// SPDX-License-Identifier: Apache-2.0
// How long calls are whose lists ranks do not know of each other. Who does a call must be the same
// on all ranks, so none can go by its own list. Now and then they tell each other, in an allreduce
// of one number before the call, and until the next time calls count as that long.
#pragma once

#include "choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace corymb::mpi {

/// Of the blocking calls of one operation on one communicator.
class ToldSize {
public:
    /// What all count as; any_bytes before the first one.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// In the next call the ranks tell each other.
    [[nodiscard]] bool is_due() const noexcept { return calls_left_ == 1; }
    /// A call, which is not due.
    void count() noexcept { --calls_left_; }
    /// It was none: the MPI has refused it on this rank.
    void take_back() noexcept { ++calls_left_; }
    /// The longest of a call that is due, of all ranks.
    void tell(std::uint64_t longest) noexcept {
        const bool is_alike = std::bit_width(longest) == std::bit_width(bytes_);
        if (is_alike || apart_ < apart_unlike) {
            apart_ = std::min(2 * apart_, apart_alike);
        } else {
            apart_ = apart_unlike;
        }
        bytes_ = longest;
        calls_left_ = apart_;
    }

private:
    /// So many calls lie between at most, where sizes change and where they do not: an allreduce is
    /// then a small part of what they take.
    static constexpr std::uint32_t apart_unlike = 32, apart_alike = 128;

    std::uint64_t bytes_ = any_bytes;
    std::uint32_t calls_left_ = 1;
    std::uint32_t apart_ = 1;
};

class ToldSizes {
public:
    [[nodiscard]] ToldSize& operator[](Operation operation) noexcept {
        const auto found = std::ranges::find(operations_of_any_size, operation);
        return sizes_[static_cast<std::size_t>(found - operations_of_any_size.begin())];
    }

private:
    std::array<ToldSize, operations_of_any_size.size()> sizes_{};
};

} // namespace corymb::mpi
