// SPDX-License-Identifier: Apache-2.0
#include "tune/turns.hpp"

#include "plan/execution.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <vector>

namespace corymb::tune {

namespace {

/// A visitor of plan::Execution that counts the messages before each step.
class MessagesInARow {
public:
    explicit MessagesInARow(const plan::Matching& matching)
        : matching_(matching), in_a_row_(matching.step_count(), 0) {}

    void perform(plan::StepNumber number) {
        std::uint32_t row = matching_.index_of(number) == 0 ? 0 : in_a_row_[number - 1];
        if (plan::has_source(matching_.step(number).kind)) {
            row = std::max(row, in_a_row_[matching_.partner(number)] + 1);
        }
        in_a_row_[number] = row;
        most_ = std::max(most_, row);
    }
    void complete(plan::StepNumber /*number*/) {}

    [[nodiscard]] std::uint32_t most() const noexcept { return most_; }

private:
    const plan::Matching& matching_;
    std::vector<std::uint32_t> in_a_row_;
    std::uint32_t most_ = 0;
};

} // namespace

std::uint32_t messages_in_a_row(const plan::Matching& matching) {
    MessagesInARow counter(matching);
    plan::Execution(matching, counter).run();
    return counter.most();
}

} // namespace corymb::tune
