// SPDX-License-Identifier: Apache-2.0
#include "tune/messages_in_a_row.hpp"

#include "plan/step_kind.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace corymb::tune {

namespace {

class MessagesInARow {
public:
    explicit MessagesInARow(const plan::Matching& matching)
        : matching_(matching), next_(static_cast<std::size_t>(matching.plan().size())),
          in_a_row_(matching.step_count(), 0) {}

    std::uint32_t most() {
        for (bool moved = true; moved;) {
            moved = false;
            for (Rank rank = 0; rank < matching_.plan().size(); ++rank) {
                moved = advance(rank) || moved;
            }
        }
        return std::ranges::max(in_a_row_);
    }

private:
    bool advance(Rank rank) {
        auto& next = next_[static_cast<std::size_t>(rank)];
        const plan::StepNumber begin = matching_.first_step(rank);
        const std::size_t length = matching_.end_step(rank) - begin;
        const std::size_t before = next;
        for (; next < length; ++next) {
            const auto number = static_cast<plan::StepNumber>(begin + next);
            std::uint32_t row = next == 0 ? 0 : in_a_row_[number - 1];
            if (plan::has_source(matching_.step(number).kind)) {
                const plan::StepNumber source = matching_.partner(number);
                if (!is_over(source)) {
                    break;
                }
                row = std::max(row, in_a_row_[source] + 1);
            }
            in_a_row_[number] = row;
        }
        return next != before;
    }
    [[nodiscard]] bool is_over(plan::StepNumber number) const {
        return matching_.index_of(number) <
               next_[static_cast<std::size_t>(matching_.rank_of(number))];
    }

    const plan::Matching& matching_;
    std::vector<std::size_t> next_; ///< By rank: the steps whose length is known.
    std::vector<std::uint32_t> in_a_row_;
};

} // namespace

std::uint32_t messages_in_a_row(const plan::Matching& matching) {
    return matching.step_count() == 0 ? 0 : MessagesInARow(matching).most();
}

} // namespace corymb::tune
