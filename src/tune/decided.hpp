// SPDX-License-Identifier: Apache-2.0
// The deciding numbers of a planning as its caller sees them.
#pragma once

#include "base/tuned.hpp"

#include <corymb/planner.hpp>

#include <string>
#include <vector>

namespace corymb::tune {

[[nodiscard]] inline std::vector<DecidingNumber> decided(const DecidingNumbers& numbers) {
    std::vector<DecidingNumber> list;
    for (const TunedNumber& number : numbers.all()) {
        list.push_back(
            {std::string(number.name), number.value, std::string(to_string(number.origin))});
    }
    return list;
}

} // namespace corymb::tune
