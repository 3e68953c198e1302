// SPDX-License-Identifier: Apache-2.0
// Purpose: acknowledgements by messages for core.hpp: a member that told others waits for their
// answers and then answers the member that told it, up to the initiator.
//
// Roles: a member answers, once for each call. Collectors are the member that told it, members
// above that, and the holder of the slot; they only read, so any number of them may look.
//
// Layout: a word for each slot and position in the block (`answers` of block.hpp), written by the
// owner of the position alone: the number of the call, and behind which position everybody from the
// owner on has answered. A desk for each position, which no other thread touches: the calls that
// its owner collects for.
//
// Protocol:
//   follow   the members of a range stand in the order of their positions. From the first one on:
//            if its word is of this call, go on with the first member behind what the word says;
//            else that is the one to wait for. Behind the end all have answered.
//   begin    a member has run a call: if follow comes to the end of what it forwards it answers for
//            all of that at once, else it notes the call on its desk.
//   collect  in each poll: the same for the calls on the desk.
//   hand     a leaver answers for itself alone: whoever collects above it goes on with those that
//            it told.
//
// Order:
//   P8: release store of the word in answer -> acquire load in follow: what the member and those
//       below it did. A collector hands that on with its own store.
//
// A call may be complete, and its slot in use for another, while a member still collects for it
// (core.hpp, is_through). It then reads words, and perhaps names, of a later call, at worst
// believes its part to be through, and stores an answer of the earlier call, which nobody reads any
// more; when it is told of the later call it collects for that.
//
// Progress: follow is wait-free. A collector that sleeps is woken by those that it told; the holder
// of the slot by everybody. A member above a leaver is not woken by those below that leaver: it
// sees their answers when it wakes for something else, and the holder does not wait for it for ever
// (core.hpp, is_through).
//
// Checked by: verify/worlds/multicast_answers_world.cpp; tests/unit/multicast.
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "multicast/block.hpp"
#include "multicast/shape.hpp"
#include "multicast/snapshot.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::multicast {

template <class Env>
class Answers {
    using Fields = Block<Env>;
    using Number = typename Fields::Number;
    using Task = typename Fields::Task;
    using Word = typename Fields::Word;

public:
    explicit Answers(const Shape& shape)
        : size_(shape.size), slots_(shape.slots), desks_(shape.by_messages ? shape.size : 0),
          calls_(desks_.size() * shape.slots) {}

    /// Whether a word is an answer to this call.
    [[nodiscard]] static bool is_of(std::uint64_t word, Number number) noexcept {
        return word >> position_bits == (number & number_mask);
    }

    /// Owner of `p`, which is new.
    void forget(Position p) noexcept {
        if (!desks_.empty()) {
            desks_[p].open = 0;
        }
    }

    /// From the member at or behind `next` on: whether all members before `end` have answered. If
    /// not, `next` is the first that has not.
    [[nodiscard]] bool follow(const Fields& fields, std::uint32_t slot, Number number,
                              Position& next, Position end) const noexcept {
        const Snapshot<const Word> named(fields.named(slot));
        for (;;) {
            next = named.next(next, end);
            if (next >= end) {
                next = end;
                return true;
            }
            const std::uint64_t seen =
                fields.node(slot, next).answers.load(std::memory_order_acquire); // P8 acquire
            if (!is_of(seen, number)) {
                return false;
            }
            next = static_cast<Position>(seen & position_mask);
        }
    }

    /// Owner of `p` has run the call of a task.
    void begin(const Fields& fields, std::uint32_t slot, Position p, const Task& task) {
        CORYMB_ASSERT(task.end > p && task.end <= size_ && task.parent < 2 * size_);
        CORYMB_ASSERT((desks_[p].open >> slot & 1U) == 0 || call_of(p, slot).number < task.number);
        Call& call = call_of(p, slot);
        call = {task.number, p + 1, task.end, task.parent};
        desks_[p].open |= std::uint64_t{1} << slot;
        look(fields, slot, p);
    }
    /// Owner of `p`: answers where all that it told have.
    void collect(const Fields& fields, Position p) {
        for (std::uint64_t rest = desks_[p].open; rest != 0; rest &= rest - 1) {
            look(fields, static_cast<std::uint32_t>(std::countr_zero(rest)), p);
        }
    }
    /// Owner of `p`: collects no more.
    void hand_over(const Fields& fields, Position p) {
        if (desks_.empty()) {
            return;
        }
        for (std::uint64_t rest = std::exchange(desks_[p].open, 0); rest != 0; rest &= rest - 1) {
            const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
            answer(fields, slot, p, call_of(p, slot), p + 1);
        }
    }

private:
    // Numbers are compared by their last bits: a word of so long ago is not met again.
    static constexpr unsigned position_bits = 21;
    static constexpr std::uint64_t position_mask = (std::uint64_t{1} << position_bits) - 1;
    static constexpr std::uint64_t number_mask = ~std::uint64_t{0} >> position_bits;

    /// A call that an owner collects for.
    struct Call {
        Number number = 0;
        Position next = 0; ///< The first member that has not answered. Invariant: at most `end`.
        Position end = 0;
        std::uint32_t parent = 0; ///< The place that waits for the answer, as in a task.
    };
    struct alignas(cache_line_bytes) Desk {
        std::uint64_t open = 0; ///< A bit for each slot.
    };

    [[nodiscard]] Call& call_of(Position p, std::uint32_t slot) noexcept {
        return calls_[std::size_t{p} * slots_ + slot];
    }
    void look(const Fields& fields, std::uint32_t slot, Position p) {
        Call& call = call_of(p, slot);
        if (follow(fields, slot, call.number, call.next, call.end)) {
            CORYMB_ASSERT(call.next == call.end);
            desks_[p].open &= ~(std::uint64_t{1} << slot);
            answer(fields, slot, p, call, call.end);
        }
    }
    void answer(const Fields& fields, std::uint32_t slot, Position p, const Call& call,
                Position behind) {
        CORYMB_ASSERT(behind > p && behind <= call.end);
        fields.node(slot, p).answers.store(call.number << position_bits | behind,
                                           std::memory_order_release); // P8 release
        const Position above = call.parent < size_ ? call.parent : call.parent - size_;
        CORYMB_ASSERT(above < size_);
        auto& teller = fields.inbox(above).spot;
        teller.wake_if_parked();
        const auto holder = fields.head(slot).busy.load(std::memory_order_relaxed);
        const auto by = static_cast<Position>(holder & 0xffff'ffff) - 1;
        if (holder != 0 && holder != Fields::given_up && by != above) {
            auto& initiator = fields.inbox(by).spot;
            initiator.wake_if_parked();
        }
    }

    std::uint32_t size_;
    std::uint32_t slots_;
    std::vector<Desk> desks_; ///< Desks by position; none with acknowledgements by counters.
    std::vector<Call> calls_; ///< Calls by position and slot.
};

} // namespace corymb::multicast
