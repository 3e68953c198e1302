// SPDX-License-Identifier: Apache-2.0
// Deadlines of operations that their caller only tests: when to look at the clock, and when to look
// for peers that have ended.
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb::detail {

class Patrol {
public:
    explicit Patrol(std::int64_t deadline_ns) noexcept : deadline_ns_(deadline_ns) {}

    enum class Duty : std::uint8_t { none, look_around, give_up };

    void set_deadline(std::int64_t deadline_ns) noexcept { deadline_ns_ = deadline_ns; }
    [[nodiscard]] std::int64_t deadline_ns() const noexcept { return deadline_ns_; }

    /// Something has gone on: the deadline begins anew.
    void note_progress() noexcept { since_ns_ = 0; }
    /// An operation begins that has taken so long already. Until it ends, so much of the deadline
    /// is over whenever it begins anew.
    void note_start(std::int64_t late_ns) noexcept {
        note_progress();
        late_ns_ = std::max(late_ns_, late_ns);
    }
    void note_end(std::int64_t late_ns) noexcept { late_ns_ = late_ns == late_ns_ ? 0 : late_ns_; }

    /// After a test that failed. Looks at the clock now and then only.
    [[nodiscard]] Duty after_failed_test() noexcept {
        if (++tests_ % tests_per_clock != 0) {
            return Duty::none;
        }
        const std::int64_t now = now_ns();
        if (since_ns_ == 0) {
            looked_ns_ = now;
            since_ns_ = now - late_ns_;
            next_ns_ = now + first_ns;
            return Duty::none;
        }
        // A gap between tests counts for a part of the deadline only. A process that was stopped
        // could not test, nor could peers that were stopped with it.
        since_ns_ += std::max<std::int64_t>(now - looked_ns_ - deadline_ns_ / gaps_least, 0);
        looked_ns_ = now;
        if (now - since_ns_ >= deadline_ns_) {
            return Duty::give_up;
        }
        if (now < next_ns_) {
            return Duty::none;
        }
        next_ns_ = now + std::clamp(now - since_ns_, first_ns, longest_ns);
        return Duty::look_around;
    }

private:
    static constexpr std::uint32_t tests_per_clock = 8;
    static constexpr std::int64_t gaps_least = 4; ///< Gaps between tests that use the deadline up.
    static constexpr std::int64_t first_ns = 1'000'000;
    static constexpr std::int64_t longest_ns = 20'000'000;

    std::int64_t deadline_ns_;
    std::int64_t late_ns_ = 0;
    /// Time of the first look at the clock without progress; 0: none yet.
    std::int64_t since_ns_ = 0;
    std::int64_t looked_ns_ = 0; ///< Time of the last look at the clock.
    std::int64_t next_ns_ = 0;
    std::uint32_t tests_ = 0;
};

} // namespace corymb::detail
