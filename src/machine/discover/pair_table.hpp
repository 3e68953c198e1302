// SPDX-License-Identifier: Apache-2.0
// What is known about each pair of PUs so far, and the rule when a pair is known well enough.
#pragma once

#include "machine/discover/pair_probe.hpp"

#include <corymb/machine.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace corymb::discover {

/// When to stop with a pair.
struct Effort {
    int batches_min = 6; ///< Fewer have no 95 % interval.
    int batches_max = 30;
    double half_width = 0.03; ///< Of that interval around the median, relative.
};

/// An unordered pair; index 0 is from the PU with the lower index to the other.
struct PairEstimate {
    std::array<Statistic, 2> send;
    std::array<Statistic, 2> receive;
    Statistic round_trip;
    double half_width = 0; ///< Reached, relative.

    [[nodiscard]] bool present() const noexcept { return round_trip.present(); }
    /// Send and receive, mean of both directions; NaN when every batch was dropped.
    [[nodiscard]] double cost() const noexcept {
        return (send[0].median + receive[0].median + send[1].median + receive[1].median) / 2;
    }
};

/// Measures one pair until `effort` is satisfied. Interrupted or hopeless pairs are not present.
PairEstimate estimate_pair(PairProbe& probe, int first, int second, const Effort& effort,
                           std::int64_t& batches, std::int64_t& dropped);

/// Pairs that were measured once are not measured again.
class PairTable {
public:
    PairTable(PairProbe& probe, Effort effort) : probe_(&probe), effort_(effort) {}

    /// The pair's estimate, measured now if it is new.
    const PairEstimate& operator()(int a, int b);
    /// The same, but null instead of measuring.
    [[nodiscard]] const PairEstimate* find(int a, int b) const;

    [[nodiscard]] PairProbe& probe() const noexcept { return *probe_; }
    [[nodiscard]] std::size_t pair_count() const noexcept { return pairs_.size(); }
    [[nodiscard]] std::int64_t batches() const noexcept { return batches_; }
    [[nodiscard]] std::int64_t dropped() const noexcept { return dropped_; }
    /// The usual half width reached: how noisy a single estimate is.
    [[nodiscard]] double noise() const;
    void set_effort(const Effort& effort) noexcept { effort_ = effort; }
    [[nodiscard]] const std::map<std::pair<int, int>, PairEstimate>& pairs() const noexcept {
        return pairs_;
    }

private:
    PairProbe* probe_;
    Effort effort_;
    std::map<std::pair<int, int>, PairEstimate> pairs_;
    std::int64_t batches_ = 0;
    std::int64_t dropped_ = 0;
};

/// Accumulates pairs of one class and yields its statistics: over the pairs if there are several,
/// else over the batches of the only one.
class ClassSamples {
public:
    /// `from` is 0 or 1 for one direction of the estimate.
    void add(const PairEstimate& estimate, std::size_t from);
    void add_all(const ClassSamples& other);
    [[nodiscard]] std::int64_t pair_count() const noexcept {
        return static_cast<std::int64_t>(send_.size());
    }
    /// Fills send, receive, round_trip and pairs_sampled.
    void fill(PairClass& pair_class) const;
    /// Relative half width of the interval of the median cost.
    [[nodiscard]] double half_width() const;

private:
    std::vector<Statistic> send_;
    std::vector<Statistic> receive_;
    std::vector<Statistic> round_trip_;
};

} // namespace corymb::discover
