// SPDX-License-Identifier: Apache-2.0
// Plans that were already made, so that planning the same operation twice costs a look-up.
#pragma once

#include <corymb/planner.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace corymb::runtime {

/// The largest payload that shares a plan with `bytes`: one line, else the next power of two.
[[nodiscard]] std::uint64_t size_class(std::uint64_t bytes) noexcept;

/// In memory, thread-safe. A plan is found again by model, operation, placement, root, size class,
/// algorithm, seed, moves and flags.
class PlanCache {
public:
    explicit PlanCache(std::size_t capacity = 1024) : capacity_(capacity) {}

    /// The plan for the request, made for the whole size class of its payload. `model_sha256` is
    /// machine_sha256(machine), which callers compute once. Two threads that ask for the same new
    /// plan may both make it; they are given the same one. Errors as of `make_plan`.
    std::shared_ptr<const PlanChoice> get(const Machine& machine, const std::string& model_sha256,
                                          const PlanRequest& request);

    [[nodiscard]] std::size_t size() const;

private:
    mutable std::mutex mutex_;
    std::size_t capacity_;
    std::unordered_map<std::string, std::shared_ptr<const PlanChoice>> plans_;
    std::deque<std::string> oldest_first_;
};

} // namespace corymb::runtime
