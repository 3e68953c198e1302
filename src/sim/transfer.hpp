// SPDX-License-Identifier: Apache-2.0
// How fast payloads go between the cores of a placement, where a model knows.
#pragma once

#include <corymb/machine.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace corymb::sim {

/// Time that a byte takes, in the model's unit, in messages of so many bytes: of the slowest class
/// of pairs among the PUs that are `taken` that has a transfer curve. Nothing without one. Between
/// the points of the curve it is a line over the logarithm of the bytes, outside of them constant.
/// O(size + groups^2).
[[nodiscard]] std::optional<double>
slowest_transfer(const Machine& machine, const std::vector<bool>& taken, std::uint64_t bytes);

} // namespace corymb::sim
