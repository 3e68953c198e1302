// SPDX-License-Identifier: Apache-2.0
#include <corymb/error.hpp>
#include <corymb/planner.hpp>

#include <string>

namespace corymb {

const char* to_string(Objective objective) noexcept {
    return objective == Objective::p99 ? "p99" : "median";
}

Objective objective_from_string(std::string_view name) {
    for (const Objective one : {Objective::median, Objective::p99}) {
        if (name == to_string(one)) {
            return one;
        }
    }
    throw Error(Errc::unknown_name, "no objective is called \"" + std::string(name.substr(0, 60)) +
                                        "\"; there are median and p99");
}

} // namespace corymb
