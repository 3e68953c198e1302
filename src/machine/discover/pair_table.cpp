// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/pair_table.hpp"

#include "machine/discover/statistics.hpp"

#include <algorithm>
#include <vector>

namespace corymb::discover {
namespace {

/// The batches of one pair as columns.
struct Series {
    std::array<std::vector<double>, 2> send;
    std::array<std::vector<double>, 2> receive;
    std::vector<double> round_trip;
    std::vector<double> cost;

    void add(const PairBatch& batch) {
        for (std::size_t from = 0; from < 2; ++from) {
            send[from].push_back(batch.send[from]);
            receive[from].push_back(batch.receive[from]);
        }
        round_trip.push_back(batch.round_trip);
        cost.push_back(batch.send[0] + batch.receive[0] + batch.send[1] + batch.receive[1]);
    }
};

/// Over several pairs: the distribution of their medians. A single pair: its own.
Statistic pooled(const std::vector<Statistic>& pairs) {
    if (pairs.size() == 1) {
        return pairs.front();
    }
    std::vector<double> medians;
    std::int64_t count = 0;
    for (const Statistic& pair : pairs) {
        medians.push_back(pair.median);
        count += pair.count;
    }
    Statistic result = summarize(medians);
    result.count = count;
    return result;
}

} // namespace

PairEstimate estimate_pair(PairProbe& probe, int first, int second, const Effort& effort,
                           std::int64_t& batches, std::int64_t& dropped) {
    Series series;
    PairEstimate estimate;
    int tried = 0;
    while (tried < 2 * effort.batches_max && !probe.interrupted()) {
        const int count = std::min(6, effort.batches_max);
        for (const PairBatch& batch : probe.batches(first, second, count)) {
            ++tried;
            ++batches;
            if (batch.dropped) {
                ++dropped;
            } else {
                series.add(batch);
            }
        }
        const int kept = static_cast<int>(series.cost.size());
        estimate.half_width = median_half_width(series.cost);
        if (kept >= effort.batches_max ||
            (kept >= effort.batches_min && estimate.half_width < effort.half_width)) {
            break;
        }
    }
    if (!series.cost.empty()) {
        for (std::size_t from = 0; from < 2; ++from) {
            estimate.send[from] = summarize(series.send[from]);
            estimate.receive[from] = summarize(series.receive[from]);
        }
        estimate.round_trip = summarize(series.round_trip);
    }
    return estimate;
}

const PairEstimate& PairTable::operator()(int a, int b) {
    const std::pair<int, int> key = std::minmax(a, b);
    const auto found = pairs_.find(key);
    if (found != pairs_.end()) {
        return found->second;
    }
    const PairEstimate estimate =
        estimate_pair(*probe_, key.first, key.second, effort_, batches_, dropped_);
    return pairs_.emplace(key, estimate).first->second;
}

const PairEstimate* PairTable::find(int a, int b) const {
    const auto found = pairs_.find(std::pair<int, int>(std::minmax(a, b)));
    return found != pairs_.end() ? &found->second : nullptr;
}

double PairTable::noise() const {
    std::vector<double> widths;
    for (const auto& [pair, estimate] : pairs_) {
        if (estimate.half_width < 1) {
            widths.push_back(estimate.half_width);
        }
    }
    return widths.empty() ? 0.03 : median(widths);
}

void ClassSamples::add(const PairEstimate& estimate, std::size_t from) {
    if (estimate.present()) {
        send_.push_back(estimate.send[from]);
        receive_.push_back(estimate.receive[from]);
        round_trip_.push_back(estimate.round_trip);
    }
}

void ClassSamples::add_all(const ClassSamples& other) {
    send_.insert(send_.end(), other.send_.begin(), other.send_.end());
    receive_.insert(receive_.end(), other.receive_.begin(), other.receive_.end());
    round_trip_.insert(round_trip_.end(), other.round_trip_.begin(), other.round_trip_.end());
}

void ClassSamples::fill(PairClass& pair_class) const {
    pair_class.pairs_sampled = pair_count();
    if (!send_.empty()) {
        pair_class.send = pooled(send_);
        pair_class.receive = pooled(receive_);
        pair_class.round_trip = pooled(round_trip_);
    }
}

double ClassSamples::half_width() const {
    std::vector<double> costs;
    for (std::size_t i = 0; i < send_.size(); ++i) {
        costs.push_back(send_[i].median + receive_[i].median);
    }
    return median_half_width(costs);
}

} // namespace corymb::discover
