// SPDX-License-Identifier: Apache-2.0
// A drop-in for std::barrier: its members, a faster wait. Threads need no rank; when they have one,
// Team::barrier is faster still.
#pragma once

#include <corymb/export.hpp>
#include <corymb/wait_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace corymb {

/// The waiting of a `barrier`'s threads, as TeamOptions has it for a team.
struct BarrierOptions {
    WaitPolicy wait = WaitPolicy::ladder;
    /// Threads that take turns on a CPU, other programs' included: with more than 1 no thread
    /// spins. 0 or 1: each wait looks whether another thread of the barrier is on its CPU.
    int ranks_per_cpu = 0;
};

namespace detail {

class CentralBarrierState;

/// The part of `barrier` that does not depend on the completion function.
class CORYMB_EXPORT BarrierCore {
public:
    BarrierCore(std::ptrdiff_t expected, const BarrierOptions& options);
    BarrierCore(const BarrierCore&) = delete;
    BarrierCore& operator=(const BarrierCore&) = delete;
    ~BarrierCore();

    /// Counts `update` arrivals of the current phase. `last` says that the caller completes it.
    struct Arrival {
        std::uint64_t phase;
        bool last;
    };
    Arrival arrive(std::ptrdiff_t update) noexcept;
    /// Drops one participant from the next phase on; call it before that participant's arrive.
    void drop() noexcept;
    /// Opens the next phase; only for the arrival that was the last.
    void complete(std::uint64_t phase) noexcept;
    void wait(std::uint64_t phase) const noexcept;

private:
    std::unique_ptr<CentralBarrierState> state_;
};

struct NoCompletion {
    void operator()() const noexcept {}
};

} // namespace detail

/// Reusable thread barrier with the interface and the guarantees of std::barrier. The completion
/// function runs once a phase on the last thread to arrive, before anybody is released; if it
/// throws, std::terminate is called.
/// Waiting climbs the library's wait ladder, or as the options say; like std::barrier it has no
/// deadline. The constructor throws Errc::invalid_argument for a number of threads below 0 or above
/// `max()`, and for options out of their ranges.
template <class CompletionFunction = detail::NoCompletion>
class barrier {
public:
    class arrival_token {
    public:
        arrival_token(arrival_token&&) noexcept = default;
        arrival_token& operator=(arrival_token&&) noexcept = default;

    private:
        friend class barrier;
        explicit arrival_token(std::uint64_t phase) : phase_(phase) {}
        std::uint64_t phase_;
    };

    explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = {},
                     const BarrierOptions& options = {})
        : core_(expected, options), completion_(std::move(completion)) {}
    barrier(std::ptrdiff_t expected, const BarrierOptions& options)
        : barrier(expected, CompletionFunction{}, options) {}

    static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::int32_t>::max();
    }

    [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1) {
        const auto arrival = core_.arrive(update);
        if (arrival.last) {
            complete();
            core_.complete(arrival.phase);
        }
        return arrival_token(arrival.phase);
    }
    void wait(arrival_token&& token) const { core_.wait(token.phase_); }
    void arrive_and_wait() { wait(arrive()); }
    void arrive_and_drop() {
        core_.drop();
        static_cast<void>(arrive());
    }

private:
    /// Other threads wait for its end: an exception ends the process, as with std::barrier.
    void complete() noexcept { completion_(); }

    detail::BarrierCore core_;
    CompletionFunction completion_;
};

barrier(std::ptrdiff_t, BarrierOptions) -> barrier<>;

} // namespace corymb
