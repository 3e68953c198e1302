// SPDX-License-Identifier: Apache-2.0
// Finds out the topology of this machine and the time in which its cores hand each other a message.
#pragma once

#include <corymb/machine.hpp>
#include <corymb/noise.hpp>
#include <corymb/usable_cpus.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {

/// Topology of this machine (restricted to the allowed CPUs), of an hwloc XML file, or of an hwloc
/// synthetic description such as "pack:2 numa:3 l2:4 core:5 pu:6". The machine has no costs yet:
/// classes come from the topology with relative costs, `source` says so.
CORYMB_EXPORT Machine discover_topology();
CORYMB_EXPORT Machine topology_from_xml(const std::filesystem::path& file);
CORYMB_EXPORT Machine topology_from_synthetic(const std::string& description);

struct MeasureOptions {
    double budget_s = 20;     ///< Upper bound of the whole measurement.
    bool full_matrix = false; ///< Every ordered pair; default only up to 64 PUs.
    std::vector<int> cpus;    ///< Measure among these; empty: all allowed.
    /// Called about ten times a second from the calling thread with done (0..1) and the name of the
    /// present measurement. Returning false stops the measurement with Errc::interrupted.
    std::function<bool(double, std::string_view)> progress;
};
/// Measures this machine with the library's own channels. Works on 1 CPU (a model without costs and
/// a remark that says why). Restores the calling thread's affinity. Not reentrant.
CORYMB_EXPORT Machine measure(const MeasureOptions& options = {});

/// Times a few pairs again (< 50 ms) and says whether the model still fits; text for people.
struct SpotCheck {
    bool fits = true;
    double worst_ratio = 1; ///< Measured by modelled round trip, the ratio farthest from 1.
    std::string text;
};
CORYMB_EXPORT SpotCheck spot_check(const Machine& machine);

/// The file of this user's measured model ($CORYMB_CACHE_DIR, else $XDG_CACHE_HOME/corymb, else
/// ~/.cache/corymb) and the model itself if it exists, belongs to this machine and mask, and passes
/// the spot check. Otherwise empty, and `why` (if given) gives the reason.
CORYMB_EXPORT std::filesystem::path cached_model_path();
CORYMB_EXPORT std::optional<Machine> load_cached_machine(std::string* why = nullptr);

struct RecordNoiseOptions {
    double seconds = 5;    ///< Time of the recording; 0.01 to 3600.
    std::vector<int> cpus; ///< Watch these; empty: all allowed.
    /// As MeasureOptions::progress.
    std::function<bool(double, std::string_view)> progress;
};
/// Records what interrupts this machine's CPUs, all at the same time. A thread on each CPU reads
/// the clock again and again; a read that takes far longer than the quickest ones was interrupted
/// (selfish detour: Beckman, Iskra, Yoshii, Coghlan, Nataraj, Cluster 2006). If a CPU has more than
/// 200,000 interruptions, or its part of 1,500,000, its recording ends there. Throws
/// Errc::invalid_argument, Errc::interrupted and Errc::unsupported (a thread cannot start or be
/// bound). Not reentrant.
CORYMB_EXPORT NoiseTrace record_noise(const RecordNoiseOptions& options = {});

/// Where `corymb doctor --noise` keeps its recording: beside the model.
CORYMB_EXPORT std::filesystem::path cached_noise_path();

/// hwloc XML of the machine with the model's send and receive costs as distances (picoseconds).
CORYMB_EXPORT void export_hwloc_distances(const Machine& machine,
                                          const std::filesystem::path& xml_file);

/// A permission of this machine or container; one row a capability, for `corymb doctor`.
struct Permission {
    std::string name; ///< "pinning", "futex", "membarrier", "huge pages", "/dev/shm", ...
    bool available = false;
    std::string detail; ///< The finding, and the remedy if the permission is missing.
};
CORYMB_EXPORT std::vector<Permission> probe_permissions();

} // namespace corymb
