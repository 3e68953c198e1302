// SPDX-License-Identifier: Apache-2.0
// Plans that were searched for, kept for later processes: files in a folder beside the measured
// model. Nothing here throws: a cache that is absent, full or damaged costs a search.
#pragma once

#include "plan/proven.hpp"

#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace corymb::team {

/// Thread-safe, also against other processes: files are replaced in one step.
class PlanCache {
public:
    /// Longer plans are not kept, and of more files the oldest go.
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;
    static constexpr std::size_t files_max = 512;

    /// An empty folder name keeps nothing. The folder is made when something is kept.
    explicit PlanCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
    /// The cache of this user on this host; an empty one without a home directory.
    [[nodiscard]] static PlanCache of_user();

    /// The plan that was kept under a key, proven anew; a file that is damaged is removed.
    [[nodiscard]] std::optional<plan::ProvenPlan> find(const std::string& key,
                                                       bool ordered) const noexcept;
    void keep(const std::string& key, const Plan& plan) const noexcept;

private:
    [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;
    void remove_oldest() const;

    std::filesystem::path folder_;
};

/// Different for models on which plans may differ. O(bytes of the model).
[[nodiscard]] std::string digest_of(const Machine& machine);
/// The request's part of a key: all that its plan depends on beside the model.
[[nodiscard]] std::string key_of(const PlanRequest& request);
/// The part that says which planner it was: the version and the build of the library.
[[nodiscard]] const std::string& planner_name();

} // namespace corymb::team
