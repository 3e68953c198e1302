// SPDX-License-Identifier: Apache-2.0
// What the ranks of a thread team share beside the fabric: options, plans, the first failure.
#pragma once

#include "channel/crowd.hpp"
#include "channel/env.hpp"
#include "team/fabric.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace corymb::team {

using Env = channel::StandardEnv;

/// Identifies a plan of a team. `bytes` is a size class (see `size_class`).
struct PlanKey {
    Collective op = Collective::barrier;
    Rank root = 0;
    std::uint64_t bytes = 0;
    bool ordered = false;

    auto operator<=>(const PlanKey&) const = default;
};

/// Payloads that a meeting via exchange carries are one class, those up to a line another; larger
/// ones are rounded up to a power of two.
[[nodiscard]] std::uint64_t size_class(std::uint64_t bytes) noexcept;

/// A plan and its publications; lives as long as the team.
struct SharedPlan {
    Plan plan;
    Publications<Env> publications;
};

/// Why the team is broken.
struct Failure {
    Errc code = Errc::team_broken;
    std::string text;
    std::vector<int> ranks;
};

/// The default plans; defined by the layer that knows the planner and this machine's model.
[[nodiscard]] PlanSource default_plans(const TeamOptions& options, int size);

} // namespace corymb::team

namespace corymb::detail {

/// Shared by all ranks of one team; thread-safe.
struct TeamShared {
    TeamShared(int size, const TeamOptions& options);

    /// The plan for a key, made on first use. Throws what the plan source or check_plan throws.
    const team::SharedPlan& plan(const team::PlanKey& key);
    team::SharedPlan& plan_for_compile(const team::PlanKey& key);

    /// Records the first failure, wakes everybody, and returns the failure that counts.
    team::Failure fail(const team::Failure& failure);
    /// The recorded failure; only after `broken` was seen.
    [[nodiscard]] team::Failure failure() const;
    /// Waits until nobody copies out of another rank's memory; only after `broken` was seen.
    void wait_for_copies();
    /// Ranks that have not begun operation number `operation`.
    [[nodiscard]] std::vector<int> missing(std::uint64_t operation);

    /// Marks a rank as taken; throws Errc::invalid_argument when it is out of range or taken.
    void take(Rank rank);

    team::Fabric<team::Env> fabric;
    alignas(line_pair_bytes) team::Env::Atomic<std::uint32_t> broken;
    alignas(line_pair_bytes) TeamOptions options;
    bool plans_given; ///< The plan source is the user's, not the default.
    std::int64_t deadline_ns;
    bool oversubscribed;
    std::optional<channel::Crowd> crowd; ///< Only when oversubscribed.

    // Scratch space of `split`: what every rank wants, and the teams that its leaders made.
    struct Wish {
        int color = -1;
        int key = 0;
    };
    std::vector<Wish> wishes;
    std::vector<std::shared_ptr<TeamShared>> made;

private:
    mutable std::mutex mutex_;
    std::mutex plan_mutex_;
    std::map<team::PlanKey, std::unique_ptr<team::SharedPlan>> plans_;
    std::optional<team::Failure> failure_;
    std::vector<bool> taken_;
};

} // namespace corymb::detail
