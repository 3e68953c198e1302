// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/families.hpp"

#include "plan/generate/family_list.hpp"

#include <array>

namespace corymb {

std::span<const Family> families() {
    using namespace generate;
    static const std::array list{star,
                                 chain,
                                 binary,
                                 quaternary,
                                 octonary,
                                 binomial,
                                 fibonacci,
                                 mst,
                                 bad_tree,
                                 cluster,
                                 hierarchical_flat,
                                 hierarchical_binomial,
                                 hierarchical,
                                 smelt_adaptive,
                                 smelt_adaptive_shuffle,
                                 smelt_adaptive_shuffle_sort,
                                 contiguous,
                                 shared_line,
                                 shared_line_tree,
                                 all_to_all,
                                 dissemination_2,
                                 dissemination_3,
                                 dissemination_4,
                                 recursive_doubling,
                                 pair_exchange,
                                 halving_doubling,
                                 ring,
                                 direct,
                                 direct_push,
                                 pairwise,
                                 linear,
                                 bruck,
                                 scan_linear,
                                 scan_doubling,
                                 scan_tree,
                                 canonical,
                                 composed_exchange,
                                 composed_direct,
                                 hybrid_1,
                                 hybrid_2,
                                 hybrid_3,
                                 earliest_completion,
                                 earliest_completion_look_ahead,
                                 annealed,
                                 exact};
    return list;
}

} // namespace corymb
