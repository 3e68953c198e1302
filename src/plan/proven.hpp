// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <memory>
#include <utility>

namespace corymb::plan {

/// A plan that the checker has accepted, and what the proof has found. Only such a plan becomes a
/// program of a whole team (team/compile.hpp). Copies share the plan, which never changes.
class ProvenPlan {
public:
    /// Proves the plan; with `ordered` also that reductions combine in rank order. Errors and cost
    /// as of `check_plan`.
    explicit ProvenPlan(Plan plan, bool ordered = false);
    /// A plan that another process of the same team has proven, and whose hash is the one that this
    /// process has told. For plans of which that process has found the two properties, or which
    /// need not have them.
    [[nodiscard]] static ProvenPlan by_peer(Plan plan, bool is_ordered, bool keeps_parts);

    [[nodiscard]] const Plan& operator*() const noexcept { return *plan_; }
    [[nodiscard]] const Plan* operator->() const noexcept { return plan_.get(); }
    [[nodiscard]] const Plan* get() const noexcept { return plan_.get(); }
    /// Reductions combine in rank order. False: that was not asked.
    [[nodiscard]] bool is_ordered() const noexcept { return is_ordered_; }
    /// As corymb::keeps_parts.
    [[nodiscard]] bool keeps_parts() const noexcept { return keeps_parts_; }

private:
    ProvenPlan(std::shared_ptr<const Plan> plan, bool is_ordered, bool keeps_parts) noexcept
        : plan_(std::move(plan)), is_ordered_(is_ordered), keeps_parts_(keeps_parts) {}

    std::shared_ptr<const Plan> plan_; ///< Invariant: not null, but after a move.
    bool is_ordered_;
    bool keeps_parts_;
};

} // namespace corymb::plan
