// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/shared_resources.hpp"

#include "machine/discover/shared_probe.hpp"
#include "machine/model/nearness.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace corymb::discover {
namespace {

/// Bytes of a buffer that many read: two first-level caches, so that it lies in a second-level one.
constexpr std::int64_t buffer_bytes = 64 << 10;
constexpr double slow_bytes_per_s = 2e9; // To touch memory.

std::size_t place_of(int number) {
    return static_cast<std::size_t>(number);
}

/// 1, 2, 4 and so on, and `most`.
std::vector<int> numbers_up_to(int most) {
    std::vector<int> numbers;
    for (int number = 1; number < most; number *= 2) {
        numbers.push_back(number);
    }
    if (most > 0) {
        numbers.push_back(most);
    }
    return numbers;
}

class Survey {
public:
    Survey(const Machine& machine, const SharedTimes& times, const SharedSets& sets,
           const std::function<bool(double)>& keep_going)
        : machine_(machine), times_(times), sets_(sets), keep_going_(keep_going) {
        for (const int pu : pus_of_each_core_first(machine)) {
            const Pu& place = machine.topology.pus[place_of(pu)];
            if (place.core < 0 || ++cores_[place.core] == 1) {
                pus_.push_back(pu);
            }
        }
    }

    std::vector<SharedResource> run() {
        if (pus_.size() > 1) {
            copies_within(Scope::l3, &Pu::l3, sets_.cache_bytes, 0);
            copies_within(Scope::numa, &Pu::numa, sets_.memory_bytes, sets_.from_bytes);
            copies_between_packages();
            readers_of_one();
            word();
        }
        return std::move(found_);
    }

private:
    [[nodiscard]] int cpu(int pu) const { return machine_.topology.pus[place_of(pu)].cpu; }

    /// CPUs of the cores by the number of their part, as they come.
    [[nodiscard]] std::map<int, std::vector<int>> by_part(int Pu::* part) const {
        std::map<int, std::vector<int>> parts;
        for (const int pu : pus_) {
            if (const int number = machine_.topology.pus[place_of(pu)].*part; number >= 0) {
                parts[number].push_back(cpu(pu));
            }
        }
        return parts;
    }

    /// A curve of rates or times over the first of these CPUs.
    template <class Measure>
    void add(SharedUse use, Scope scope, std::int64_t from_bytes, std::span<const int> cpus,
             double touched_bytes, const Measure& measure) {
        SharedResource made{use, scope, DataOrigin::measured, from_bytes, {}, {}};
        for (const int number : numbers_up_to(static_cast<int>(cpus.size()))) {
            if (!keep_going_(SharedProbe::point_s + touched_bytes / slow_bytes_per_s)) {
                break;
            }
            const double value = measure(cpus.first(place_of(number)));
            if (std::isfinite(value) && value > 0) {
                made.count.push_back(number);
                made.value.push_back(value);
            }
        }
        if (!made.count.empty()) {
            found_.push_back(std::move(made));
        }
    }

    void add_copies(SharedUse use, Scope scope, std::int64_t from_bytes, int home,
                    std::span<const int> cpus, std::int64_t bytes) {
        add(use, scope, from_bytes, cpus, static_cast<double>(bytes),
            [&](std::span<const int> some) { return times_.copies(home, some, bytes); });
    }

    void copies_within(Scope scope, int Pu::* part, std::int64_t bytes, std::int64_t from_bytes) {
        const auto parts = by_part(part);
        const auto largest = std::ranges::max_element(
            parts, {}, [](const auto& entry) { return entry.second.size(); });
        if (bytes > 0 && largest != parts.end() && largest->second.size() > 1) {
            const std::vector<int>& cpus = largest->second;
            add_copies(SharedUse::copies_from, scope, from_bytes, cpus.front(), cpus, bytes);
        }
    }

    void copies_between_packages() {
        const auto parts = by_part(&Pu::package);
        if (parts.size() > 1 && sets_.memory_bytes > 0) {
            const std::vector<int>& cpus = std::next(parts.begin())->second;
            add_copies(SharedUse::copies_between, Scope::package, sets_.from_bytes,
                       parts.begin()->second.front(), cpus, sets_.memory_bytes);
        }
    }

    void readers_of_one() {
        std::vector<int> cpus;
        for (const int pu : pus_) {
            cpus.push_back(cpu(pu));
        }
        const int owner = cpus.front();
        const std::span<const int> others = std::span(cpus).subspan(1);
        if (others.size() < 2 || !keep_going_(2 * SharedProbe::point_s)) {
            return; // One reader alone shares nothing.
        }
        // Fresh lines take longer, which models charge elsewhere: only the ratio counts.
        const double ratio = times_.copies(owner, others.first(1), buffer_bytes) /
                             times_.readers(owner, others.first(1), buffer_bytes);
        add(SharedUse::copies_from, Scope::pu, 0, others, 0, [&](std::span<const int> some) {
            return ratio * times_.readers(owner, some, buffer_bytes);
        });
    }

    void word() {
        std::vector<int> cpus;
        for (const int pu : pus_) {
            cpus.push_back(cpu(pu));
        }
        add(SharedUse::word, Scope::machine, 0, cpus, 0, [&](std::span<const int> some) {
            const double round = times_.counter(some);
            // What is left is at least what the last rank alone needs.
            return std::max(round - release_ns(static_cast<int>(some.size()) - 1), round / 2);
        });
    }

    /// Until that many pollers have a word, by the slowest class that is known.
    [[nodiscard]] double release_ns(int pollers) const {
        double slowest = 0;
        for (const Curve& curve : machine_.shared_line) {
            for (std::size_t i = 0; i < curve.count.size() && curve.count[i] <= pollers; ++i) {
                const auto& send = machine_.classes[place_of(curve.pair_class)].send;
                slowest = std::max(slowest, curve.value[i] + (send.present() ? send.median : 0));
            }
        }
        return slowest;
    }

    const Machine& machine_;
    const SharedTimes& times_;
    const SharedSets& sets_;
    const std::function<bool(double)>& keep_going_;
    std::map<int, int> cores_;
    std::vector<int> pus_; // one of each core
    std::vector<SharedResource> found_;
};

} // namespace

SharedSets shared_sets(std::int64_t cache_bytes, std::int64_t available_bytes) {
    constexpr std::int64_t least = 32 << 20;
    constexpr std::int64_t most = 256 << 20; // To touch more takes too long.
    const std::int64_t memory = std::max(least, 2 * cache_bytes);
    return {std::min(cache_bytes / 2, least),
            memory <= std::min(most, available_bytes / 8) ? memory : 0, cache_bytes};
}

std::vector<SharedResource>
measured_shared_resources(const Machine& machine, const SharedTimes& times, const SharedSets& sets,
                          const std::function<bool(double)>& keep_going) {
    return Survey(machine, times, sets, keep_going).run();
}

} // namespace corymb::discover
