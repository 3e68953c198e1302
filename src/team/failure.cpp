// SPDX-License-Identifier: Apache-2.0
#include "team/failure.hpp"

#include <cstdint>
#include <cstring>

namespace corymb::team {

namespace {

/// Followed by the ranks and the characters.
struct FailureHeader {
    Errc code;
    std::uint32_t ranks;
    std::uint32_t characters;
};

} // namespace

Offset write_failure(Arena& arena, const Failure& failure) {
    const FailureHeader header{failure.code, static_cast<std::uint32_t>(failure.ranks.size()),
                               static_cast<std::uint32_t>(failure.text.size())};
    const std::size_t rank_bytes = header.ranks * sizeof(int);
    const Offset where = arena.allocate(sizeof header + rank_bytes + header.characters);
    std::byte* const to = arena.memory().at(where);
    std::memcpy(to, &header, sizeof header);
    if (rank_bytes != 0) {
        std::memcpy(to + sizeof header, failure.ranks.data(), rank_bytes);
    }
    std::memcpy(to + sizeof header + rank_bytes, failure.text.data(), header.characters);
    return where;
}

Failure read_failure(const Memory& memory, Offset where) {
    const std::byte* const from = memory.at(where);
    FailureHeader header{};
    std::memcpy(&header, from, sizeof header);
    Failure failure;
    failure.code = header.code;
    failure.ranks.resize(header.ranks);
    const std::size_t rank_bytes = header.ranks * sizeof(int);
    if (rank_bytes != 0) {
        std::memcpy(failure.ranks.data(), from + sizeof header, rank_bytes);
    }
    const auto* const text = reinterpret_cast<const char*>(from + sizeof header + rank_bytes);
    failure.text.assign(text, header.characters);
    return failure;
}

} // namespace corymb::team
