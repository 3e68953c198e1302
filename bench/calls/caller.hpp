// SPDX-License-Identifier: Apache-2.0
// Ways in which one thread has another one do something, and learns that it is done.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::bench {

using Clock = std::chrono::steady_clock;

/// What a turn measures.
enum class CallOp : std::uint8_t {
    empty,   ///< A call of nothing: nanoseconds until its end is known.
    bytes64, ///< A call of what takes 64 bytes and gives them back.
    own,     ///< A call of nothing, by the rank itself.
    one_way, ///< One of many that nobody answers, until the last one has run.
    half,    ///< The smallest work that pays: see smallest_work.
    most,
};
[[nodiscard]] std::string_view to_string(CallOp op) noexcept;

/// Work of both threads at once: `amount` rounds of arithmetic.
void work(std::uint64_t amount) noexcept;
/// How many rounds take a nanosecond. Measured when first asked.
[[nodiscard]] double work_per_ns();

/// Binds this thread to the CPU of the caller, 0, or of the called one, 1, if there are two.
void bind_end(std::size_t end);

/// Until when something is repeated, and how often it was.
class Repetition {
public:
    /// A clock is read every `batch` times.
    explicit Repetition(Clock::duration budget, std::uint64_t batch = 32)
        : batch_(batch), end_(Clock::now() + budget) {}
    /// Counts one; whether the time is over, looked at now and then.
    [[nodiscard]] bool is_over() noexcept { return ++count_ % batch_ == 0 && Clock::now() >= end_; }
    [[nodiscard]] double ns_each() const noexcept {
        const std::chrono::duration<double, std::nano> time = Clock::now() - begin_;
        return time.count() / static_cast<double>(count_);
    }

private:
    std::uint64_t batch_;
    Clock::time_point begin_ = Clock::now(), end_;
    std::uint64_t count_ = 0;
};

/// For steps with so much work: there is a look at the clock behind each long one.
[[nodiscard]] Repetition steps_of(std::uint64_t amount, Clock::duration budget);

/// Caller and called thread, bound to CPUs where there are two.
class Caller {
public:
    Caller() = default;
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    virtual ~Caller() = default;
    /// Nanoseconds of one, of as many as there is time for; 0 if it does not do that.
    [[nodiscard]] virtual double time(CallOp op, Clock::duration budget) = 0;
    /// Nanoseconds until both threads have done so much work, in which each does it once.
    [[nodiscard]] virtual double time_step(std::uint64_t amount, Clock::duration budget) = 0;
};

/// The length in nanoseconds at which work on two threads reaches `efficiency`: where the length is
/// that part of a step's time. Found as the fixed point of length = overhead(length) * e / (1 - e).
/// 10 ms: not even such work does, as beside others who want the CPUs.
[[nodiscard]] double smallest_work(Caller& caller, double efficiency, Clock::duration budget);

struct CallContestant {
    std::string name;
    std::string family; ///< "corymb", "peer" or "floor".
    std::vector<CallOp> ops;
    std::function<std::unique_ptr<Caller>()> make;
};

[[nodiscard]] std::vector<CallContestant> plain_callers();
[[nodiscard]] std::vector<CallContestant> corymb_callers();
/// None where CAF is not.
[[nodiscard]] std::vector<CallContestant> caf_callers();

} // namespace corymb::bench
