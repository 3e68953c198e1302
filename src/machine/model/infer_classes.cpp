// SPDX-License-Identifier: Apache-2.0
// From a dense matrix to groups of PUs and classes of pairs:
//   1. average-linkage clustering of the PUs; the lowest gap in the heights of its merges gives the
//      groups, e.g. cores with their threads;
//   2. the median cost of each block (group, group), which is far less noisy than an entry;
//   3. the gaps between those medians give the classes, which need not be nested: hops between
//      packages, or one package that is slower than the others, come out as they are.
#include "machine/model/class_names.hpp"
#include "machine/model/linkage.hpp"
#include "machine/model/value_cuts.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace corymb {

namespace {

using model::WeightedValue;

constexpr double nan = Statistic::missing;

/// The q-quantile, by rank; reorders `values`. NaN when there are none.
double quantile(std::vector<double>& values, double q) {
    if (values.empty()) {
        return nan;
    }
    const auto at = values.begin() +
                    static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

Statistic summary(std::vector<double>& values) {
    Statistic out;
    out.count = static_cast<std::int64_t>(values.size());
    out.median = quantile(values, 0.5);
    out.q25 = quantile(values, 0.25);
    out.q75 = quantile(values, 0.75);
    return out;
}

/// Send plus receive of every ordered pair; NaN where one is missing and on the diagonal.
std::vector<double> pair_costs(const Machine& machine) {
    const std::size_t size = machine.topology.pus.size();
    std::vector<double> out(size * size);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = i / size == i % size ? nan
                                      : static_cast<double>(machine.send[i]) +
                                            static_cast<double>(machine.receive[i]);
    }
    return out;
}

/// Symmetric mean; NaN also between cores of different kinds, which are never one group.
std::vector<double> distances(const Machine& machine, const std::vector<double>& cost) {
    const std::vector<Pu>& pus = machine.topology.pus;
    const std::size_t size = pus.size();
    std::vector<double> out(size * size, nan);
    for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = 0; b < size; ++b) {
            const double there = cost[a * size + b];
            const double back = cost[b * size + a];
            if (pus[a].kind == pus[b].kind) {
                out[a * size + b] = std::isnan(there)  ? back
                                    : std::isnan(back) ? there
                                                       : (there + back) / 2;
            }
        }
    }
    return out;
}

/// The finest groups that the data show, or one group of all.
std::vector<int> find_groups(const Machine& machine, const std::vector<double>& cost) {
    const std::size_t size = machine.topology.pus.size();
    const std::vector<model::Merge> merges = model::average_linkage(distances(machine, cost), size);
    std::vector<WeightedValue> heights;
    for (const model::Merge& merge : merges) {
        if (std::isfinite(merge.height)) {
            heights.push_back({merge.height, 1});
        }
    }
    for (const double cut : model::find_cuts(std::move(heights), 1)) {
        std::vector<int> groups = model::groups_below(merges, size, cut);
        std::vector<std::size_t> members(size);
        for (const int group : groups) {
            ++members[static_cast<std::size_t>(group)];
        }
        const auto alone = static_cast<std::size_t>(std::count(members.begin(), members.end(), 1));
        if (2 * alone <= size) { // Otherwise a few pairs happen to be near.
            return groups;
        }
    }
    // Cores of different kinds have no known distance here, and stay apart.
    return model::groups_below(merges, size, std::numeric_limits<double>::infinity());
}

/// groups x groups: median cost from each group to each; NaN where no entry is known.
std::vector<double> block_medians(const std::vector<int>& group, std::size_t groups,
                                  const std::vector<double>& cost) {
    const std::size_t size = group.size();
    std::vector<std::vector<double>> entries(groups * groups);
    for (std::size_t i = 0; i < cost.size(); ++i) {
        if (!std::isnan(cost[i])) {
            const auto from = static_cast<std::size_t>(group[i / size]);
            const auto to = static_cast<std::size_t>(group[i % size]);
            entries[from * groups + to].push_back(cost[i]);
        }
    }
    std::vector<double> out;
    out.reserve(entries.size());
    for (std::vector<double>& block : entries) {
        out.push_back(quantile(block, 0.5));
    }
    return out;
}

/// A block without any entry is taken to be like the way back, or else like what is usual for its
/// two groups, or for all.
void fill_missing_blocks(std::vector<double>& block, std::size_t groups) {
    const std::vector<double> measured = block;
    const auto median_of = [&](const auto& concerned) {
        std::vector<double> values;
        for (std::size_t i = 0; i < measured.size(); ++i) {
            const std::size_t from = i / groups;
            const std::size_t to = i % groups;
            if (!std::isnan(measured[i]) && concerned(from, to)) {
                values.push_back(measured[i]);
            }
        }
        return quantile(values, 0.5);
    };
    for (std::size_t i = 0; i < block.size(); ++i) {
        const std::size_t from = i / groups;
        const std::size_t to = i % groups;
        if (std::isnan(block[i])) {
            block[i] = measured[to * groups + from];
        }
        if (std::isnan(block[i])) {
            block[i] = median_of(
                [&](std::size_t a, std::size_t b) { return a != b && (a == from || b == to); });
        }
        if (std::isnan(block[i])) {
            block[i] = median_of([](std::size_t, std::size_t) { return true; });
        }
    }
}

