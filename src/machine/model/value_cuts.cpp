// SPDX-License-Identifier: Apache-2.0
#include "machine/model/value_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace corymb::model {

namespace {

// Differences of logarithms, that is, relative gaps.
constexpr double gap_min_noisy = 0.2;
constexpr double gap_min_exact = 0.05;
constexpr double gap_to_spread = 0.75;
constexpr double neighbourhood = 0.03;
constexpr double value_floor = 1e-3; // A logarithm needs something above zero.

/// A run of sorted values: [begin, end).
struct Run {
    std::size_t begin, end;
};

class Cutter {
public:
    Cutter(std::vector<WeightedValue> values, double mass_min)
        : values_(std::move(values)), mass_min_(mass_min) {
        for (WeightedValue& each : values_) {
            each.value = std::log(std::max(each.value, value_floor));
        }
        std::sort(values_.begin(), values_.end(),
                  [](const auto& a, const auto& b) { return a.value < b.value; });
    }

    std::vector<double> cuts() {
        const double gap_min = is_exact() ? gap_min_exact : gap_min_noisy;
        drop_strays();
        split(gap_min);
        while (merge_lightest() || merge_weakest(gap_min)) {
        }
        std::vector<double> out;
        for (std::size_t i = 1; i < runs_.size(); ++i) {
            const double below = values_[runs_[i - 1].end - 1].value;
            const double above = values_[runs_[i].begin].value;
            out.push_back(std::exp((below + above) / 2));
        }
        return out;
    }

private:
    /// Few distinct values, each many times: the noise has been taken out already.
    bool is_exact() const {
        constexpr std::size_t distinct_max = 16;
        std::size_t distinct = values_.empty() ? 0 : 1;
        for (std::size_t i = 1; i < values_.size(); ++i) {
            if (values_[i].value > values_[i - 1].value + 1e-9) {
                ++distinct;
            }
        }
        return distinct <= distinct_max && values_.size() >= 4 * distinct;
    }

    void drop_strays() {
        const double near_min = mass_min_ / 8;
        std::vector<WeightedValue> kept;
        std::size_t low = 0;
        std::size_t high = 0;
        double mass = 0;
        for (const WeightedValue& each : values_) {
            for (; high < values_.size() && values_[high].value <= each.value + neighbourhood;
                 ++high) {
                mass += values_[high].mass;
            }
            for (; values_[low].value < each.value - neighbourhood; ++low) {
                mass -= values_[low].mass;
            }
            if (mass >= near_min) {
                kept.push_back(each);
            }
        }
        values_ = std::move(kept);
        mass_before_.assign(1, 0);
        for (const WeightedValue& each : values_) {
            mass_before_.push_back(mass_before_.back() + each.mass);
        }
    }

    void split(double gap_min) {
        runs_.clear();
        std::size_t begin = 0;
        for (std::size_t i = 1; i <= values_.size(); ++i) {
            if (i == values_.size() || values_[i].value - values_[i - 1].value >= gap_min) {
                runs_.push_back({begin, i});
                begin = i;
            }
        }
    }

    double mass(const Run& run) const { return mass_before_[run.end] - mass_before_[run.begin]; }

    double quantile(const Run& run, double fraction) const {
        const double wanted = mass_before_[run.begin] + fraction * mass(run);
        const auto first = mass_before_.begin() + 1 + static_cast<std::ptrdiff_t>(run.begin);
        const auto last = mass_before_.begin() + static_cast<std::ptrdiff_t>(run.end);
        const auto found = std::lower_bound(first, last, wanted);
        return values_[static_cast<std::size_t>(found - mass_before_.begin()) - 1].value;
    }

    double spread(const Run& run) const { return quantile(run, 0.95) - quantile(run, 0.05); }

    /// Between the runs i - 1 and i, without their outermost 2 %.
    double gap(std::size_t i) const {
        return quantile(runs_[i], 0.02) - quantile(runs_[i - 1], 0.98);
    }

    void remove_boundary(std::size_t i) {
        runs_[i - 1].end = runs_[i].end;
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    bool merge_lightest() {
        std::size_t lightest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            if (mass(runs_[i]) < least) {
                least = mass(runs_[i]);
                lightest = i;
            }
        }
        if (runs_.size() < 2 || least >= mass_min_) {
            return false;
        }
        const bool last = lightest + 1 == runs_.size();
        const bool to_left = lightest > 0 && (last || gap(lightest) <= gap(lightest + 1));
        remove_boundary(to_left ? lightest : lightest + 1);
        return true;
    }

    bool merge_weakest(double gap_min) {
        std::size_t weakest = 0;
        double least = 1;
        for (std::size_t i = 1; i < runs_.size(); ++i) {
            const double needed =
                std::max(gap_min, gap_to_spread * std::max(spread(runs_[i - 1]), spread(runs_[i])));
            if (gap(i) / needed < least) {
                least = gap(i) / needed;
                weakest = i;
            }
        }
        if (weakest == 0) {
            return false;
        }
        remove_boundary(weakest);
        return true;
    }

    std::vector<WeightedValue> values_; ///< Logarithms, ascending.
    std::vector<double> mass_before_;   ///< Of the values before each index.
    std::vector<Run> runs_;
    double mass_min_;
};

} // namespace

std::vector<double> find_cuts(std::vector<WeightedValue> values, double mass_min) {
    return Cutter(std::move(values), mass_min).cuts();
}

int class_of_value(double value, const std::vector<double>& cuts) noexcept {
    return static_cast<int>(std::upper_bound(cuts.begin(), cuts.end(), value) - cuts.begin());
}

} // namespace corymb::model
