// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/families.hpp"

namespace corymb {

Bound lower_bound(Collective, const GenerateInput&) {
    return {0, "none"};
}

} // namespace corymb
