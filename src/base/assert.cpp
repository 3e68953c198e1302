// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"

#include <string>
#include <string_view>

namespace corymb {

void invariant_broken(const char* invariant, const char* file, int line) {
    std::string_view place = file; // Whoever reads it has the sources elsewhere.
    if (const std::size_t at = place.rfind("src/"); at != std::string_view::npos) {
        place.remove_prefix(at);
    }
    throw BrokenInvariant("a mistake of corymb: `" + std::string(invariant) +
                          "` does not hold at " + std::string(place) + ":" + std::to_string(line) +
                          "; the results of this call cannot be trusted. Please report this text "
                          "and what the program called");
}

} // namespace corymb
