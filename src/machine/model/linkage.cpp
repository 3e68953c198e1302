// SPDX-License-Identifier: Apache-2.0
#include "machine/model/linkage.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace corymb::model {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// Sum and number of the known distances between each two living clusters.
class Clusters {
public:
    Clusters(const std::vector<double>& distance, std::size_t size)
        : size_(size), sum_(distance), count_(distance.size()), alive_(size, true) {
        for (std::size_t i = 0; i < distance.size(); ++i) {
            count_[i] = std::isnan(distance[i]) ? 0 : 1;
            sum_[i] = std::isnan(distance[i]) ? 0 : distance[i];
        }
    }

    double distance(std::size_t a, std::size_t b) const {
        const double count = count_[a * size_ + b];
        return count > 0 ? sum_[a * size_ + b] / count : unknown;
    }

    /// The living cluster nearest to `a`. `preferred` wins ties, so that a chain ends.
    std::size_t nearest(std::size_t a, std::size_t preferred) const {
        std::size_t best = preferred;
        double least = preferred == size_ ? unknown : distance(a, preferred);
        for (std::size_t b = 0; b < size_; ++b) {
            if (b != a && alive_[b] && (best == size_ || distance(a, b) < least)) {
                best = b;
                least = distance(a, b);
            }
        }
        return best;
    }

    /// `b` becomes part of `a`.
    void join(std::size_t a, std::size_t b) {
        alive_[b] = false;
        for (std::size_t c = 0; c < size_; ++c) {
            sum_[a * size_ + c] += sum_[b * size_ + c];
            count_[a * size_ + c] += count_[b * size_ + c];
            sum_[c * size_ + a] = sum_[a * size_ + c];
            count_[c * size_ + a] = count_[a * size_ + c];
        }
    }

    std::size_t first_alive() const {
        std::size_t i = 0;
        while (!alive_[i]) {
            ++i;
        }
        return i;
    }

private:
    std::size_t size_;
    std::vector<double> sum_, count_;
    std::vector<bool> alive_;
};

std::size_t representative(std::vector<std::size_t>& parent, std::size_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

} // namespace

std::vector<Merge> average_linkage(const std::vector<double>& distance, std::size_t size) {
    Clusters clusters(distance, size);
    std::vector<Merge> merges;
    std::vector<std::size_t> chain;
    while (merges.size() + 1 < size) {
        if (chain.empty()) {
            chain.push_back(clusters.first_alive());
        }
        const std::size_t top = chain.back();
        const std::size_t below = chain.size() > 1 ? chain[chain.size() - 2] : size;
        const std::size_t next = clusters.nearest(top, below);
        if (next != below) {
            chain.push_back(next);
            continue;
        }
        merges.push_back({below, top, clusters.distance(below, top)});
        chain.resize(chain.size() - 2);
        clusters.join(below, top);
    }
    return merges;
}

std::vector<int> groups_below(const std::vector<Merge>& merges, std::size_t size, double height) {
    std::vector<std::size_t> parent(size);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    for (const Merge& merge : merges) {
        if (merge.height < height) {
            parent[representative(parent, merge.b)] = representative(parent, merge.a);
        }
    }
    std::vector<int> number(size, -1);
    std::vector<int> out(size);
    int groups = 0;
    for (std::size_t i = 0; i < size; ++i) {
        int& of_cluster = number[representative(parent, i)];
        if (of_cluster < 0) {
            of_cluster = groups++;
        }
        out[i] = of_cluster;
    }
    return out;
}

} // namespace corymb::model
