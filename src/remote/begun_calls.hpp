// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/call_log.hpp"

#include <corymb/detail/remote_call.hpp>
#include <corymb/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace corymb::detail {

/// The calls of a rank that were not answered. A call's place names it. A caller that waits no more
/// leaves the place taken until the answer comes, which would be that of another call otherwise.
class BegunCalls {
public:
    /// Who learns of the end of a call; at most one of them.
    struct Ending {
        AnswerTaker* waits = nullptr; ///< For the answer.
        Scope* counts = nullptr;      ///< The call is one of its.
        bool is_call = true;          ///< Else it has a place among them, and is shown nowhere.
    };

    /// Throws Errc::invalid_argument when too many are under way.
    [[nodiscard]] std::uint32_t add(Rank to, const Ending& ending) {
        if (free_ == calls_.size()) {
            if (calls_.size() >= Reply::nobody) {
                throw Error(Errc::invalid_argument, "too many calls of this rank are under way");
            }
            calls_.emplace_back();
            calls_.back().next_free = static_cast<std::uint32_t>(calls_.size());
        }
        const std::uint32_t call = free_;
        free_ = calls_[call].next_free;
        const bool is_noted = log_ != nullptr && ending.is_call;
        calls_[call] = {to, ending, is_noted ? log_->begin(to) : 0};
        return call;
    }
    /// From here on each call of the program is noted. Before the first one.
    void set_log(CallLog* log) noexcept { log_ = log; }
    [[nodiscard]] Rank to(std::uint32_t call) const noexcept { return calls_[call].to; }
    /// It was asked to stop, and its end is waited for: so is wherever else it goes.
    void note_stopped(std::uint32_t call) noexcept { calls_[call].is_stopped = true; }
    [[nodiscard]] bool is_stopped(std::uint32_t call) const noexcept {
        return calls_[call].is_stopped;
    }
    /// Nobody learns of its end from here on. Returns who would have.
    Ending neglect(std::uint32_t call) noexcept {
        note_end(call);
        Ending& ending = calls_[call].ending;
        return std::exchange(ending, Ending{nullptr, nullptr, ending.is_call});
    }
    /// Gives the place of a call back. Returns who learns of its end.
    Ending take_back(std::uint32_t call) noexcept {
        const Ending ending = calls_[call].ending;
        note_end(call);
        calls_[call] = {-1, {}, free_};
        free_ = call;
        return ending;
    }
    /// The request has come back from rank `from`, and goes to another one. False: there is no such
    /// call, or nobody waits for its end any more; it is none then.
    [[nodiscard]] bool redirect(std::uint32_t call, Rank from, Rank to) noexcept {
        if (call >= calls_.size() || calls_[call].to != from) {
            return false;
        }
        if (calls_[call].ending.waits == nullptr && calls_[call].ending.counts == nullptr) {
            take_back(call);
            return false;
        }
        calls_[call].to = to;
        return true;
    }
    /// Rank `from` has answered, or `failure` says why not. Nothing if it has no such call.
    void end(std::uint32_t call, Rank from, RemoteReader* answer,
             const std::exception_ptr& failure) noexcept {
        if (call >= calls_.size() || calls_[call].to != from) {
            return;
        }
        const Ending ending = take_back(call);
        if (ending.waits != nullptr) {
            answer != nullptr ? ending.waits->settle(*answer) : ending.waits->settle(failure);
        } else if (ending.counts != nullptr) {
            ending.counts->end_one(failure);
        }
    }
    /// Ends all calls to a rank.
    void end_all(Rank to, const std::exception_ptr& failure) noexcept {
        for (std::size_t call = 0; call < calls_.size(); ++call) {
            end(static_cast<std::uint32_t>(call), to, nullptr, failure);
        }
    }
    /// Calls `see(call, to, ending)` for each, which may end calls.
    void for_each(const auto& see) const {
        for (std::size_t call = 0; call < calls_.size(); ++call) {
            if (calls_[call].to >= 0) {
                const Call each = calls_[call];
                see(static_cast<std::uint32_t>(call), each.to, each.ending);
            }
        }
    }

private:
    void note_end(std::uint32_t call) noexcept {
        if (log_ != nullptr && calls_[call].ending.is_call) [[unlikely]] {
            log_->end(calls_[call].next_free);
        }
    }
    struct Call {
        Rank to = -1; ///< -1: the place is free.
        Ending ending;
        std::uint32_t next_free = 0; ///< While the place is taken: the number in the log.
        bool is_stopped = false;     ///< Its end is waited for.
    };
    std::vector<Call> calls_;
    CallLog* log_ = nullptr; ///< Null: there is none.
    std::uint32_t free_ = 0; ///< The first free place; the size of `calls_`: none.
};

} // namespace corymb::detail
