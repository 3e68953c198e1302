// SPDX-License-Identifier: Apache-2.0
// Where the choices of an execution come from: depth-first over all of them, or a seeded random
// walk, or a recorded replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::verify {

class Search {
public:
    /// Depth-first from the first execution.
    void start_exhaustive();
    void start_random(std::uint64_t seed);
    /// Follows `text`, the `replay()` of an earlier execution.
    void start_replay(std::string_view text);

    void begin_execution();
    /// Prepares the next execution. False: there is none (depth-first only).
    bool advance();

    [[nodiscard]] bool is_exhaustive() const noexcept { return mode_ == Mode::exhaustive; }
    [[nodiscard]] bool is_replay() const noexcept { return mode_ == Mode::replay; }

    /// One of `allowed`, which holds thread numbers in increasing order of preference.
    int choose_thread(const std::vector<int>& allowed);
    /// How many of `allowed` were tried before the one that choose_thread just returned.
    [[nodiscard]] std::size_t tried_before() const noexcept { return tried_before_; }
    /// Index into the options 0 to total - 1, one of those for which `allowed` holds.
    std::size_t choose_option(const std::vector<std::size_t>& allowed, std::size_t total);

    /// Every decision of the execution under way: a letter for a thread's step, then the options
    /// that it chose, e.g. "ab1a0.2b".
    [[nodiscard]] const std::string& replay() const noexcept { return decisions_; }

private:
    enum class Mode : std::uint8_t { exhaustive, random, replay };
    struct Node {
        std::size_t chosen;
        std::size_t count;
    };

    std::size_t pick(std::size_t count);
    [[nodiscard]] std::size_t replayed_number();
    void record_option(std::size_t option);

    Mode mode_ = Mode::exhaustive;
    std::vector<Node> trail_;
    std::size_t depth_ = 0;
    std::uint64_t random_ = 0;
    std::string recorded_;
    std::size_t recorded_at_ = 0;
    std::string decisions_;
    std::size_t tried_before_ = 0;
};

} // namespace corymb::verify
