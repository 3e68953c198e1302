// SPDX-License-Identifier: Apache-2.0
// The whole measurement: what is done in which share of the budget, and what is said about it.
#include "machine/discover/bandwidth.hpp"
#include "machine/discover/curves.hpp"
#include "machine/discover/group_probe.hpp"
#include "machine/discover/handover_probe.hpp"
#include "machine/discover/kernel_nodes.hpp"
#include "machine/discover/levels.hpp"
#include "machine/discover/line_probe.hpp"
#include "machine/discover/noise.hpp"
#include "machine/discover/pair_table.hpp"
#include "machine/discover/sentinels.hpp"
#include "machine/discover/shared_probe.hpp"
#include "machine/discover/shared_resources.hpp"
#include "machine/discover/stream_probe.hpp"
#include "machine/discover/survey.hpp"
#include "machine/discover/this_machine.hpp"
#include "machine/discover/topology_reader.hpp"
#include "machine/discover/transfers.hpp"

#include "base/cpu_list.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace discover;

// Shares of the budget by which each part has to be over; parts that need less leave it unused.
constexpr double first_look_until = 0.05; // At sentinel pairs.
constexpr double pairs_until = 0.65;
constexpr double curves_until = 0.85;
constexpr double bandwidth_until = 0.95;
constexpr double visit_share = 0.05; // Of each visit of messages, after these parts.

class Measurement {
public:
    explicit Measurement(const MeasureOptions& options)
        : options_(options), here_(describe_this_machine(options.cpus)),
          crew_([this] { return !options_.progress || options_.progress(done_, what_); }),
          scale_(calibrate_ticks()), times_before_(read_cpu_times("/proc/stat")),
          probe_(crew_, places(), scale_) {
        machine_.source = "measured";
        machine_.quality.budget_s = options.budget_s;
    }

    Machine run() {
        if (machine_.size() < 2) {
            no_pairs();
        } else {
            check_pinning();
            pairs();
        }
        bandwidth();
        shared_resources();
        if (!visited_.empty()) {
            visit_messages(bandwidth_until);
        }
        for (const Visited& of : visited_) {
            machine_.*of.curves = of.transfers.curves();
        }
        conclude();
        machine_.check();
        return std::move(machine_);
    }

private:
    /// What is measured in visits.
    struct Visited {
        std::vector<Curve> Machine::* curves;
        double (*slow_s)(std::int64_t bytes);
        Transfers transfers;
    };

    [[nodiscard]] std::vector<LineProbe::Place> places() const {
        std::vector<LineProbe::Place> result;
        for (const Pu& pu : machine_.topology.pus) {
            result.push_back({pu.cpu, pu.numa});
        }
        return result;
    }

    void remark(std::string text) { machine_.quality.remarks.push_back(std::move(text)); }

    /// Notes what is going on, and leaves if the caller wants to.
    void enter(double done, std::string what) {
        done_ = done;
        what_ = std::move(what);
        throw_if_refused();
    }
    void throw_if_refused() const {
        if (crew_.refused()) {
            throw Error(Errc::interrupted, "the measurement was stopped; nothing was saved");
        }
    }
    [[nodiscard]] double share_spent() const { return probe_.elapsed_s() / options_.budget_s; }
    [[nodiscard]] double end_s(double share) const { return share * options_.budget_s; }

    void no_pairs() {
        machine_.group = {0};
        machine_.group_class = {-1};
        remark(
            "Only one CPU may be used, so there is no pair to measure and no cost in this model.");
    }

    [[nodiscard]] std::vector<int> cpus(std::size_t most) const {
        std::vector<int> found;
        for (const Pu& pu : machine_.topology.pus) {
            found.push_back(pu.cpu);
        }
        found.resize(std::min(found.size(), most));
        return found;
    }

    void check_pinning() {
        enter(0, "pinning");
        constexpr std::size_t tested_max = 64; // Whether it works does not depend on the CPU.
        const std::vector<int> strayed = pin_test(crew_, cpus(tested_max));
        machine_.quality.pinned = crew_.pinned() && strayed.empty();
        if (!machine_.quality.pinned) {
            remark("Threads could not be bound to CPUs (sched_setaffinity is refused), so pairs "
                   "cannot be told apart: the costs are those of any two CPUs.");
        }
    }

    void pairs() {
        Sentinels sentinels(probe_, 7);
        if (machine_.quality.pinned) {
            enter(0, "sentinel pairs");
            sentinels.changed(end_s(first_look_until));
        }
        enter(0, "pairs of CPUs");
        SurveyReport report;
        if (machine_.quality.pinned) {
            report = survey(machine_, probe_, survey_options());
        } else {
            any_pair(report);
        }
        throw_if_refused();
        batches_ = report.batches;
        dropped_ = report.dropped;
        if (machine_.classes.empty()) {
            fall_back_to_topology();
            return;
        }
        prepare_visits();
        visit_messages(pairs_until);
        curves();
        visit_messages(curves_until);
        if (machine_.quality.pinned) {
            enter(curves_until, "sentinel pairs");
            judge_sentinels(sentinels.changed(end_s(bandwidth_until)), sentinels.count());
        }
    }

