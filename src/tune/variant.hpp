// SPDX-License-Identifier: Apache-2.0
// How a payload may travel: the mechanism and the number of blocks that a family is asked for.
#pragma once

#include <corymb/plan.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::tune {

struct Variant {
    Mechanism via = Mechanism::line;
    std::uint32_t blocks = 1;

    auto operator<=>(const Variant&) const = default;
};

/// The variants to try for a payload: a line if it fits, else cells and pull with 1, 2, 4, ...
/// blocks of at least 1 KiB.
[[nodiscard]] std::vector<Variant> variants(Collective op, std::uint64_t bytes, bool pull = true);

/// The variants of all payloads and operations.
[[nodiscard]] std::vector<Variant> all_variants();

/// Name of a candidate: the family's, with "/pull-8" unless the payload fits a line.
[[nodiscard]] std::string candidate_name(std::string_view family, const Variant& variant);

} // namespace corymb::tune
