// SPDX-License-Identifier: Apache-2.0 Blocking calls, equal on all ranks, in which the ranks
// compare their numbers of nonblocking calls. Blocking and nonblocking calls should come in one
// order everywhere, but MPI libraries do not enforce it. So only a point that finds all ranks at
// one nonblocking call decides anything.
#pragma once

#include "policy/agreement.hpp"
#include "policy/tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace corymb::mpi {

class SyncPoints {
public:
    /// The next nonblocking call, or one that the MPI has refused on this rank.
    void count_nonblocking() noexcept { ++requests_; }
    void take_back_nonblocking() noexcept { --requests_; }
    /// The next blocking call. True: it is a point, before which the ranks compare.
    [[nodiscard]] bool begin_blocking() noexcept { return --calls_left_ == 0; }
    /// Uncounts the call. If it was a point, the others have counted from it on, and the call in
    /// its place does not count.
    void take_back_blocking() noexcept { ++calls_left_; }

    /// Points that have found all ranks together.
    [[nodiscard]] std::uint32_t reached() const noexcept { return reached_; }
    /// Names what the ranks compare; `is_open`: something is to be tried.
    struct Comparison {
        bool has_news;
        bool is_same = false;
    };
    [[nodiscard]] Comparison comparison(bool is_open) noexcept {
        return {requests_ != std::exchange(requests_before_, requests_) && is_open};
    }
    void ask(Agreement& agreement, Comparison& mine) const {
        agreement.same(requests_, mine.is_same);
        agreement.any(mine.has_news);
    }
    /// The comparison of all ranks. True: they are together, and settle what was tried.
    [[nodiscard]] bool decide(const Comparison& of_all) noexcept {
        apart_ = of_all.has_news ? tuning::sync_point_calls_least
                                 : std::min(2 * apart_, tuning::sync_point_calls_most);
        calls_left_ = apart_;
        reached_ += of_all.is_same ? 1 : 0;
        return of_all.is_same;
    }

    /// There will be no more points.
    void end() noexcept {
        are_over_ = true;
        calls_left_ = never;
    }
    /// Begins on another communicator, whose ranks have all made no calls.
    void begin_again() noexcept {
        requests_ = requests_before_ = 0;
        calls_left_ = are_over_ ? never : tuning::sync_point_calls_least;
        apart_ = tuning::sync_point_calls_least;
    }

private:
    static constexpr std::uint32_t never = ~std::uint32_t{0};

    std::uint32_t reached_ = 0;
    std::uint32_t calls_left_ = tuning::sync_point_calls_least;
    std::uint32_t apart_ = tuning::sync_point_calls_least;
    std::uint64_t requests_ = 0; ///< Nonblocking calls.
    std::uint64_t requests_before_ = 0;
    bool are_over_ = false;
};

} // namespace corymb::mpi
