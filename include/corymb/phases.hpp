// SPDX-License-Identifier: Apache-2.0
// Phases of computing and an operation, on many ranks that are interrupted; docs/explain/noise.md.
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/noise.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace corymb {

/// The form in which ranks call an operation in each phase.
enum class CallForm : std::uint8_t {
    blocking,    ///< Compute, then call the operation.
    nonblocking, ///< Start the operation, compute and look after it meanwhile, then wait for it.
    persistent,  ///< As `nonblocking`, with an operation that was prepared once.
    /// As `persistent`, and no rank starts phase k before the time k x period: all start together
    /// unless they are late. The period is that of phases without noise, and some slack.
    aligned,
};
/// "blocking", "nonblocking", "persistent", "aligned".
CORYMB_EXPORT const char* to_string(CallForm form) noexcept;
/// Throws Errc::unknown_name.
CORYMB_EXPORT CallForm call_form_from_string(std::string_view name);

struct PhaseOptions {
    CallForm form = CallForm::blocking;
    double compute_ns = 100'000; ///< Computing of each rank in each phase.
    int phases = 100;
    /// How often a rank looks after the operation while it computes, at equal distances.
    int looks = 10;
    double start_ns = 0; ///< `nonblocking`: time to prepare the operation, in each phase.
    double slack = 0.25; ///< `aligned`: part of the time of a phase without noise. Assumed.
    /// This rank stops for `delay_ns` within the computing of phase 0, after it has started a
    /// nonblocking operation; -1: none does.
    Rank delayed = -1;
    double delay_ns = 0;
};

struct PhaseTimes {
    /// For each phase, from the time when the last rank had ended the one before.
    std::vector<double> phase_ns;
    std::vector<double> finish_ns; ///< For each rank, the end of the last phase.
};

/// A plan on a cluster, for phases among up to hundreds of thousands of ranks. The plan is
/// simulated once without noise. Phases then follow a recurrence over its steps: a step begins when
/// its rank is there and when the steps that it waits for have ended, and takes as long as in that
/// simulation. So messages share links as they do without noise. Otherwise, and always without
/// noise, times are those of `simulate`.
class CORYMB_EXPORT Phases {
public:
    /// `plan` for `cluster`, with payloads of `bytes`. O(steps x log ranks). Throws as `simulate`,
    /// and Errc::invalid_argument for a message that is longer than a slot of a channel.
    Phases(const Plan& plan, const Cluster& cluster, std::uint64_t bytes = 8);
    /// A copy shares all. There is no move: it would leave an object that nothing can be asked.
    Phases(const Phases&) noexcept = default;
    Phases& operator=(const Phases&) noexcept = default;
    ~Phases() = default;

    /// O(phases x (steps + ranks x looks)). Deterministic; thread-safe. Throws
    /// Errc::invalid_argument.
    [[nodiscard]] PhaseTimes run(const PhaseOptions& options, const Noise& noise = {},
                                 std::uint64_t replay = 0) const;
    [[nodiscard]] Rank size() const noexcept;
    /// Steps of all ranks together.
    [[nodiscard]] std::uint64_t step_count() const noexcept;

private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

} // namespace corymb
