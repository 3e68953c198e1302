// SPDX-License-Identifier: Apache-2.0
#include "plan/search/two_class_bound.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace corymb {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class Counting {
public:
    Counting(const TreeCosts& costs, const Partition& partition) {
        for (auto& row : busy_) {
            row.fill(never);
        }
        latency_ = busy_;
        for (Rank from = 0; from < costs.size(); ++from) {
            ++size_[part(partition, from)];
            for (Rank to = 0; to < costs.size(); ++to) {
                if (from != to) {
                    double& busy = busy_[part(partition, from)][part(partition, to)];
                    double& latency = latency_[part(partition, from)][part(partition, to)];
                    busy = std::min(busy, costs.busy(from, to));
                    latency = std::min(latency, costs.latency(from, to));
                }
            }
        }
        for (auto& table : served_) {
            table.assign((size_[0] + 1) * (size_[1] + 1), 0.0);
        }
        for (std::size_t first = 0; first <= size_[0]; ++first) {
            for (std::size_t second = 0; second <= size_[1]; ++second) {
                for (std::size_t from = 0; first + second > 0 && from < 2; ++from) {
                    served(from, {first, second}) = best(from, {first, second});
                }
            }
        }
    }

    /// Least time for a rank of part `root` to serve everybody else.
    double makespan(std::size_t root) {
        std::array<std::size_t, 2> waiting = size_;
        --waiting[root];
        return served(root, waiting);
    }

private:
    using Counts = std::array<std::size_t, 2>;

    static std::size_t part(const Partition& partition, Rank rank) {
        return static_cast<std::size_t>(partition[static_cast<std::size_t>(rank)]);
    }
    double& served(std::size_t from, const Counts& counts) {
        return served_[from][counts[0] * (size_[1] + 1) + counts[1]];
    }

    /// Tries a first child in either part with every share of the rest.
    double best(std::size_t from, const Counts& waiting) {
        double least = never;
        for (std::size_t to = 0; to < 2; ++to) {
            if (waiting[to] == 0) {
                continue;
            }
            Counts rest = waiting;
            --rest[to];
            for (std::size_t share = 0; share <= rest[0]; ++share) {
                least = std::min(least, busy_[from][to] + best_share(from, to, rest, share));
            }
        }
        return least;
    }

    /// With the share of the first part fixed, the child's time rises and the parent's falls with
    /// the share of the second: the best is where they cross.
    double best_share(std::size_t from, std::size_t to, const Counts& rest, std::size_t share) {
        const auto child = [&](std::size_t second) {
            return latency_[from][to] + served(to, {share, second});
        };
        const auto parent = [&](std::size_t second) {
            return served(from, {rest[0] - share, rest[1] - second});
        };
        std::size_t low = 0;
        std::size_t high = rest[1];
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (child(middle) >= parent(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        double least = std::max(child(low), parent(low));
        if (low > 0) {
            least = std::min(least, std::max(child(low - 1), parent(low - 1)));
        }
        return least;
    }

    std::array<std::array<double, 2>, 2> busy_{}, latency_{};
    Counts size_{};
    std::array<std::vector<double>, 2> served_;
};

} // namespace

double two_class_bound(const TreeCosts& costs, const Partition& partition, Rank root) {
    Counting counting(costs, partition);
    if (root >= 0) {
        return counting.makespan(
            static_cast<std::size_t>(partition[static_cast<std::size_t>(root)]));
    }
    return std::min(counting.makespan(0), counting.makespan(1));
}

} // namespace corymb
