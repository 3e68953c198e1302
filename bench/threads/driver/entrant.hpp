// SPDX-License-Identifier: Apache-2.0
// A contestant while its case is measured: its process, its samples, the length of its next slot.
#pragma once

#include "child.hpp"
#include "measure.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corymb::bench {

class Entrant {
public:
    explicit Entrant(Contestant contestant) : contestant_(std::move(contestant)) {}

    /// Starts the worker, times its first operations, verifies its results and finds out how many
    /// operations fill a slot.
    /// Leaves it stopped, or ended with the reason.
    void prepare(const Case& what, std::int64_t slot_ns, std::int64_t deadline_ns);
    /// One slot: resume, run, stop.
    void take_turn(std::int64_t slot_ns, std::int64_t deadline_ns);
    void skip(const std::string& reason);

    [[nodiscard]] bool running() const noexcept { return child_ != nullptr; }
    [[nodiscard]] std::size_t slots() const noexcept { return operation_ns_.size(); }
    /// Wall-clock time of all its slots.
    [[nodiscard]] std::int64_t used_ns() const noexcept { return used_ns_; }
    [[nodiscard]] Outcome outcome() const;

private:
    struct Sample {
        double operation_ns = 0, cpu_ns = 0;
    };
    /// One command and its answer; false, with the reason noted, when there was none or a wrong
    /// one.
    bool ask(const std::string& command, std::int64_t deadline_ns, std::string& answer);
    bool run_first(std::int64_t deadline_ns);
    bool run(std::uint64_t operations, std::int64_t deadline_ns, Sample& sample);
    void adapt(std::int64_t slot_ns, double operation_ns) noexcept;
    [[nodiscard]] std::string why_silent(std::int64_t waited_ns);

    Contestant contestant_;
    std::unique_ptr<Child> child_;
    std::vector<double> operation_ns_, cpu_ns_, first_ns_;
    std::uint64_t operations_ = 1;
    bool late_ = false;
    std::int64_t used_ns_ = 0;
    std::string skipped_;
};

} // namespace corymb::bench
