// SPDX-License-Identifier: Apache-2.0
// All ranks wait for each other. Dissemination barrier: Hensgen, Finkel, Manber, 1988.
#pragma once

#include <corymb/detail/remote_call.hpp>
#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>

namespace corymb {

namespace detail {
/// The rank that this exception names first; else `own`.
inline Rank named_by(const std::exception_ptr& why, Rank own) noexcept {
    try {
        std::rethrow_exception(why);
    } catch (const Error& error) {
        return error.ranks().empty() ? own : error.ranks().front();
    } catch (...) {
        return own;
    }
}

/// What a rank knows of a barrier.
class BarrierPart {
public:
    /// In round k a rank tells the one 2^k behind it, and hears from the one 2^k before it.
    static constexpr std::size_t most_rounds = 31;

    void note(std::uint32_t number) noexcept {
        Round& round = rounds_[number];
        if (++round.came == phase_ && round.waits != nullptr) {
            round.waits->arrive();
        }
    }
    void note_lost(Rank lost) noexcept {
        lost_ = lost_ < 0 ? lost : lost_;
        for (Round& round : rounds_) {
            if (round.waits != nullptr) {
                round.waits->arrive();
            }
        }
    }
    void begin() {
        if (is_in_use_) {
            throw Error(Errc::invalid_argument,
                        "another task of this rank is in the barrier: one at a time");
        }
        require_all();
        is_in_use_ = true;
        ++phase_;
    }
    void end() noexcept { is_in_use_ = false; }
    Task<> await_round(std::uint32_t number, Rank from) {
        Round& round = rounds_[number];
        require_all();
        if (round.came < phase_) {
            PeerWait wait(from);
            const Waiting waiting(round, wait);
            co_await wait;
        }
        require_all();
    }

private:
    struct Round {
        std::uint64_t came = 0; ///< How often its sender has come to it.
        PeerWait* waits = nullptr;
    };
    struct Waiting {
        Waiting(Round& of, PeerWait& wait) noexcept : round(&of) { of.waits = &wait; }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;
        ~Waiting() { round->waits = nullptr; }
        Round* round;
    };
    void require_all() const {
        if (lost_ >= 0) {
            throw Error(Errc::team_broken,
                        "rank " + std::to_string(lost_) + " comes to the barrier no more", {lost_});
        }
    }
    std::array<Round, most_rounds> rounds_{};
    std::uint64_t phase_ = 0; ///< How often this rank has come.
    Rank lost_ = -1;          ///< The first rank that cannot come; -1: none.
    bool is_in_use_ = false;
};
} // namespace detail

/// In tasks: each rank of the group waits until all have come. All ranks make one of the same name.
/// After an `arrive` it may be ended, on each rank by itself.
class RankBarrier {
public:
    /// Throws as Distributed.
    explicit RankBarrier(std::string_view name) : part_(name) {}

    /// Returns when each rank has called it as often as this one. What a rank has written before
    /// it, the others read after it. About log2(ranks) messages in a row. Throws Errc::team_broken
    /// naming a rank that has left, ended or been stopped in it, on all ranks from then on;
    /// Errc::interrupted if the task is asked to stop. One task of a rank at a time.
    [[nodiscard]] Task<> arrive() {
        part_->begin();
        std::exception_ptr thrown;
        try {
            co_await disseminate();
        } catch (...) {
            thrown = std::current_exception();
        }
        part_->end();
        if (thrown != nullptr) {
            give_up(thrown);
        }
    }

    /// In a task: this rank comes no more, and the others shall not wait for it. Throws `why`.
    [[noreturn]] void give_up(const std::exception_ptr& why) {
        const Rank lost = detail::named_by(why, here());
        for (Rank to = 0; to < ranks(); ++to) { // In tasks that no stop reaches.
            static_cast<void>(spawn(tell_lost(part_.on(to), lost), std::stop_token()));
        }
        std::rethrow_exception(why);
    }

private:
    Task<> disseminate() {
        const int size = ranks();
        std::uint32_t round = 0;
        for (int step = 1; step < size; step *= 2) {
            const Remote<detail::BarrierPart> next = part_.on((here() + step) % size);
            co_await next.post<&detail::BarrierPart::note>(round);
            co_await part_->await_round(round, (here() + size - step) % size);
            ++round;
        }
    }
    static Task<> tell_lost(Remote<detail::BarrierPart> to, Rank lost) {
        try {
            co_await to.post<&detail::BarrierPart::note_lost>(lost);
        } catch (const Error&) { // It has gone.
        }
    }
    Distributed<detail::BarrierPart> part_;
};

} // namespace corymb
