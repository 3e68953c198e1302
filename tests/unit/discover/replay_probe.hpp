// SPDX-License-Identifier: Apache-2.0
// A machine that is not here: pairs cost what a stored matrix says, plus noise.
#pragma once

#include "base/random.hpp"
#include "machine/discover/pair_probe.hpp"

#include <corymb/machine.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace corymb::discover {

struct ReplayNoise {
    double batch = 0.05;     ///< Relative deviation of a batch.
    double slow = 0;         ///< Share of calls in which all batches take five times as long.
    double dropped = 0;      ///< Share of batches that are interrupted.
    double asymmetry = 0;    ///< Messages to lower PUs cost more by this share.
    bool permuted = false;   ///< The operating system's numbers tell nothing.
    double batch_s = 0.0002; ///< Time that a batch takes.
};

class ReplayProbe final : public PairProbe {
public:
    ReplayProbe(const Machine& machine, const ReplayNoise& noise, std::uint64_t seed = 1)
        : machine_(machine), noise_(noise), random_(seed),
          place_(static_cast<std::size_t>(machine.size())) {
        std::iota(place_.begin(), place_.end(), 0);
        for (std::size_t left = place_.size(); noise.permuted && left > 1; --left) {
            std::swap(place_[left - 1], place_[random_.below(static_cast<std::uint32_t>(left))]);
        }
    }

    [[nodiscard]] int size() const override { return machine_.size(); }
    [[nodiscard]] double elapsed_s() const override { return elapsed_s_; }
    [[nodiscard]] bool interrupted() const override { return batches_ >= interrupt_after; }

    std::vector<PairBatch> batches(int first, int second, int count) override {
        if (pairs_.insert(std::minmax(first, second)).second) {
            order_.push_back(std::minmax(first, second));
        }
        std::vector<PairBatch> result;
        slow_ = noise_.slow > 0 && random_.unit() < noise_.slow ? 5 : 1;
        for (int i = 0; i < count; ++i) {
            result.push_back(batch(first, second));
            elapsed_s_ += noise_.batch_s;
            ++batches_;
        }
        return result;
    }

    /// What a perfect measurement would say, both directions; NaN if the matrix has no entry.
    [[nodiscard]] double truth(int from, int to) const {
        return send(from, to) + receive(from, to);
    }
    [[nodiscard]] std::size_t pair_count() const { return pairs_.size(); }
    /// In the order in which they were first asked for.
    [[nodiscard]] const std::vector<std::pair<int, int>>& order() const { return order_; }
    [[nodiscard]] const Machine& machine() const { return machine_; }
    /// The stored PU that plays the role of this one.
    [[nodiscard]] int place(int pu) const { return place_[static_cast<std::size_t>(pu)]; }

    long interrupt_after = std::numeric_limits<long>::max();

private:
    [[nodiscard]] double slant(int from, int to) const {
        return place(from) > place(to) ? 1 + noise_.asymmetry : 1;
    }
    [[nodiscard]] double send(int from, int to) const {
        return machine_.send_cost(place(from), place(to)) * slant(from, to);
    }
    [[nodiscard]] double receive(int from, int to) const {
        return machine_.receive_cost(place(from), place(to)) * slant(from, to);
    }
    double factor() { // Triangular, with the standard deviation asked for.
        return slow_ * (1 + noise_.batch * std::sqrt(6.0) * (random_.unit() - random_.unit()));
    }
    PairBatch batch(int first, int second) {
        PairBatch result;
        result.send = {send(first, second) * factor(), send(second, first) * factor()};
        result.receive = {receive(first, second) * factor(), receive(second, first) * factor()};
        result.round_trip = (truth(first, second) + truth(second, first)) * factor();
        result.dropped = random_.unit() < noise_.dropped || !(result.round_trip > 0);
        return result;
    }

    const Machine& machine_;
    ReplayNoise noise_;
    Random random_;
    std::vector<int> place_; ///< place_[pu]: the PU of the stored machine that plays its role.
    std::set<std::pair<int, int>> pairs_;
    std::vector<std::pair<int, int>> order_;
    double slow_ = 1;
    double elapsed_s_ = 0;
    long batches_ = 0;
};

/// A machine that knows nothing but how many PUs it has.
inline Machine blank_machine(int size) {
    Machine machine;
    machine.source = "replayed";
    machine.topology.source = "none";
    for (int cpu = 0; cpu < size; ++cpu) {
        machine.topology.pus.push_back(Pu{.cpu = cpu});
    }
    return machine;
}

} // namespace corymb::discover
