// SPDX-License-Identifier: Apache-2.0
// Large machines: few pairs stand for many. Coarse groups come from the topology or clustering;
// their leaders are all measured against each other; jumps in these costs make classes; then random
// pairs of each class are measured until its median is known well enough.
#include "machine/discover/gaps.hpp"
#include "machine/discover/partition.hpp"
#include "machine/discover/statistics.hpp"
#include "machine/discover/survey.hpp"
#include "machine/discover/topology_classes.hpp"
#include "machine/model/class_names.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

/// Where pairs of one kind are: two coarse groups, or one and how much of the path is shared.
struct Cell {
    int group_a = 0;
    int group_b = 0;
    int depth = -1; ///< -1 between two groups.

    auto operator<=>(const Cell&) const = default;
};

/// Cells that cost the same, and the samples from them. Index 0: from the group with the lower
/// number to the other; a class may cost more in one direction (sockets, big and little cores).
struct CellClass {
    std::vector<Cell> cells;
    std::array<ClassSamples, 2> samples;
};

class ClassSurvey {
public:
    ClassSurvey(Machine& machine, PairProbe& probe, const SurveyOptions& options)
        : machine_(machine), probe_(probe), options_(options), random_(options.seed),
          table_(probe, Effort{.batches_max = 18}), begin_s_(probe.elapsed_s()),
          topology_classes_(machine.topology, options.distances) {}

    SurveyReport run() {
        measure_each_class(topology_classes_, table_, random_, options_.end_s);
        partition_ = find_partition(machine_, table_, [this] { return keep_going("groups"); });
        measure_cells();
        make_classes();
        for (CellClass& cell_class : classes_) {
            sample(cell_class);
        }
        fill_machine();
        SurveyReport report;
        report.pairs_measured = table_.pair_count();
        report.pairs_total = at(machine_.size()) * at(machine_.size() - 1) / 2;
        report.batches = table_.batches();
        report.dropped = table_.dropped();
        report.complete = complete_;
        return report;
    }

private:
    bool keep_going(const char* what) {
        const double now_s = probe_.elapsed_s();
        if (options_.progress) {
            const double share = (now_s - begin_s_) / std::max(1e-9, options_.end_s - begin_s_);
            options_.progress(std::min(share, 1.0), what);
        }
        complete_ = complete_ && now_s < options_.end_s;
        return now_s < options_.end_s && !probe_.interrupted();
    }

    [[nodiscard]] Cell cell_of(int a, int b) const {
        const auto [low, high] =
            std::minmax(partition_.coarse_of[at(a)], partition_.coarse_of[at(b)]);
        return {low, high, low == high ? partition_.shared_depth(a, b) : -1};
    }

    /// At least one pair of every cell: all pairs of leaders, and each leader with its own group.
    /// In random order, so that the end of the budget leaves no part of the machine out.
    void measure_cells() {
        std::vector<std::pair<int, int>> pairs;
        for (std::size_t g = 0; g < partition_.coarse.size(); ++g) {
            const std::vector<int>& group = partition_.coarse[g];
            std::map<int, int> by_depth;
            for (std::size_t i = 1; i < group.size(); ++i) {
                by_depth.emplace(partition_.shared_depth(group.front(), group[i]), group[i]);
            }
            for (const auto& [depth, other] : by_depth) {
                pairs.emplace_back(group.front(), other);
            }
            for (std::size_t h = g + 1; h < partition_.coarse.size(); ++h) {
                pairs.emplace_back(group.front(), partition_.coarse[h].front());
            }
        }
        for (std::size_t left = pairs.size(); left > 1; --left) {
            std::swap(pairs[left - 1], pairs[random_.below(static_cast<std::uint32_t>(left))]);
        }
        for (const auto& [a, b] : pairs) {
            if (!keep_going("pairs of groups")) {
                break;
            }
            table_(a, b);
        }
        for (const auto& [pair, estimate] : table_.pairs()) {
            if (estimate.present()) {
                costs_[cell_of(pair.first, pair.second)].push_back(estimate.cost());
            }
        }
    }

