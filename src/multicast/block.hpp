// SPDX-License-Identifier: Apache-2.0
// The shared memory of a group's ranks: one piece, in which everything is found by offsets.
// core.hpp defines the fields' meaning.
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "base/reach.hpp"
#include "channel/event_count.hpp"
#include "multicast/shape.hpp"
#include "multicast/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace corymb::multicast {

inline constexpr std::size_t payload_bytes = 64;

template <class Env>
class Block {
    template <class T>
    using Atomic = typename Env::template Atomic<T>;

public:
    using Number = std::uint64_t;
    /// The holder of work that only one rank may do: a position and its holder's life.
    using Claim = std::uint64_t;
    static constexpr Claim given_up = ~Claim{0};
    using Word = Atomic<std::uint64_t>;
    using Spot = channel::EventCount<Env>;

    /// Orders for a member: the range to forward, and the place of its answer.
    struct Task {
        Number number = 0;
        std::uint32_t parent = 0; ///< A position, or size + initiator: the slot itself.
        Position first = 0;       ///< Range to be forwarded.
        Position end = 0;
    };
    struct Inbox {
        explicit Inbox(Reach reach) noexcept : spot(reach) {}
        alignas(line_pair_bytes) Word mail;
        Atomic<std::uint32_t> life; ///< Odd: held. Each holder has another.
        Spot spot;
    };
    /// The snapshot follows in the same lines, for all members read both.
    struct Head {
        Word phase;
        Atomic<Claim> busy;
        typename Env::template Bytes<payload_bytes> payload;
    };
    struct alignas(line_pair_bytes) Left {
        Atomic<std::uint32_t> count;
    };
    /// A counter of the gather tree.
    struct alignas(cache_line_bytes) Tally {
        Atomic<std::uint32_t> count;
    };
    struct alignas(cache_line_bytes) Node {
        Word answers;
        Atomic<Number> posted;
        Atomic<Claim> forwarder;
        Atomic<Number> done;
        Atomic<Number> lost;
        typename Env::template Bytes<sizeof(Task)> task;

        [[nodiscard]] Task read() const {
            Task copy;
            std::memcpy(&copy, task.view(sizeof copy), sizeof copy);
            CORYMB_DEBUG_ASSERT(std::memcmp(&copy, task.view(sizeof copy), sizeof copy) == 0);
            return copy;
        }
    };

    /// The bytes that a shape needs, to be aligned to `line_pair_bytes`.
    static std::size_t bytes(const Shape& shape) { return Layout(shape).total; }

    /// Lies on `bytes(shape)` bytes, which outlive it; `make` constructs the fields in them.
    Block(std::byte* memory, const Shape& shape)
        : layout_(shape), mask_(reinterpret_cast<Word*>(memory)),
          inboxes_(reinterpret_cast<Inbox*>(memory + layout_.inboxes)),
          slots_(memory + layout_.slots) {}

    void make(const Shape& shape, Reach reach) noexcept {
        for (std::uint32_t word = 0; word < layout_.words; ++word) {
            new (mask_ + word) Word();
        }
        for (Position p = 0; p < shape.size; ++p) {
            new (inboxes_ + p) Inbox(reach);
        }
        for (std::uint32_t slot = 0; slot < shape.slots; ++slot) {
            new (&head(slot)) Head();
            new (slot_at(slot) + layout_.left) Left();
            for (std::uint32_t word = 0; word < layout_.words; ++word) {
                new (named(slot) + word) Word();
            }
            for (Position p = 0; p < shape.size; ++p) {
                new (&node(slot, p)) Node();
            }
            for (std::uint32_t at = 0; at < shape.gather.size(); ++at) {
                new (slot_at(slot) + layout_.tallies + at * sizeof(Tally)) Tally();
            }
        }
    }

    /// Words of the mask, and of each snapshot.
    [[nodiscard]] std::uint32_t words() const noexcept { return layout_.words; }
    /// 64 members of the group.
    [[nodiscard]] Word& mask(std::uint32_t word) const noexcept { return mask_[word]; }
    [[nodiscard]] Inbox& inbox(Position p) const noexcept { return inboxes_[p]; }
    [[nodiscard]] Head& head(std::uint32_t slot) const noexcept {
        return *reinterpret_cast<Head*>(slot_at(slot));
    }
    [[nodiscard]] Atomic<std::uint32_t>& left(std::uint32_t slot) const noexcept {
        return reinterpret_cast<Left*>(slot_at(slot) + layout_.left)->count;
    }
    [[nodiscard]] Atomic<std::uint32_t>& tally(std::uint32_t slot,
                                               std::uint32_t at) const noexcept {
        return reinterpret_cast<Tally*>(slot_at(slot) + layout_.tallies)[at].count;
    }
    [[nodiscard]] Node& node(std::uint32_t slot, Position p) const noexcept {
        return reinterpret_cast<Node*>(slot_at(slot) + layout_.nodes)[p];
    }
    /// The words of a slot's snapshot.
    [[nodiscard]] Word* named(std::uint32_t slot) const noexcept {
        return reinterpret_cast<Word*>(slot_at(slot) + layout_.snapshot);
    }

private:
    struct Layout {
        explicit Layout(const Shape& shape)
            : words((shape.size + 63) / 64), inboxes(rounded(words * sizeof(Word))),
              slots(inboxes + shape.size * sizeof(Inbox)), snapshot(sizeof(Head)),
              left(rounded(snapshot + words * sizeof(Word))), nodes(left + sizeof(Left)),
              tallies(nodes + shape.size * sizeof(Node)),
              slot_bytes(rounded(tallies + shape.gather.size() * sizeof(Tally))),
              total(slots + shape.slots * slot_bytes) {
            // The extents are disjoint and in this order.
            CORYMB_ASSERT(words * 64 >= shape.size && words * sizeof(Word) <= inboxes);
            CORYMB_ASSERT(inboxes + shape.size * sizeof(Inbox) <= slots);
            static_assert(sizeof(Head) % alignof(Word) == 0 && alignof(Head) <= line_pair_bytes);
            CORYMB_ASSERT(sizeof(Head) <= snapshot && snapshot + words * sizeof(Word) <= left);
            CORYMB_ASSERT(left + sizeof(Left) <= nodes);
            CORYMB_ASSERT(nodes + shape.size * sizeof(Node) <= tallies);
            CORYMB_ASSERT(tallies + shape.gather.size() * sizeof(Tally) <= slot_bytes);
            CORYMB_ASSERT(slots + shape.slots * slot_bytes <= total);
            CORYMB_ASSERT((inboxes | slots | left | nodes | slot_bytes) % line_pair_bytes == 0);
            CORYMB_ASSERT(tallies % cache_line_bytes == 0);
        }
        static std::size_t rounded(std::size_t bytes) noexcept {
            return (bytes + line_pair_bytes - 1) / line_pair_bytes * line_pair_bytes;
        }

        std::uint32_t words;
        std::size_t inboxes, slots;                             ///< Offsets in the block.
        std::size_t snapshot, left, nodes, tallies, slot_bytes; ///< Offsets in a slot.
        std::size_t total;
    };

    [[nodiscard]] std::byte* slot_at(std::uint32_t slot) const noexcept {
        return slots_ + slot * layout_.slot_bytes;
    }

    Layout layout_;
    Word* mask_;
    Inbox* inboxes_;
    std::byte* slots_;
};

} // namespace corymb::multicast
