// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/remote_state.hpp"

#include <corymb/waits.hpp>

#include <exception>
#include <memory>
#include <vector>

namespace corymb::detail {

/// Asks ranks to show their tasks, and the ranks that these tasks wait for or serve, and so on;
/// once or twice. The second look begins when the first has ended. A rank that has left shows
/// nothing.
/// Runs no task, so `run` does not wait for it.
class Look {
public:
    /// `waits` is woken at the end; null: nobody.
    Look(RemoteState& of, int rounds, Suspension* waits);
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;
    ~Look();
    /// May end before it returns.
    void begin(std::vector<Rank> first);
    [[nodiscard]] bool is_over() const noexcept { return left_ == 0; }
    /// What the rounds have shown. After a failure fewer.
    [[nodiscard]] const std::vector<std::vector<RankWaits>>& shown() const noexcept {
        return shown_;
    }
    /// Null: none.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

private:
    struct Question;
    void begin_round();
    void ask(Rank rank);
    void note(RankWaits shown);
    void end_one() noexcept;
    void fail(std::exception_ptr failure) noexcept;

    RemoteState* of_;
    int left_; ///< Rounds.
    Suspension* waits_;
    std::vector<Rank> first_;
    std::vector<std::vector<RankWaits>> shown_;
    std::vector<std::unique_ptr<Question>> asked_; ///< By rank; null: it was not asked.
    std::size_t open_ = 0;                         ///< Questions without an answer.
    std::exception_ptr failure_;
};

} // namespace corymb::detail
