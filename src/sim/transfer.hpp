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

/// What bytes cost that one rank writes and another copies out of its memory, in the model's unit.
/// Between ranks of the slowest class of pairs that is known, as for slowest_transfer.
struct FreshBytes {
    double first_line = 0;     ///< Until the first line of a message is there.
    double copy_per_byte = 0;  ///< Copying each byte behind it.
    double write_per_byte = 0; ///< What its owner takes longer to write a byte that was copied.

    [[nodiscard]] double copying(std::uint64_t bytes) const noexcept {
        return first_line + static_cast<double>(bytes) * copy_per_byte;
    }
    [[nodiscard]] double writing(std::uint64_t bytes) const noexcept {
        return static_cast<double>(bytes) * write_per_byte;
    }
};

/// The costs of messages out of a payload of so many bytes. Nothing where the model does not know
/// how long copies of fresh bytes take. O(size + groups^2).
[[nodiscard]] std::optional<FreshBytes>
slowest_fresh_bytes(const Machine& machine, const std::vector<bool>& taken, std::uint64_t bytes);

} // namespace corymb::sim
