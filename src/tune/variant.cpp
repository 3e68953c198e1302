// SPDX-License-Identifier: Apache-2.0
#include "tune/variant.hpp"

#include "plan/names.hpp"

#include <corymb/error.hpp>

#include <charconv>
#include <system_error>

namespace corymb::tune {

namespace {

constexpr std::uint32_t blocks_most = 64;
constexpr std::uint64_t block_bytes_least = 1024;

} // namespace

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
        for (std::uint32_t blocks = 1; blocks <= (in_blocks ? blocks_most : 1); blocks *= 2) {
            if (blocks == 1 || bytes / blocks >= block_bytes_least) {
                list.push_back({via, blocks});
            }
        }
    }
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

std::optional<std::pair<std::string, std::optional<Variant>>>
parse_candidate(std::string_view name) {
    const std::size_t slash = name.find('/');
    const std::string family(name.substr(0, slash));
    if (slash == std::string_view::npos) {
        return std::pair{family, std::optional<Variant>{}};
    }
    const std::string_view rest = name.substr(slash + 1);
    const std::size_t dash = rest.rfind('-');
    if (dash == std::string_view::npos) {
        return std::nullopt;
    }
    Variant variant;
    if (rest.substr(0, dash) == to_string(Mechanism::cells)) {
        variant.via = Mechanism::cells;
    } else if (rest.substr(0, dash) == to_string(Mechanism::pull)) {
        variant.via = Mechanism::pull;
    } else {
        return std::nullopt;
    }
    const char* end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data() + dash + 1, end, variant.blocks);
    if (error != std::errc{} || stop != end || variant.blocks == 0 ||
        variant.blocks > blocks_most) {
        return std::nullopt;
    }
    return std::pair{family, std::optional<Variant>{variant}};
}

} // namespace corymb::tune
