// SPDX-License-Identifier: Apache-2.0
// Shares one rank's knowledge about the network with all ranks.
#pragma once

#include <corymb/carrier.hpp>

#include <chrono>
#include <string>

namespace corymb::cluster {

/// A text that one rank tells all others, or the reason why it has none.
struct Word {
    bool is_known = false;
    std::string text;
};
/// Gives all ranks the word of rank `from` of `size`. Collective. Throws Errc::timeout.
[[nodiscard]] Word shared_word(Carrier& carrier, Rank size, Rank rank, Rank from, const Word& word,
                               std::chrono::nanoseconds deadline);

} // namespace corymb::cluster
