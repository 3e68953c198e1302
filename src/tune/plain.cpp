// SPDX-License-Identifier: Apache-2.0
#include "tune/plain.hpp"

#include "plan/generate/family_list.hpp"

#include <array>

namespace corymb::tune {

std::span<const Family* const> plain_families(const PlanRequest& request) noexcept {
    using namespace generate;
    static constexpr std::array barriers{&all_to_all, &dissemination_2};
    static constexpr std::array broadcasts{&star,        &binomial,    &hierarchical_flat,
                                           &shared_line, &direct_push, &earliest_completion};
    static constexpr std::array reduces{&star, &binomial, &hierarchical_flat, &direct_push,
                                        &earliest_completion};
    static constexpr std::array gathers{&star, &direct_push, &earliest_completion};
    static constexpr std::array scatters{&star, &hierarchical_flat, &earliest_completion};
    static constexpr std::array allreduces{&star, &all_to_all, &recursive_doubling,
                                           &halving_doubling};
    static constexpr std::array allgathers{&star, &all_to_all, &halving_doubling, &direct};
    static constexpr std::array alltoalls{&direct, &linear, &bruck};
    static constexpr std::array reduce_scatters{&halving_doubling, &direct, &pairwise};
    static constexpr std::array scans{&all_to_all, &scan_linear, &scan_doubling, &scan_tree};
    static constexpr std::array in_rank_order{&contiguous, &all_to_all};
    static constexpr std::array always_alike{&canonical};
    const bool is_sum = request.op == Collective::reduce || request.op == Collective::allreduce;
    if (is_reduction(request.op) && request.reproducible) {
        return always_alike;
    }
    if (is_sum && request.ordered) {
        return in_rank_order;
    }
    switch (request.op) {
    case Collective::barrier: return barriers;
    case Collective::broadcast: return broadcasts;
    case Collective::reduce: return reduces;
    case Collective::allreduce: return allreduces;
    case Collective::gather: return gathers;
    case Collective::scatter: return scatters;
    case Collective::allgather: return allgathers;
    case Collective::alltoall: return alltoalls;
    case Collective::reduce_scatter: return reduce_scatters;
    case Collective::scan:
    case Collective::exscan: return scans;
    }
    return {};
}

} // namespace corymb::tune
