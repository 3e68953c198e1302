// SPDX-License-Identifier: Apache-2.0
// Points are clustered by two ranks: each of some candidates becomes a centre if that lowers the
// costs of all points and centres. The kernel of streamcluster: O'Callaghan, Mishra, Meyerson,
// Guha, Motwani: Streaming-Data Algorithms for High-Quality Clustering (2002), as a benchmark of
// Bienia, Kumar, Singh, Li: The PARSEC Benchmark Suite (2008).
#include "../threads/case.hpp"
#include "row.hpp"

#include <corymb/barrier.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/shared_array.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

constexpr int ranks_here = 2;
constexpr int rounds = 12;
/// The order of contestants in a round. Each has each place once, and each other one before it once
/// (Williams 1949).
constexpr std::array<std::array<std::size_t, 4>, 4> orders{
    {{0, 1, 3, 2}, {1, 2, 0, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}}};
constexpr std::size_t dimensions = 32;
constexpr std::size_t candidates = 200;
constexpr std::size_t blobs = 20;
using Points = SharedArray<float>;

/// What the ranks tell each other, a line each.
struct alignas(128) Share {
    double gain = 0;           ///< What its points and centres save if the candidate opens.
    std::vector<double> lower; ///< By centre: what its points save if it is closed.
};

/// One clustering. The ranks call `run` together, and each clusters its own points.
template <class Barrier>
class Clustering {
public:
    explicit Clustering(std::size_t points)
        : count_(points), cost_(points), centre_(points), is_open_(points) {
        for (Share& share : shares_) {
            share.lower.resize(points);
        }
    }

    /// The final costs; the same on each rank.
    double run(const Points& points, Rank rank) {
        const std::size_t own = static_cast<std::size_t>(rank);
        const std::size_t first = count_ * own / ranks_here;
        const Range mine{first, count_ * (own + 1) / ranks_here, point(points, first)};
        begin(points, mine);
        std::minstd_rand random(7);
        for (std::size_t i = 0; i < candidates; ++i) {
            consider(points, mine, shares_.at(own), random() % count_);
        }
        double costs = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            costs += cost_[i] + (is_open_[i] != 0 ? opening_cost : 0);
        }
        meet_.arrive_and_wait();
        return costs;
    }

private:
    struct Range {
        std::size_t first;
        std::size_t last;
        const float* points; ///< One behind the other.
        [[nodiscard]] const float* at(std::size_t number) const noexcept {
            return points + (number - first) * dimensions;
        }
    };
    static constexpr double opening_cost = 50;

    static double distance(const float* a, const float* b) {
        float sum = 0;
        for (std::size_t d = 0; d < dimensions; ++d) {
            sum += (a[d] - b[d]) * (a[d] - b[d]);
        }
        return static_cast<double>(sum);
    }
    static const float* point(const Points& points, std::size_t number) {
        return points.row(number * dimensions).data();
    }
    /// All points belong to the first one.
    void begin(const Points& points, const Range& mine) {
        const float* const first = point(points, 0);
        for (std::size_t i = mine.first; i < mine.last; ++i) {
            cost_[i] = distance(mine.at(i), first);
            centre_[i] = 0;
            is_open_[i] = i == 0 ? 1 : 0;
        }
        meet_.arrive_and_wait();
    }
    void consider(const Points& points, const Range& mine, Share& own, std::size_t candidate) {
        const float* const there = point(points, candidate);
        own.gain = 0;
        std::ranges::fill(own.lower, 0.0);
        for (std::size_t i = mine.first; i < mine.last; ++i) {
            const double cost = distance(mine.at(i), there);
            (cost < cost_[i] ? own.gain : own.lower[centre_[i]]) += cost_[i] - cost;
        }
        meet_.arrive_and_wait();
        // A centre closes if its points lose less than it costs.
        for (std::size_t i = mine.first; i < mine.last; ++i) {
            sum_[i] = opening_cost;
            for (const Share& share : shares_) {
                sum_[i] += share.lower[i];
            }
        }
        for (std::size_t i = mine.first; i < mine.last; ++i) {
            own.gain += is_open_[i] != 0 && sum_[i] > 0 ? sum_[i] : 0;
        }
        meet_.arrive_and_wait();
        double gain = -opening_cost;
        for (const Share& share : shares_) {
            gain += share.gain;
        }
        if (gain > 0 && is_open_[candidate] == 0) {
            for (std::size_t i = mine.first; i < mine.last; ++i) {
                const double cost = distance(mine.at(i), there);
                if (cost < cost_[i] || sum_[centre_[i]] > 0) {
                    cost_[i] = cost;
                    centre_[i] = candidate;
                }
            }
            meet_.arrive_and_wait();
            for (std::size_t i = mine.first; i < mine.last; ++i) {
                is_open_[i] = i == candidate || (is_open_[i] != 0 && sum_[i] <= 0) ? 1 : 0;
            }
        }
        meet_.arrive_and_wait();
    }

    std::size_t count_;
    Barrier meet_{ranks_here};
    std::vector<double> cost_;
    std::vector<std::size_t> centre_;
    std::vector<char> is_open_;
    std::vector<double> sum_ = std::vector<double>(count_);
    std::array<Share, ranks_here> shares_;
};