    [[nodiscard]] SurveyOptions survey_options() {
        SurveyOptions options;
        options.full_matrix = options_.full_matrix;
        options.end_s = end_s(pairs_until);
        options.distances = distances();
        options.progress = [this](double done, std::string_view what) {
            done_ = pairs_until * done;
            what_ = what;
        };
        return options;
    }

    [[nodiscard]] NodeDistances distances() const {
        return here_.handle ? read_kernel_nodes().distances(machine_.topology.pus)
                            : NodeDistances{};
    }

    /// Without binding, all pairs are alike.
    void any_pair(SurveyReport& report) {
        const auto n = static_cast<std::size_t>(machine_.size());
        const PairEstimate estimate =
            estimate_pair(probe_, 0, 1, Effort{.batches_max = 120}, report.batches, report.dropped);
        if (!estimate.present()) {
            return;
        }
        ClassSamples samples;
        samples.add(estimate, 0);
        samples.add(estimate, 1);
        PairClass any;
        samples.fill(any);
        any.name = "any";
        machine_.classes = {any};
        machine_.group.assign(n, 0);
        machine_.group_class = {0};
    }

    void fall_back_to_topology() {
        machine_.send.clear();
        machine_.receive.clear();
        classes_from_topology(machine_, distances());
        machine_.source = "topology only, not measured";
        machine_.assumption = "typical costs of each topology level, good for comparison only";
        remark("No pair of CPUs ran undisturbed even once, so the costs are typical ones of the "
               "topology. Measure again when the machine is quiet.");
    }

    void curves() {
        enter(pairs_until, "bursts and shared lines");
        GroupProbe group(crew_, scale_);
        measure_curves(machine_, group, [this](double done) {
            enter(pairs_until + (curves_until - pairs_until) * done, "bursts and shared lines");
            return share_spent() < curves_until;
        });
        throw_if_refused();
    }

    void prepare_visits() {
        const std::int64_t memory = available_memory();
        const auto add = [&](std::vector<Curve> Machine::* curves, std::span<const int> lengths,
                             double (*slow_s)(std::int64_t), Transfers::Probe probe) {
            visited_.push_back(
                {curves, slow_s, Transfers(machine_, lengths, memory, std::move(probe))});
        };
        add(&Machine::message, message_bytes, HandoverProbe::slow_s,
            [this](int from, int to, std::int64_t bytes) {
                return HandoverProbe(crew_, scale_).message(from, to, bytes);
            });
        add(&Machine::fresh, fresh_bytes, HandoverProbe::slow_s,
            [this](int from, int to, std::int64_t bytes) {
                const HandoverTimes times = HandoverProbe(crew_, scale_).turns(from, to, bytes);
                rewriting_[{from, to, bytes}] = times.rewriting;
                return times.copying;
            });
        // Measured with the curve before.
        add(
            &Machine::rewrite, fresh_bytes, [](std::int64_t) { return 0.0; },
            [this](int from, int to, std::int64_t bytes) {
                const auto known = rewriting_.find({from, to, bytes});
                return known == rewriting_.end() ? Statistic::missing : known->second;
            });
        add(&Machine::transfer, stream_bytes, StreamProbe::slow_s,
            [this](int from, int to, std::int64_t bytes) {
                return StreamProbe(crew_, scale_).time_of(from, to, bytes);
            });
    }

    /// Another visit, after the part that goes on until `share`.
    void visit_messages(double share) {
        enter(share, "messages of several lengths");
        for (Visited& one : visited_) {
            one.transfers.visit([&](std::int64_t bytes) {
                throw_if_refused();
                return probe_.elapsed_s() + one.slow_s(bytes) < end_s(share + visit_share);
            });
        }
        throw_if_refused();
    }

    void judge_sentinels(int changed, int count) {
        throw_if_refused();
        if (changed > 0 && changed * 10 >= count) {
            machine_.quality.unstable_topology = true;
            remark(fmt::format("{} of {} pairs cost something else at the end than at the start: "
                               "virtual CPUs move over the host, so differences between pairs do "
                               "not last.",
                               changed, count));
        }
    }

    void bandwidth() {
        enter(curves_until, "memory bandwidth");
        const int cpu = machine_.topology.pus.front().cpu;
        std::int64_t cache[4] = {};
        for (int level = 1; level <= 3 && here_.handle; ++level) {
            cache[level] = cache_bytes(here_.handle.get(), cpu, level);
        }
        const auto sets = working_sets(cache[1], cache[2], cache[3], available_memory());
        crew_.run(std::span(&cpu, 1), [&](int) {
            machine_.memory = measure_bandwidth(sets, [this](double expected_s) {
                return probe_.elapsed_s() + expected_s < end_s(bandwidth_until) &&
                       !crew_.stop().load(std::memory_order_relaxed);
            });
        });
        throw_if_refused();
        if (machine_.memory.empty()) {
            remark("No memory bandwidth: the time was up before it. The simulator takes "
                   "10 GB/s; measure again with a larger budget, or when less else runs.");
        }
    }

