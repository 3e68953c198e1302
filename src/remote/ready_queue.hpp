// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/strand.hpp>

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace corymb::detail {

/// The strands that can go on, first come, first served. A strand is in it once at most, so with
/// room for all strands a push cannot fail.
class ReadyQueue {
public:
    [[nodiscard]] bool is_empty() const noexcept { return first_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - first_; }

    /// Room for so many strands.
    void make_room(std::size_t strands) {
        if (strands <= ring_.size()) {
            return;
        }
        std::vector<Strand*> wider(std::bit_ceil(strands));
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) {
            wider[i] = ring_[(first_ + i) & (ring_.size() - 1)];
        }
        ring_.swap(wider);
        first_ = 0;
        end_ = count;
    }
    void push(Strand& strand) noexcept { ring_[end_++ & (ring_.size() - 1)] = &strand; }
    /// Needs one.
    Strand& pop() noexcept { return *ring_[first_++ & (ring_.size() - 1)]; }
    void clear() noexcept { first_ = end_; }
    void for_each(const auto& see) const {
        for (std::size_t i = first_; i != end_; ++i) {
            see(std::as_const(*ring_[i & (ring_.size() - 1)]));
        }
    }

private:
    std::vector<Strand*> ring_; ///< Invariant: empty, or its size is a power of two.
    std::size_t first_ = 0;     ///< Counts on, also beyond the size.
    std::size_t end_ = 0;
};

} // namespace corymb::detail
