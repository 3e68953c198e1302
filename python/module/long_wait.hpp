// SPDX-License-Identifier: Apache-2.0
// A wait without the interpreter lock that Ctrl-C ends.
#pragma once

#include "bindings.hpp"

#include <corymb/error.hpp>
#include <corymb/wait_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

namespace corymb::python {

/// "ladder", "spin", "yield" or "park". Throws Errc::unknown_name.
inline WaitPolicy wait_policy(const std::string& name) {
    if (name == "ladder") {
        return WaitPolicy::ladder;
    }
    if (name == "spin") {
        return WaitPolicy::spin;
    }
    if (name == "yield") {
        return WaitPolicy::yield;
    }
    if (name == "park") {
        return WaitPolicy::park;
    }
    throw Error(Errc::unknown_name,
                "there is no wait policy '" + name + "'; there are ladder, spin, yield and park");
}

class LongWait {
public:
    /// Says for its life that somebody waits.
    class Mark {
    public:
        explicit Mark(bool& flag) noexcept : flag_(flag) { flag_ = true; }
        Mark(const Mark&) = delete;
        Mark& operator=(const Mark&) = delete;
        ~Mark() { flag_ = false; }

    private:
        bool& flag_;
    };

    /// None: no limit. Throws Errc::invalid_argument for less than 0.
    explicit LongWait(const std::optional<double>& seconds)
        : end_(seconds ? now() + checked(*seconds) : Clock::time_point::max()) {}

    /// wait(limit) again and again, a piece at a time, until it is true or the limit has passed;
    /// looks for signals in between.
    template <class Wait>
    bool until(const Wait& wait) {
        for (;;) {
            const auto left = end_ - now();
            const auto piece = std::clamp<Clock::duration>(left, Clock::duration{0}, longest);
            bool is_done = false;
            {
                const nb::gil_scoped_release unlocked;
                is_done = wait(std::chrono::duration_cast<std::chrono::nanoseconds>(piece));
            }
            if (PyErr_CheckSignals() != 0) {
                throw nb::python_error();
            }
            if (is_done || left <= piece) {
                return is_done;
            }
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::duration longest = std::chrono::milliseconds(50);

    static Clock::time_point now() { return Clock::now(); }
    static Clock::duration checked(double seconds) {
        if (!(seconds >= 0)) {
            throw Error(Errc::invalid_argument, "seconds must be at least 0, or None");
        }
        return std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(std::min(seconds, 1e9)));
    }

    Clock::time_point end_;
};

/// wait(piece), which throws Errc::timeout at the end of each piece, until it returns or `seconds`
/// have passed; then the last timeout. `is_over()`: a timeout is the result, not that of the wait.
template <class Wait, class IsOver>
void wait_in_pieces(const std::optional<double>& seconds, const Wait& wait, const IsOver& is_over) {
    std::optional<Error> late;
    const bool is_done = LongWait(seconds).until([&](std::chrono::nanoseconds piece) {
        try {
            wait(std::max(piece, std::chrono::nanoseconds(1)));
        } catch (const Error& error) {
            if (error.code() != Errc::timeout || is_over()) {
                throw;
            }
            late = error;
            return false;
        }
        return true;
    });
    if (!is_done) {
        throw Error(*late);
    }
}

} // namespace corymb::python