    void shared_resources() {
        if (!machine_.quality.pinned || machine_.size() < 2 || !here_.handle) {
            return;
        }
        enter(curves_until, "what CPUs share");
        SharedProbe probe(crew_);
        const SharedTimes times{[&](int home, std::span<const int> cpus, std::int64_t bytes) {
                                    return probe.copies(home, cpus, bytes);
                                },
                                [&](int owner, std::span<const int> cpus, std::int64_t bytes) {
                                    return probe.readers(owner, cpus, bytes);
                                },
                                [&](std::span<const int> cpus) {
                                    return probe.counter(cpus);
                                }};
        const int cpu = machine_.topology.pus.front().cpu;
        const std::int64_t cache = cache_bytes(here_.handle.get(), cpu, 3);
        machine_.shared = measured_shared_resources(
            machine_, times, shared_sets(cache, available_memory()), [this](double expected_s) {
                throw_if_refused();
                return probe_.elapsed_s() + expected_s < end_s(bandwidth_until);
            });
        throw_if_refused();
    }

    /// The kernel moves threads away from a CPU that goes offline.
    void check_pinning_again() {
        if (!machine_.quality.pinned || machine_.size() < 2) {
            return;
        }
        const std::vector<int> strayed = pin_test(crew_, cpus(machine_.topology.pus.size()));
        if (!strayed.empty() || !crew_.pinned()) {
            machine_.quality.pinned = false;
            remark(fmt::format("CPUs {} went offline or left the CPU set while they were measured, "
                               "so their costs mean nothing. Measure again.",
                               format_cpu_list(strayed)));
        }
    }

    void conclude() {
        enter(1, "done");
        check_pinning_again();
        Quality& quality = machine_.quality;
        quality.duration_s = probe_.elapsed_s();
        if (batches_ > 0) {
            quality.dropped_batches = static_cast<double>(dropped_) / static_cast<double>(batches_);
        }
        quality.noisy = quality.dropped_batches > 0.05;
        if (quality.noisy) {
            remark(fmt::format("{:.0f} % of the batches were interrupted and dropped: other work "
                               "was running. Measure again when the machine is quiet.",
                               100 * quality.dropped_batches));
        }
        const auto times_after = read_cpu_times("/proc/stat");
        if (times_before_ && times_after) {
            quality.steal = stolen_share(*times_before_, *times_after);
        }
        if (quality.steal > 0.02) {
            remark(fmt::format("The hypervisor gave {:.0f} % of the CPU time to other machines.",
                               100 * quality.steal));
        }
        judge_clock();
        judge_quota();
        judge_consistency();
        throw_if_refused();
    }

    void judge_clock() {
        const double ppm = drift_.ppm(scale_);
        if (!ticks_are_invariant() || std::abs(ppm) > 1000) {
            remark(fmt::format("The cycle counter left the system clock by {:.0f} parts per "
                               "million; times may be off by that.",
                               ppm));
        }
        if (scale_.overhead_ns > 200) {
            remark(fmt::format("Reading the cycle counter takes {:.0f} ns here (the hypervisor "
                               "intercepts it), which hides small costs.",
                               scale_.overhead_ns));
        }
    }

    void judge_quota() {
        const UsableCpus usable = usable_cpus();
        if (usable.quota && *usable.quota < machine_.size()) {
            remark(fmt::format("The CPU quota allows {:.1f} CPUs' worth of time, fewer than the {} "
                               "CPUs measured: threads on all of them would be stopped at times.",
                               *usable.quota, machine_.size()));
        }
    }

    /// Round trips were timed apart from their parts: a class where both disagree deserves doubt.
    void judge_consistency() {
        for (const PairClass& c : machine_.classes) {
            const double parts = 2 * (c.send.median + c.receive.median);
            const double ratio = c.round_trip.median / parts;
            if (c.pairs_sampled > 0 && (ratio < 0.7 || ratio > 1.5)) {
                remark(fmt::format("Class {}: a round trip takes {:.2f} times the sum of its sends "
                                   "and receives; predictions are that much off.",
                                   c.name, ratio));
            }
        }
    }

    const MeasureOptions& options_;
    ThisMachine here_;
    Machine& machine_ = here_.machine;
    double done_ = 0;
    std::string what_ = "start";
    Crew crew_;
    TickScale scale_;
    DriftCheck drift_;
    std::optional<CpuTimes> times_before_;
    LineProbe probe_;
    std::vector<Visited> visited_;                                   // When pairs were measured.
    std::map<std::tuple<int, int, std::int64_t>, double> rewriting_; // By CPUs and bytes, the last.
    std::int64_t batches_ = 0;
    std::int64_t dropped_ = 0;
};

} // namespace

Machine measure(const MeasureOptions& options) {
    if (!(options.budget_s > 0) || !std::isfinite(options.budget_s)) {
        throw Error(Errc::invalid_argument, "the time budget must be a positive number of seconds");
    }
    Measurement measurement(options);
    return measurement.run();
}

} // namespace corymb