    /// Inside groups and between groups apart, since these are told apart by the machine itself.
    void make_classes() {
        const double noise = table_.noise();
        const double spread = std::max(1.3, 1 + 6 * noise);
        for (const bool inside : {true, false}) {
            std::map<Cell, double> medians;
            std::vector<double> values;
            for (const auto& [cell, costs] : costs_) {
                if ((cell.depth >= 0) == inside) {
                    values.push_back(medians[cell] = median(costs));
                }
            }
            const auto thresholds = class_thresholds(values, significant_ratio(noise), spread);
            std::map<int, std::size_t> class_of_cluster;
            for (const auto& [cell, cost] : medians) {
                const int cluster = cluster_of(cost, thresholds);
                const auto [found, is_new] = class_of_cluster.try_emplace(cluster, classes_.size());
                if (is_new) {
                    classes_.emplace_back();
                }
                classes_[found->second].cells.push_back(cell);
                class_of_cell_[cell] = found->second;
            }
        }
    }

    /// A random pair of a random cell of the class; {-1, -1} if the cell has hardly any.
    std::pair<int, int> draw(const CellClass& cell_class) {
        const auto pick = [this](const auto& from) {
            return from[random_.below(static_cast<std::uint32_t>(from.size()))];
        };
        const Cell cell = pick(cell_class.cells);
        for (int attempt = 0; attempt < 64; ++attempt) {
            const int a = pick(partition_.coarse[at(cell.group_a)]);
            const int b = pick(partition_.coarse[at(cell.group_b)]);
            if (a != b && cell_of(a, b) == cell) {
                return {a, b};
            }
        }
        return {-1, -1};
    }

    void add_sample(CellClass& cell_class, int a, int b) {
        const PairEstimate& estimate = table_(a, b);
        const auto [low, high] = std::minmax(a, b);
        // The estimate's first direction is from the lower PU, the class's from the lower group.
        const bool same_sense = partition_.coarse_of[at(low)] <= partition_.coarse_of[at(high)];
        cell_class.samples[same_sense ? 0 : 1].add(estimate, 0);
        cell_class.samples[same_sense ? 1 : 0].add(estimate, 1);
    }

    /// What is there already, then random pairs: at least seven, more where they differ.
    void sample(CellClass& cell_class) {
        constexpr int draws_min = 7;
        constexpr int draws_max = 63;
        constexpr double half_width = 0.05;
        std::vector<std::pair<int, int>> known;
        for (const auto& [pair, estimate] : table_.pairs()) {
            const auto found = class_of_cell_.find(cell_of(pair.first, pair.second));
            if (found != class_of_cell_.end() && &classes_[found->second] == &cell_class) {
                known.push_back(pair);
            }
        }
        // Leaders are a biased sample: as many random pairs as leaders' pairs would be too many, so
        // the known ones count only until there are enough random ones.
        for (int drawn = 0; drawn < draws_max && keep_going("classes of pairs"); ++drawn) {
            if (drawn >= draws_min && cell_class.samples[0].half_width() < half_width &&
                cell_class.samples[1].half_width() < half_width) {
                break;
            }
            const auto [a, b] = draw(cell_class);
            if (a >= 0) {
                add_sample(cell_class, a, b);
            }
        }
        if (cell_class.samples[0].pair_count() < draws_min) {
            for (const auto& [a, b] : known) {
                add_sample(cell_class, a, b);
            }
        }
    }

    /// Adds the class to the model, as two when its directions differ by more than noise.
    /// Returns the indexes for both directions.
    std::array<int, 2> publish(const CellClass& cell_class) {
        std::array<PairClass, 2> made;
        for (std::size_t from = 0; from < 2; ++from) {
            cell_class.samples[from].fill(made[from]);
        }
        const int index = static_cast<int>(machine_.classes.size());
        if (!made[0].send.present() || !made[1].send.present()) {
            machine_.classes.push_back(made[made[0].send.present() ? 0 : 1]);
            return {index, index};
        }
        const auto cost = [](const PairClass& c) {
            return c.send.median + c.receive.median;
        };
        const bool between = cell_class.cells.front().depth < 0;
        const double difference = std::abs(std::log(cost(made[0]) / cost(made[1])));
        machine_.classes.push_back(made[0]);
        if (!between || difference < std::max(0.1, 4 * table_.noise())) {
            PairClass& both = machine_.classes.back();
            ClassSamples pooled = cell_class.samples[0];
            pooled.add_all(cell_class.samples[1]);
            pooled.fill(both);
            return {index, index};
        }
        machine_.classes.push_back(made[1]);
        return {index, index + 1};
    }

