// SPDX-License-Identifier: Apache-2.0
#include "tune/variant.hpp"

#include "plan/names.hpp"
#include "tune/tuning.hpp"

#include <limits>

namespace corymb::tune {

std::vector<Variant> variants(Collective op, std::uint64_t bytes, bool pull) {
    if (op == Collective::barrier || bytes <= line_payload_bytes) {
        return {Variant{}};
    }
    std::vector<Variant> list;
    // Messages of whole parts are cut on their way by the mechanisms themselves.
    const bool in_blocks = !has_parts(op) || op == Collective::reduce_scatter;
    for (const Mechanism via : {Mechanism::cells, Mechanism::pull}) {
        if (via == Mechanism::pull && !pull) {
            continue;
        }
        list.push_back({via, 1});
        for (std::uint32_t blocks = 2; in_blocks; blocks *= 2) {
            if (block_bytes_least.decides(bytes / blocks < block_bytes_least) ||
                blocks_most.decides(blocks > blocks_most)) {
                break;
            }
            list.push_back({via, blocks});
        }
    }
    return list;
}

std::vector<Variant> all_variants() {
    const DecidingNumbers apart; // The list of names is no part of a planning.
    std::vector<Variant> list =
        variants(Collective::broadcast, std::numeric_limits<std::uint64_t>::max());
    list.insert(list.begin(), Variant{});
    return list;
}

std::string candidate_name(std::string_view family, const Variant& variant) {
    std::string name(family);
    if (variant != Variant{}) {
        name += '/';
        name += to_string(variant.via);
        name += '-';
        name += std::to_string(variant.blocks);
    }
    return name;
}

} // namespace corymb::tune
