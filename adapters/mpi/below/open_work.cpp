// SPDX-License-Identifier: Apache-2.0
#include "below/open_work.hpp"

#include "below/library.hpp"

namespace corymb::mpi {

void tell_of_open_work() noexcept {
    const Library* const loaded = known_library.load(std::memory_order_acquire);
    if (loaded != nullptr && loaded->set_hooks_urgent != nullptr) {
        loaded->set_hooks_urgent(has_open_work() ? 1 : 0);
    }
}

} // namespace corymb::mpi
