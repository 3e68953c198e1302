// SPDX-License-Identifier: Apache-2.0
// A drop-in for std::barrier: the same members, a faster wait. Threads need no rank; when they have
// one, Team::barrier is faster still.
#pragma once

#include <corymb/export.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace corymb {

namespace detail {

class CentralBarrierState;

/// The part of `barrier` that does not depend on the completion function.
class CORYMB_EXPORT BarrierCore {
public:
    explicit BarrierCore(std::ptrdiff_t expected);
    BarrierCore(const BarrierCore&) = delete;
    BarrierCore& operator=(const BarrierCore&) = delete;
    ~BarrierCore();

    /// Counts `update` arrivals of the current phase. `last` says that the caller completes it.
    struct Arrival {
        std::uint64_t phase;
        bool last;
    };
    Arrival arrive(std::ptrdiff_t update) noexcept;
    /// One participant fewer from the next phase on; to be called before that participant's arrive.
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
/// function runs once a phase on the last thread to arrive, before anybody is released.
/// Waiting climbs the library's wait ladder; like std::barrier it has no deadline.
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

    explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = {})
        : core_(expected), completion_(std::move(completion)) {}

    static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::int32_t>::max();
    }

    [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1) {
        const auto arrival = core_.arrive(update);
        if (arrival.last) {
            completion_();
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
    detail::BarrierCore core_;
    CompletionFunction completion_;
};

} // namespace corymb
