// SPDX-License-Identifier: Apache-2.0
// How ranks find and connect each other. Rank 0 has a port that all others connect to. It tells all
// of them where each one has a port of its own. Then each rank connects to those of lower numbers.
// On every connection the first bytes are a Hello with the key.
#pragma once

#include "base/descriptor.hpp"
#include "tcp/socket.hpp"

#include <corymb/rank.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::tcp {

/// What the join line says.
struct JoinLine {
    int size = 0;
    std::string key; ///< 32 hexadecimal digits.
    Place at;        ///< Rank 0's port.
};
[[nodiscard]] std::string to_text(const JoinLine& line);
/// Throws Errc::invalid_argument.
[[nodiscard]] JoinLine join_line_from(std::string_view text);
[[nodiscard]] std::string random_key();
/// Where the caller runs, as far as sharing memory is concerned.
[[nodiscard]] std::string own_node();

struct Met {
    Rank rank = -1;
    std::vector<int> node_of_rank;
    std::vector<Descriptor> sockets; ///< By rank; -1 for the own one.
};
/// Rank 0. Throws Errc::timeout with the ranks that have not come, and Errc::io.
[[nodiscard]] Met meet_all(const JoinLine& line, int listener, std::string_view node, Moment end);
/// Another rank; `wanted` below 0: any. Throws as TcpCarrier::meet.
[[nodiscard]] Met meet_first(const JoinLine& line, Rank wanted, std::string_view node, Moment end);

} // namespace corymb::tcp
