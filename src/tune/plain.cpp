// SPDX-License-Identifier: Apache-2.0
#include "tune/plain.hpp"

#include <array>

namespace corymb::tune {

namespace {

using Names = std::span<const std::string_view>;
using namespace std::string_view_literals;

constexpr std::array barriers{"dissemination-2"sv, "all-to-all"sv};
constexpr std::array broadcasts{"star"sv,        "binomial"sv,    "hierarchical-flat"sv,
                                "shared-line"sv, "direct-push"sv, "earliest-completion"sv};
constexpr std::array reduces{"star"sv, "binomial"sv, "hierarchical-flat"sv, "direct-push"sv,
                             "earliest-completion"sv};
constexpr std::array gathers{"star"sv, "direct-push"sv, "earliest-completion"sv};
constexpr std::array scatters{"star"sv, "hierarchical-flat"sv, "earliest-completion"sv};
constexpr std::array allreduces{"star"sv, "all-to-all"sv, "recursive-doubling"sv,
                                "halving-doubling"sv};
constexpr std::array allgathers{"star"sv, "all-to-all"sv, "halving-doubling"sv, "direct"sv};
constexpr std::array alltoalls{"bruck"sv, "direct"sv, "linear"sv};
constexpr std::array reduce_scatters{"halving-doubling"sv, "direct"sv, "pairwise"sv};
constexpr std::array scans{"all-to-all"sv, "scan-doubling"sv, "scan-tree"sv, "scan-linear"sv};
constexpr std::array in_rank_order{"contiguous"sv, "all-to-all"sv};
constexpr std::array always_alike{"canonical"sv};

} // namespace

Names plain_families(const PlanRequest& request) noexcept {
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
