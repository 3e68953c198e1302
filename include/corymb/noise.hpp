// SPDX-License-Identifier: Apache-2.0
// What interrupts ranks: other processes, interrupts, the hypervisor; docs/explain/noise.md.
#pragma once

#include <corymb/export.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace corymb {

/// A stretch of time in which a CPU did not run the code that was watched.
struct Interruption {
    double begin_ns = 0; ///< From the beginning of the recording.
    double length_ns = 0;

    bool operator==(const Interruption&) const = default;
};

/// The interruptions of one CPU.
struct CpuNoise {
    int cpu = 0;            ///< Number of the operating system.
    double recorded_ns = 0; ///< How long the CPU was watched.
    /// Invariant: in order of time, apart from each other, within [0, recorded_ns].
    std::vector<Interruption> interruptions;

    bool operator==(const CpuNoise&) const = default;
};

/// Interruptions as they were recorded on a machine ("corymb-noise/1",
/// docs/schema/noise-1.schema.json).
struct CORYMB_EXPORT NoiseTrace {
    std::string name;        ///< The machine, or what a person calls it.
    std::string source;      ///< How it was recorded.
    std::string created;     ///< ISO 8601, UTC; empty when unknown.
    double threshold_ns = 0; ///< Shorter interruptions were not recorded.
    /// Invariant: at least one; each CPU once; each ran the watched code at some time.
    std::vector<CpuNoise> cpus;

    /// Throws Errc::invalid_model naming the field. O(interruptions).
    void check() const;
    bool operator==(const NoiseTrace&) const = default;
};

/// JSON form of a trace that passes `check`.
CORYMB_EXPORT std::string to_json(const NoiseTrace& trace);
/// Throws Errc::invalid_model naming the field; never crashes on hostile text.
CORYMB_EXPORT NoiseTrace noise_trace_from_json(std::string_view text);
/// As `noise_trace_from_json`, with the name of the file in errors; Errc::io when it cannot be
/// read.
CORYMB_EXPORT NoiseTrace load_noise_trace(const std::filesystem::path& file);

/// A trace in four numbers, over all of its CPUs.
struct NoiseSummary {
    double lost_share = 0; ///< Share of the time, 0 to 1.
    double rate_per_s = 0; ///< Interruptions of one CPU in a second.
    double median_ns = 0;  ///< Length; 0 without interruptions.
    double longest_ns = 0;
};
[[nodiscard]] CORYMB_EXPORT NoiseSummary summary_of(const NoiseTrace& trace);

/// An interruption of `length_ns` in each period.
struct PeriodicNoise {
    double period_ns = 0;
    double length_ns = 0;
    /// Begin of the first interruption of rank r: phases_ns[r % size]. Empty: drawn for each rank.
    std::vector<double> phases_ns{};

    bool operator==(const PeriodicNoise&) const = default;
};

/// Lengths of interruptions around their mean.
enum class NoiseLengths : std::uint8_t {
    constant,
    uniform, ///< Between 0 and twice the mean.
    exponential,
};

/// Interruptions that follow each other at random: the time from the end of one to the begin of the
/// next is exponential.
struct RandomNoise {
    double gap_ns = 0;    ///< Mean time between two of them.
    double length_ns = 0; ///< Mean length.
    NoiseLengths lengths = NoiseLengths::exponential;

    bool operator==(const RandomNoise&) const = default;
};

/// What interrupts the ranks of a simulation. A value; copies share a trace. Simulations draw the
/// times of rank r in replay k from (seed, k, r) alone, alike on every machine.
struct CORYMB_EXPORT Noise {
    /// Nothing; or as said above; or a trace, repeated without end, whose CPUs are dealt out to the
    /// ranks in turns. Each rank begins at a time of the trace that is drawn.
    std::variant<std::monostate, PeriodicNoise, RandomNoise, std::shared_ptr<const NoiseTrace>>
        source{};
    /// All ranks are interrupted at the same times: those of rank 0.
    bool aligned = false;
    std::uint64_t seed = 1;

    static Noise periodic(double period_ns, double length_ns, std::vector<double> phases_ns = {});
    static Noise random(double gap_ns, double length_ns,
                        NoiseLengths lengths = NoiseLengths::exponential);
    /// Throws Errc::invalid_model.
    static Noise recorded(NoiseTrace trace);

    [[nodiscard]] bool present() const noexcept { return source.index() != 0; }
    /// Expected share of the time that a rank loses, 0 to 1.
    [[nodiscard]] double lost_share() const;
    /// For people, in a few words.
    [[nodiscard]] std::string text() const;
    /// Throws Errc::invalid_argument: times that are negative or no numbers, a period that is not
    /// longer than its interruption, a phase outside the period.
    void check() const;
};

/// Reads "periodic:PERIOD:LENGTH", "random:GAP:LENGTH[:constant|uniform|exponential]" (times in ns)
/// or the name of a trace's file. Throws Errc::invalid_argument, and what load_noise_trace does.
[[nodiscard]] CORYMB_EXPORT Noise noise_from(std::string_view text);

} // namespace corymb