/// Random points around some centres, which each rank makes of its own.
void make_points(Points& points) {
    std::minstd_rand random(static_cast<unsigned>(here()) + 1);
    std::normal_distribution<float> near(0, 0.5F);
    const std::span<float> own = points.local();
    for (std::size_t i = 0; i < own.size(); i += dimensions) {
        std::minstd_rand of_blob(static_cast<unsigned>(random() % blobs) + 1);
        for (std::size_t d = 0; d < dimensions; ++d) {
            own[i + d] = static_cast<float>(of_blob() % 10) + near(random);
        }
    }
}

/// The contestants, and the times of their rounds for one candidate.
struct Times {
    static constexpr std::array<const char*, 4> names{"owned", "owned_std", "copies", "copies_std"};
    std::array<std::vector<double>, 4> ns;
    double costs = -1; ///< Equal in all rounds.
    void add(std::size_t which, double took, double came) {
        costs = costs < 0 ? came : costs;
        if (came != costs) {
            throw std::runtime_error("streamcluster: two contestants give different costs");
        }
        ns.at(which).push_back(took / static_cast<double>(candidates));
    }
    /// One over the other, round by round.
    [[nodiscard]] Quartiles ratio(std::size_t over, std::size_t under) const {
        std::vector<double> all;
        for (std::size_t i = 0; i < ns[over].size(); ++i) {
            all.push_back(ns[over][i] / ns[under][i]);
        }
        return quartiles(all);
    }
};

Task<> cluster(std::size_t count, const std::array<Clustering<barrier<>>*, 2>& ours,
               const std::array<Clustering<std::barrier<>>*, 2>& others, Times& times) {
    std::array<std::optional<Points>, 2> points;
    for (std::size_t i = 0; i < 2; ++i) {
        SharedArrayOptions<float> options;
        options.placement = i == 0 ? Placement::owned : Placement::replicated;
        options.replica_group = here();
        points.at(i) =
            co_await Points::make("points " + std::to_string(i), count * dimensions, options);
        make_points(*points.at(i));
        co_await points.at(i)->freeze();
    }
    RankBarrier meeting("meeting");
    for (int round = 0; round < rounds; ++round) {
        for (const std::size_t which : orders.at(static_cast<std::size_t>(round) % 4)) {
            const Points& on = *points.at(which / 2);
            co_await meeting.arrive();
            const auto begin = Clock::now();
            const double costs = which % 2 == 0 ? ours.at(which / 2)->run(on, here())
                                                : others.at(which / 2)->run(on, here());
            if (here() == 0) {
                times.add(which, ns_since(begin), costs);
            }
        }
    }
    co_await meeting.arrive();
}

} // namespace

std::vector<Row> streamcluster() {
    std::vector<Row> rows;
    for (const std::size_t count : {512U, 4096U}) {
        Times times;
        std::array<Clustering<barrier<>>, 2> ours{Clustering<barrier<>>(count),
                                                  Clustering<barrier<>>(count)};
        std::array<Clustering<std::barrier<>>, 2> others{Clustering<std::barrier<>>(count),
                                                         Clustering<std::barrier<>>(count)};
        RemoteGroup group(ranks_here);
        const std::vector<int> cpus = placement(ranks_here);
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < ranks_here; ++rank) {
            threads.emplace_back([&, rank] {
                bind_this_thread(cpus[static_cast<std::size_t>(rank)]);
                RemoteRank own = group.join(rank);
                own.run(cluster(count, {&ours[0], &ours[1]}, {&others[0], &others[1]}, times));
            });
        }
        threads.clear();
        for (std::size_t i = 0; i < 4; ++i) {
            rows.push_back({Times::names.at(i), count, quartiles(times.ns.at(i))});
        }
        rows.push_back({"std/ours", count, times.ratio(1, 0)});
        rows.push_back({"cop/owned", count, times.ratio(2, 0)});
    }
    return rows;
}

} // namespace corymb::bench
