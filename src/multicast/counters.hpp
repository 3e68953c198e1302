// SPDX-License-Identifier: Apache-2.0
// Purpose: acknowledgements by counters for core.hpp. They go back along the way of the call, or up
// a tree of counters of their own.
//
// Roles: a member answers, once for each call; whoever forwards counts whom it told. The last one
// to answer at a counter goes on above it, at last at the `left` of the slot, for its holder.
//
// Layout: `answers`, `left` and `tally` of block.hpp.
//
// Protocol: back along the way of the call
//   post     a member's counter begins with a bias, so that answers may come before the forwarder
//            has counted the members that it told.
//   forward  the forwarder subtracts the bias but for the member's answer and those to come.
//   answer   subtract one (A2); who brings it to 0 goes on at the counter of who told the member.
//   or up a tree of their own (gather_tree.hpp)
//   begin    `left` is what the members of the snapshot make of the root.
//   gather   at each node: how many answers come to it follows from the snapshot, in the same way
//            for everybody. If that is one, go on above. Else add one to its tally (A2); who makes
//            it complete sets it back to 0 and goes on above. Nobody who forwards counts anything,
//            and no node belongs to a thread.
//   reset    the holder of a call in which somebody ended sets all tallies to 0 before the slot is
//            used again: everybody who lives is through, so nobody else touches them.
//
// Order:
//   A2: read-modify-writes of a counter: the last one acquires all others and hands them on with
//       its own one above.
//   P4: release subtractions from a slot's `left` -> acquire load in is_complete: what all members
//       did, and their last use of the slot.
//   The reset of a tally needs no order: whoever adds to it next was told of a later call.
//
// Progress: wait-free; an answer takes at most as many steps as the tree is deep.
//
// Checked by: verify/worlds/multicast_world.cpp, multicast_gather_world.cpp; tests/unit/multicast.
#pragma once

#include "base/assert.hpp"
#include "multicast/block.hpp"
#include "multicast/gather_tree.hpp"
#include "multicast/shape.hpp"
#include "multicast/snapshot.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::multicast {

template <class Env>
class Counters {
    using Fields = Block<Env>;
    using Node = typename Fields::Node;
    using Word = typename Fields::Word;

public:
    explicit Counters(const Shape& shape) : shape_(shape) {}

    /// Initiator: before anybody is told.
    void begin(const Fields& fields, std::uint32_t slot) const noexcept {
        fields.left(slot).store(gathers() ? expected(fields, slot, 0) : bias,
                                std::memory_order_relaxed);
    }
    /// Initiator: after it has told.
    void begun(const Fields& fields, std::uint32_t slot, std::uint32_t told) const {
        if (!gathers()) {
            static_cast<void>(
                count_down(fields.left(slot), bias - told, std::memory_order_relaxed));
        }
    }
    /// Whoever tells the member of a node, before it does.
    void post(Node& to) const noexcept {
        if (!gathers()) {
            to.answers.store(bias, std::memory_order_relaxed);
        }
    }
    /// Whoever has forwarded for a member; whether the member and all that were told have answered.
    [[nodiscard]] bool forwarded(Node& of, std::uint32_t told) const {
        return !gathers() && count_down(of.answers, bias - told - 1,
                                        std::memory_order_acquire) == 0; // A2 acquire
    }
    /// The member `p` answers, back along the way of the call at the place `at`.
    void answer(const Fields& fields, std::uint32_t slot, Position p, std::uint32_t at,
                std::uint32_t parent) const {
        gathers() ? gather(fields, slot, shape_.gather.place_of(p), parent)
                  : arrive(fields, slot, at);
    }
    /// Counts one answer at a place, and at those above as far as it was the last.
    void arrive(const Fields& fields, std::uint32_t slot, std::uint32_t at) const {
        while (at < shape_.size) {
            Node& of = fields.node(slot, at);
            const std::uint32_t parent = of.read().parent; // Read before the subtraction.
            if (count_down(of.answers, 1, std::memory_order_acq_rel) != 0) { // A2 acquire, release
                return;
            }
            at = parent;
        }
        end(fields, slot, at);
    }
    /// Holder of a slot: whether all members have answered.
    [[nodiscard]] bool is_complete(const Fields& fields, std::uint32_t slot) const noexcept {
        return fields.left(slot).load(std::memory_order_acquire) == 0; // P4 acquire
    }
    /// Holder of a call whose counters somebody has left.
    void reset(const Fields& fields, std::uint32_t slot) const noexcept {
        fields.left(slot).store(0, std::memory_order_relaxed);
        for (std::uint32_t node = 0; node < shape_.gather.size(); ++node) {
            fields.tally(slot, node).store(0, std::memory_order_relaxed);
        }
    }

    /// Whether acknowledgements have a tree of their own.
    [[nodiscard]] bool gathers() const noexcept { return !shape_.gather.empty(); }

private:
    static constexpr std::uint32_t bias = 1U << 30U;

    [[nodiscard]] std::uint32_t expected(const Fields& fields, std::uint32_t slot,
                                         std::uint32_t node) const noexcept {
        return shape_.gather.expected(node, Snapshot<const Word>(fields.named(slot)));
    }
    void gather(const Fields& fields, std::uint32_t slot, std::uint32_t node,
                std::uint32_t initiator) const {
        while (node != 0) {
            const std::uint32_t all = expected(fields, slot, node);
            CORYMB_ASSERT(all != 0);
            if (all != 1) {
                auto& tally = fields.tally(slot, node);
                const std::uint32_t before =
                    tally.fetch_add(1, std::memory_order_acq_rel); // A2 acquire, A2 release
                CORYMB_ASSERT(before < all);
                if (before + 1 != all) {
                    return;
                }
                tally.store(0, std::memory_order_relaxed);
            }
            node = shape_.gather.above(node);
        }
        end(fields, slot, initiator);
    }
    /// Counts one answer at the slot; `initiator` is its place, as in a task.
    void end(const Fields& fields, std::uint32_t slot, std::uint32_t initiator) const {
        CORYMB_ASSERT(initiator >= shape_.size && initiator < 2 * shape_.size);
        auto& spot = fields.inbox(initiator - shape_.size).spot;
        if (count_down(fields.left(slot), 1, std::memory_order_release) == 0) { // P4 release
            spot.wake_if_parked();
        }
    }
    /// Counts `by` answers of those to come; returns how many are left.
    template <class Counter>
    static std::uint64_t count_down(Counter& counter, std::uint32_t by, std::memory_order order) {
        const std::uint64_t before = counter.fetch_sub(by, order);
        CORYMB_ASSERT(before >= by && before <= bias);
        return before - by;
    }

    const Shape& shape_;
};

} // namespace corymb::multicast
