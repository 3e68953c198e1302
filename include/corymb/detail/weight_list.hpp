// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace corymb::detail {

/// Weights of edges or vertices in as few bytes as they need: none if all are 1, 4 bytes each if
/// all are below 2^32, else 8.
class WeightList {
public:
    [[nodiscard]] std::int64_t operator[](std::size_t index) const noexcept {
        if (!narrow_.empty()) {
            return narrow_[index];
        }
        return wide_.empty() ? 1 : wide_[index];
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool are_all_one() const noexcept { return narrow_.empty() && wide_.empty(); }
    /// For so many in all.
    void reserve(std::size_t count) { expected_ = count; }
    void push_back(std::int64_t weight) {
        if (weight != 1 && are_all_one()) {
            narrow_.reserve(expected_);
            narrow_.assign(size_, 1);
        }
        if (weight > std::numeric_limits<std::uint32_t>::max() && wide_.empty()) {
            wide_.reserve(expected_);
            wide_.assign(narrow_.begin(), narrow_.end());
            narrow_ = {};
        }
        if (!wide_.empty() || weight > std::numeric_limits<std::uint32_t>::max()) {
            wide_.push_back(weight);
        } else if (!narrow_.empty() || weight != 1) {
            narrow_.push_back(static_cast<std::uint32_t>(weight));
        }
        ++size_;
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return narrow_.size() * sizeof(std::uint32_t) + wide_.size() * sizeof(std::int64_t);
    }

private:
    // Invariant: at most one of them is not empty; that one has `size_` weights.
    std::vector<std::uint32_t> narrow_;
    std::vector<std::int64_t> wide_;
    std::size_t size_ = 0;
    std::size_t expected_ = 0;
};

} // namespace corymb::detail