    /// For cells that were never reached: where most measured pairs of a class of the topology are.
    std::map<int, std::size_t> classes_by_topology() {
        std::map<int, std::map<std::size_t, int>> votes;
        for (const auto& [pair, estimate] : table_.pairs()) {
            const auto found = class_of_cell_.find(cell_of(pair.first, pair.second));
            if (estimate.present() && found != class_of_cell_.end()) {
                ++votes[topology_classes_.class_of(pair.first, pair.second)][found->second];
            }
        }
        std::map<int, std::size_t> most;
        for (const auto& [expected, count_of] : votes) {
            most[expected] =
                std::max_element(count_of.begin(), count_of.end(), [](auto& left, auto& right) {
                    return left.second < right.second;
                })->first;
        }
        return most;
    }

    /// A class of the topology of which no pair was measured.
    int unmeasured_class(int expected, std::map<int, int>& unmeasured) {
        const auto next = static_cast<int>(machine_.classes.size());
        const auto [found, is_new] = unmeasured.try_emplace(expected, next);
        if (is_new) {
            std::vector<ClassSamples> samples(at(topology_classes_.count()));
            for (const auto& [pair, estimate] : table_.pairs()) {
                samples[at(topology_classes_.class_of(pair.first, pair.second))].add(estimate, 0);
                samples[at(topology_classes_.class_of(pair.second, pair.first))].add(estimate, 1);
            }
            machine_.classes.push_back(topology_classes_.costs(samples)[at(expected)]);
        }
        return found->second;
    }

    void fill_machine() {
        machine_.classes.clear();
        machine_.send.clear();
        machine_.receive.clear();
        std::vector<std::array<int, 2>> index(classes_.size());
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            index[i] = publish(classes_[i]);
        }
        if (classes_.empty()) {
            return;
        }
        const auto by_topology = classes_by_topology();
        std::map<int, int> unmeasured; // By class of the topology: the class made for it.
        // PUs with the same coarse group and path are one group of the model.
        std::map<std::pair<int, std::vector<int>>, int> numbers;
        std::vector<std::vector<int>> members;
        machine_.group.clear();
        for (int pu = 0; pu < machine_.size(); ++pu) {
            const auto key = std::pair(partition_.coarse_of[at(pu)], partition_.path[at(pu)]);
            const int number =
                numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second;
            machine_.group.push_back(number);
            members.resize(numbers.size());
            members[at(number)].push_back(pu);
        }
        machine_.group_class.assign(members.size() * members.size(), -1);
        for (std::size_t a = 0; a < members.size(); ++a) {
            for (std::size_t b = 0; b < members.size(); ++b) {
                if (a == b && members[a].size() < 2) {
                    continue; // No pair is in there.
                }
                const int from = members[a].front();
                const int to = a == b ? members[a][1] : members[b].front();
                const int expected = topology_classes_.class_of(from, to);
                int& of_pair = machine_.group_class[a * members.size() + b];
                const auto found = class_of_cell_.find(cell_of(from, to));
                const auto alike = by_topology.find(expected);
                if (found == class_of_cell_.end() && alike == by_topology.end()) {
                    of_pair = unmeasured_class(expected, unmeasured);
                    continue;
                }
                const std::size_t which =
                    found != class_of_cell_.end() ? found->second : alike->second;
                const bool up = partition_.coarse_of[at(from)] <= partition_.coarse_of[at(to)];
                of_pair = index[which][up ? 0 : 1];
            }
        }
    }

    Machine& machine_;
    PairProbe& probe_;
    const SurveyOptions& options_;
    Random random_;
    PairTable table_;
    double begin_s_;
    TopologyClasses topology_classes_;
    bool complete_ = true;
    Partition partition_;
    std::map<Cell, std::vector<double>> costs_;
    std::vector<CellClass> classes_;
    std::map<Cell, std::size_t> class_of_cell_;
};

} // namespace

SurveyReport survey_by_classes(Machine& machine, PairProbe& probe, const SurveyOptions& options) {
    ClassSurvey class_survey(machine, probe, options);
    const SurveyReport report = class_survey.run();
    if (machine.classes.empty()) {
        return report;
    }
    model::name_classes(machine);
    record_disagreements(machine);
    machine.quality.remarks.push_back(
        fmt::format("{} of {} pairs were measured; each class has the median of a sample. Ask for "
                    "the full matrix to measure them all.",
                    report.pairs_measured, report.pairs_total));
    if (!report.complete) {
        machine.quality.remarks.emplace_back(
            "The budget ended before every class was sampled; a larger budget helps.");
    }
    return report;
}

} // namespace corymb::discover
