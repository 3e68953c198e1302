// SPDX-License-Identifier: Apache-2.0
// Decides which pairs to time and turns their times into classes and costs. Knows nothing of
// threads: the times come from a PairProbe.
#pragma once

#include "machine/discover/levels.hpp"
#include "machine/discover/pair_probe.hpp"

#include <corymb/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace corymb::discover {

struct SurveyOptions {
    bool full_matrix = false; ///< Also above full_matrix_pus_max.
    double end_s = 10;        ///< Of the probe's clock: when the survey has to be over.
    std::uint64_t seed = 1;
    NodeDistances distances = {}; ///< Of the topology that is the prior.
    /// Told how much is done, 0..1; shown to people by whoever owns the screen.
    std::function<void(double, std::string_view)> progress = {};
};

struct SurveyReport {
    std::size_t pairs_measured = 0; ///< Different unordered pairs.
    std::size_t pairs_total = 0;
    std::int64_t batches = 0;
    std::int64_t dropped = 0;
    bool complete = true; ///< The budget sufficed.
};

/// Up to this many PUs every pair is measured unless asked otherwise: about four seconds.
inline constexpr int full_matrix_pus_max = 64;

/// Fills classes, group, group_class, send and receive of `machine` (whose topology is a prior),
/// quality.split_half_r, remarks and topology.disagreements. Needs two PUs or more. A pair of each
/// class of the topology is measured before another pair of any class. A pair that was not measured
/// costs what its class does; a class of which none was measured is named in a remark.
SurveyReport survey(Machine& machine, PairProbe& probe, const SurveyOptions& options);

/// The two ways of doing it.
SurveyReport survey_all_pairs(Machine& machine, PairProbe& probe, const SurveyOptions& options);
SurveyReport survey_by_classes(Machine& machine, PairProbe& probe, const SurveyOptions& options);

/// Says where the classes that were measured contradict the topology that was reported. Costs are
/// those of `machine`; at most about 10^4 pairs are looked at. For sampled models; infer_classes
/// does it for full matrices.
void record_disagreements(Machine& machine);

} // namespace corymb::discover
