// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_view.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace corymb {

CostView::CostView(Rank size, std::vector<float> send, std::vector<float> receive)
    : size_(size), rows_(size), send_(std::move(send)), receive_(std::move(receive)) {
    check();
}

CostView::CostView(std::vector<std::int32_t> group, std::vector<float> send,
                   std::vector<float> receive)
    : size_(static_cast<Rank>(group.size())), group_(std::move(group)), send_(std::move(send)),
      receive_(std::move(receive)) {
    for (const std::int32_t number : group_) {
        if (number < 0) {
            throw Error(Errc::invalid_argument, "group numbers must not be negative");
        }
        rows_ = std::max(rows_, number + 1);
    }
    check();
}

void CostView::check() const {
    const auto rows = static_cast<std::size_t>(rows_);
    if (size_ < 1 || send_.size() != rows * rows || receive_.size() != rows * rows) {
        throw Error(Errc::invalid_argument,
                    "costs of " + std::to_string(size_) + " ranks need at least one rank and " +
                        std::to_string(rows * rows) + " values of each kind");
    }
    for (std::size_t i = 0; i < rows * rows; ++i) {
        const bool unused = group_.empty() && i / rows == i % rows;
        const bool sound = std::isfinite(send_[i]) && std::isfinite(receive_[i]) &&
                           send_[i] >= 0.0F && receive_[i] >= 0.0F;
        if (!unused && !sound) {
            throw Error(Errc::invalid_argument, "cost from " + std::to_string(i / rows) + " to " +
                                                    std::to_string(i % rows) +
                                                    " is missing or negative");
        }
    }
}

} // namespace corymb
