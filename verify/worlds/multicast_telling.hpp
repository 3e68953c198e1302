// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "explorer/run_worlds.hpp"
#include "worlds/multicast_group.hpp"

#include <cstdint>

namespace corymb::verify {

/// The first `Members` positions behind the initiator are members of all calls, which use one
/// slot.
/// Seeded bug: without `waits` the initiator does not wait for them.
template <std::uint32_t Size, std::uint32_t Members, std::uint64_t Calls, Tree tree, bool skipping,
          Back back, bool waits>
struct TellingMembers : Group<Size, 1, tree, skipping, back> {
    static constexpr int threads = static_cast<int>(Members) + 1;

    TellingMembers() {
        for (std::uint32_t p = 1; p <= Members; ++p) {
            this->core.join(p);
        }
    }
    void run(int thread) {
        const auto own = static_cast<std::uint32_t>(thread);
        if (own != 0) {
            this->serve(own, Calls);
            return;
        }
        for (std::uint64_t call = 1; call <= Calls; ++call) {
            const std::uint32_t slot = this->begin(0, call);
            if (waits) {
                this->wait(0, slot);
            }
            for (std::uint32_t p = 1; p <= Members; ++p) {
                require(this->result[p].read() == call, "it has run before it answers");
            }
            this->core.finish(slot);
        }
    }
    void finish() {
        for (std::uint32_t p = 1; p <= Members; ++p) {
            require(this->runs[p] == Calls, "each member runs each call once");
        }
    }
};

} // namespace corymb::verify