/// Fills group_class from the gaps between the block medians; returns the number of classes.
int find_classes(Machine& machine, const std::vector<double>& cost) {
    const std::size_t size = machine.group.size();
    const auto groups =
        static_cast<std::size_t>(*std::max_element(machine.group.begin(), machine.group.end()) + 1);
    std::vector<std::size_t> members(groups);
    for (const int group : machine.group) {
        ++members[static_cast<std::size_t>(group)];
    }
    std::vector<double> block = block_medians(machine.group, groups, cost);
    std::vector<WeightedValue> values;
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (!std::isnan(block[i])) {
            const std::size_t from = members[i / groups];
            const std::size_t to = members[i % groups] - (i / groups == i % groups ? 1 : 0);
            values.push_back({block[i], static_cast<double>(from * to)});
        }
    }
    // Ordered pairs: a class of fewer than a quarter of the PUs is noise.
    const std::vector<double> cuts =
        model::find_cuts(std::move(values), static_cast<double>(size) / 2);
    fill_missing_blocks(block, groups);
    machine.group_class.assign(groups * groups, -1);
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (i / groups != i % groups || members[i / groups] > 1) {
            machine.group_class[i] = model::class_of_value(block[i], cuts);
        }
    }
    return static_cast<int>(cuts.size()) + 1;
}

void one_group(Machine& machine) {
    machine.group.assign(machine.topology.pus.size(), 0);
    machine.group_class = {0};
}

/// Statistics of the entries of each class.
void fill_classes(Machine& machine, int count) {
    const auto classes = static_cast<std::size_t>(count);
    const int size = machine.size();
    std::vector<std::vector<double>> send(classes);
    std::vector<std::vector<double>> receive(classes);
    for (int from = 0; from < size; ++from) {
        for (int to = 0; to < size; ++to) {
            const auto cell = static_cast<std::size_t>(from) * static_cast<std::size_t>(size) +
                              static_cast<std::size_t>(to);
            if (from == to || std::isnan(machine.send[cell]) || std::isnan(machine.receive[cell])) {
                continue;
            }
            const auto of = static_cast<std::size_t>(machine.class_of(from, to));
            send[of].push_back(static_cast<double>(machine.send[cell]));
            receive[of].push_back(static_cast<double>(machine.receive[cell]));
        }
    }
    machine.classes.assign(classes, {});
    for (std::size_t i = 0; i < classes; ++i) {
        PairClass& out = machine.classes[i];
        out.name = "unnamed";
        out.pairs_sampled = static_cast<std::int64_t>(send[i].size());
        out.send = summary(send[i]);
        out.receive = summary(receive[i]);
    }
}

} // namespace

void infer_classes(Machine& machine) {
    const std::size_t size = machine.topology.pus.size();
    if (machine.send.size() != size * size || machine.receive.size() != size * size || size == 0) {
        throw Error(Errc::invalid_model,
                    "send: a dense matrix of all PUs is needed to infer classes from");
    }
    machine.topology.disagreements.clear();
    if (size == 1) { // No pairs, no classes.
        machine.group = {0};
        machine.group_class = {-1};
        machine.classes.clear();
        return;
    }
    const std::vector<double> cost = pair_costs(machine);
    if (std::all_of(cost.begin(), cost.end(), [](double value) { return std::isnan(value); })) {
        throw Error(Errc::invalid_model, "send: no pair of PUs has both a send and a receive cost");
    }
    machine.group = find_groups(machine, cost);
    // One pair is one class, whichever way is slower.
    int classes = size == 2 ? 1 : find_classes(machine, cost);
    if (classes == 1 && size > 2) {
        // No groups, but perhaps distances that repeat, as in a ring: then each PU is a group.
        std::iota(machine.group.begin(), machine.group.end(), 0);
        classes = find_classes(machine, cost);
    }
    if (classes == 1) {
        one_group(machine);
    }
    fill_classes(machine, classes);
    const std::vector<model::MeasuredLevel> levels = model::measured_levels(machine);
    const std::string& source = machine.topology.source;
    const bool reported = !source.empty() && source != "none" && source != "measured";
    if (!reported) {
        model::fill_topology(machine, levels);
    }
    model::name_classes(machine);
    if (reported) {
        model::note_disagreements(machine, levels);
    }
}

} // namespace corymb
