// SPDX-License-Identifier: Apache-2.0
// How all ranks come to know what one of them knows about the network.
#pragma once

#include <corymb/cluster_team.hpp>

#include <chrono>
#include <string>

namespace corymb::cluster {

/// What one rank tells all others: something that it knows, or why it does not.
struct Word {
    bool is_known = false;
    std::string text;
};
/// What rank `from` of `size` says, on all ranks. Collective. Throws Errc::timeout.
[[nodiscard]] Word shared_word(Carrier& carrier, Rank size, Rank rank, Rank from, const Word& word,
                               std::chrono::nanoseconds deadline);

} // namespace corymb::cluster
