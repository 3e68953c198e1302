// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/families.hpp"

#include "plan/generate/family_list.hpp"

#include <array>

namespace corymb {

std::span<const Family> families() {
    using namespace generate;
    static const std::array list{star, chain, binary, quaternary, octonary};
    return list;
}

} // namespace corymb
