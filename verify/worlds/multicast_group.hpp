// SPDX-License-Identifier: Apache-2.0
// A multicast group of a world, src/multicast/core.hpp, with what its threads do on it.
#pragma once

#include "explorer/env.hpp"
#include "multicast/core.hpp"
#include "worlds/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <vector>

namespace corymb::verify {

using MulticastCore = multicast::Core<ExplorerEnv>;
using multicast::Shape;

enum class Tree : std::uint8_t { flat, chain, split };
/// How members acknowledge: along the way of the call, or up a tree in which all others stand below
/// the last position, and that below the first.
enum class Back : std::uint8_t { counters, messages, gather };

inline Shape shape_of(std::uint32_t size, std::uint32_t slots, Tree tree, bool skipping,
                      Back back) {
    Shape shape;
    shape.size = size;
    shape.slots = slots;
    shape.fan_out = tree == Tree::split ? 1 : 0;
    shape.skipping = skipping;
    shape.by_messages = back == Back::messages;
    if (back == Back::gather) {
        std::vector<multicast::Position> parent(size, size - 1);
        parent.front() = 0;
        parent.back() = 0;
        shape.gather = multicast::GatherTree(parent);
    }
    for (std::uint32_t p = 0; p < size; ++p) {
        shape.end.push_back(tree == Tree::flat ? p + 1 : size);
    }
    return shape;
}

/// A group of `Size` positions with what the worlds do on it.
template <std::uint32_t Size, std::uint32_t Slots, Tree tree, bool skipping = true,
          Back back = Back::counters>
struct Group {
    using Core = MulticastCore;
    alignas(line_pair_bytes) std::byte block[8192];
    Core core;
    Letter result[Size];           ///< Written by each member, read by initiators.
    std::uint64_t runs[Size] = {}; ///< Private to the member.
    std::uint64_t last[Size] = {};

    Group() : core((require_fits(), block), shape(), Reach::process) {
        Explorer::current().name(block, sizeof block, "block");
        Explorer::current().name(result, sizeof result, "result");
        for (std::uint32_t p = 0; p < Size; ++p) {
            core.hold(p);
        }
    }
    static Shape shape() { return shape_of(Size, Slots, tree, skipping, back); }
    static void require_fits() { require(Core::bytes(shape()) <= sizeof block, "it fits"); }
    auto run_as(std::uint32_t p) {
        return [this, p](std::uint32_t /*slot*/, const std::byte* payload) {
            std::memcpy(&last[p], payload, sizeof last[p]);
            ++runs[p];
            result[p].write(last[p]);
        };
    }
    int poll(std::uint32_t p) { return core.poll(p, run_as(p)); }
    void serve(std::uint32_t p, std::uint64_t calls) {
        AwaitWaiter waiter;
        while (runs[p] < calls) {
            std::uint64_t mail = 0;
            static_cast<void>(waiter.await(
                core.mail(p), std::memory_order_relaxed,
                [](std::uint64_t seen) { return seen != 0; }, mail));
            static_cast<void>(poll(p));
        }
    }
    /// Member: sleeps until it has mail or `stop`, and polls.
    template <class Stop>
    void park(std::uint32_t p, const Stop& stop) {
        const auto look = [&] {
            static_cast<void>(poll(p));
            return stop();
        };
        static_cast<void>(
            core.spot(p).park(look, [] { return false; }, [] { return 1'000'000'000; }));
    }
    std::uint32_t begin(std::uint32_t p, std::uint64_t value) {
        const int slot = core.claim(p);
        require(slot >= 0, "there is a slot");
        static_cast<void>(core.begin(static_cast<std::uint32_t>(slot), p, &value, sizeof value));
        return static_cast<std::uint32_t>(slot);
    }
    void wait(std::uint32_t p, std::uint32_t slot) {
        // Before it parks, whose fence would order more than is promised.
        if (!core.is_complete(slot)) {
            park(p, [&] { return core.is_complete(slot); });
        }
    }
    void leave(std::uint32_t p) {
        core.leave(p);
        AwaitWaiter waiter;
        require(core.settle(p, waiter, run_as(p)) == Core::settled, "nobody gives up");
    }
};

/// A waiter that looks once.
struct LookOnce {
    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen,
               std::source_location where = std::source_location::current()) {
        seen = word.load(order, where);
        return holds(seen);
    }
};

} // namespace corymb::verify
