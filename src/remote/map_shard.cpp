// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/map_shard.hpp>

#include "remote/tuning.hpp"

namespace corymb::detail {

std::size_t keys_of_a_turn() noexcept {
    return static_cast<std::size_t>(remote::tuning::keys_of_a_turn.value());
}

} // namespace corymb::detail
