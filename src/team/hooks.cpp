// SPDX-License-Identifier: Apache-2.0
#include "channel/urgent_visits.hpp"

#include <corymb/hooks.hpp>

namespace corymb {

void set_hooks_urgent(bool urgent) noexcept {
    channel::visits_are_urgent.store(urgent, std::memory_order_relaxed);
}

} // namespace corymb
