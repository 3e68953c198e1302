// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/star.hpp"

#include <cstddef>
#include <utility>

namespace corymb::discover {

Star largest_star(const Machine& machine, int pair_class) {
    constexpr std::size_t partners_max = 16;
    Star best;
    for (int centre = 0; centre < machine.size() && best.partners.size() < partners_max; ++centre) {
        std::vector<int> partners;
        for (int other = 0; other < machine.size() && partners.size() < partners_max; ++other) {
            if (other != centre && machine.class_of(centre, other) == pair_class) {
                partners.push_back(other);
            }
        }
        if (partners.size() > best.partners.size()) {
            best = {centre, std::move(partners)};
        }
    }
    return best;
}

} // namespace corymb::discover
