// SPDX-License-Identifier: Apache-2.0
// A waiter that goes to sleep, with the shipped parking loop.
#pragma once

#include "channel/event_count.hpp"
#include "explorer/env.hpp"

namespace corymb::verify {

using Spot = channel::EventCount<ExplorerEnv>;

/// As channel::WaitLadder: `Looks` looks awake, then the parking loop.
template <int Looks>
struct ParkingWaiter {
    Spot& spot;
    const ExplorerEnv::Atomic<std::uint32_t>* broken = nullptr;
    channel::Awaited awaited{}; ///< Who may wake it.
    void expect(const channel::Awaited& whom) noexcept { awaited = whom; }

    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen,
               std::source_location where = std::source_location::current()) {
        const auto look = [&] {
            seen = word.load(order, where);
            return holds(seen);
        };
        for (int i = 0; i < Looks; ++i) {
            if (look()) {
                return true;
            }
        }
        const auto stop = [&] {
            return broken != nullptr && broken->load(std::memory_order_relaxed) != 0;
        };
        return spot.park(look, stop, [] { return 1'000'000'000; }, awaited);
    }
};

} // namespace corymb::verify
