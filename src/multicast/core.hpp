// SPDX-License-Identifier: Apache-2.0
// Purpose: tells the members of a group something and learns when all of them have done it, while
// others join and leave.
//
// Roles: every position has one owner, a thread that may be a member; any owner may be an
// initiator. A call has a slot of its own, so calls do not wait for each other.
//
// Layout: one block, by offsets (block.hpp); n positions, S slots, W = n / 64 words.
//   per            bytes  field      written by            read by
//   group          8 W    mask       owners (own bit)      initiators
//   position       8      mail       posters, owner        owner     bit s: slot s has a task
//   position       4      spot       parking_spot.hpp
//   slot           4      busy       initiators            initiators
//   slot           8      phase      initiator             leavers   2 g - 1: collecting for call
//                                                                    number g; 2 g: its snapshot
//                                                                    stands
//   slot           8 W    snapshot   initiator             everybody named in it, leavers
//   slot           4      left       initiator, members    initiator    acknowledgements to come
//   slot           64     payload    initiator             members
//   slot, position 4      left       forwarder, members    the same     of its part of the tree
//   slot, position 24     task       poster                owner, who takes over: range, parent
//   slot, position 8      posted     poster                who takes over, reporters
//   slot, position 8      forwarded  owner, who takes over the same
//   slot, position 8      done       owner                 owner, reporters
//
// Protocol:
//   initiator  1. busy = 1 (P5); 2. phase = collecting; 3. read each word of the mask with a
//              read-modify-write (A1) into the snapshot; 4. phase = stands (P2); 5. forward the
//              whole range, run its own part; 6. wait until `left` is 0 (P4); 7. busy = 0 (P5).
//   forward    the members of a range are cut into parts; the first member of each part gets it as
//              its task: write the task, posted = g (P3), add the slot's bit to its mail (P1),
//              wake it. Positions that are no members get nothing: whoever forwards does their
//              share. Counters start with a bias, so that answers may come before the forwarder
//              has counted whom it told.
//   member     take the whole mail (P1); for each task: forward it unless somebody else has, run,
//              then subtract one from its counter (A2); who brings it to 0 goes on at the parent
//              and at last at the slot (P4). That subtraction is its last access to the slot.
//   take over  for each member with a task that nobody has forwarded: forward it in its name.
//              Only the initiator, and members that still owe their answer, may do so: until then
//              the slot is not used again.
//   join       add the bit to the mask (A1).
//   leave      1. subtract the bit (A1); 2. for each slot wait until it is not collecting (P2);
//              3. if the snapshot has the bit and this call is not done: take mail until it is.
//
// Order:
//   A1: read-modify-writes of one word of the mask have one order. Snapshot before join: acquire of
//       the join sees all that came before the call. Join before snapshot: the member is told.
//       Snapshot before leave: acquire of the leave sees `collecting`, so the leaver finds that it
//       is named. Leave before snapshot: acquire of the snapshot sees all uses before the leave.
//   P1: release addition to `mail` -> acquire exchange in poll: publishes task, snapshot, payload.
//       Additions of others in between continue the release sequence.
//   P2: release store of `phase` in begin -> acquire load in settle: publishes the snapshot. A
//       later call that names the leaver cannot overtake: it would have come before the leave, and
//       then A1 shows its phase. So the snapshot that is read is that of the phase, or has not the
//       bit.
//   P3: release store of `posted` -> acquire load in take_over: publishes the task.
//   A2: read-modify-writes of a position's `left`: the last one acquires all others and hands them
//       on with its own subtraction at the parent.
//   P4: release subtractions from the slot's `left` -> acquire load in is_complete: what all
//       members did, and their last use of the slot.
//   P5: release store of `busy` in finish -> acquire exchange in claim: the slot's last user.
//   `forwarded` only decides who forwards; both know the task. `done` is read by its writer, for
//   others it is advice.
//
// Progress: join, poll, begin and take_over are wait-free but for callbacks; a call ends when each
// member named has polled. Leave waits for initiators that collect and for the tasks that it owes;
// whoever waits may take over, then nobody who merely does not poll is in the way.
//
// Checked by: verify/worlds/multicast_world.cpp; tests/unit/multicast.
#pragma once

#include "multicast/block.hpp"
#include "multicast/shape.hpp"
#include "multicast/snapshot.hpp"
#include "multicast/spread.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace corymb::multicast {

/// Who has not answered, and how far it is.
enum class Progress : std::uint8_t { untold, told, running, done };

template <class Env>
class Core {
    using Fields = Block<Env>;
    using Head = typename Fields::Head;
    using Inbox = typename Fields::Inbox;
    using Node = typename Fields::Node;
    using Task = typename Fields::Task;
    using Word = typename Fields::Word;

public:
    using Number = typename Fields::Number;
    using Spot = typename Fields::Spot;

    /// What a block must have for a shape; it is aligned to `line_pair_bytes`.
    static std::size_t bytes(const Shape& shape) { return Fields::bytes(shape); }

    /// On a new block, which outlives it.
    Core(std::byte* block, Shape shape, Reach reach)
        : shape_(std::move(shape)), fields_(block, shape_) {
        fields_.make(shape_, reach);
    }

    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] Spot& spot(Position p) noexcept { return inbox(p).spot; }
    [[nodiscard]] const Word& mail(Position p) const noexcept { return inbox(p).mail; }

    /// Owner of `p`: is a member from now on; it polls.
    void join(Position p) noexcept {
        fields_.mask(p / 64).fetch_add(bit_of(p), std::memory_order_acquire); // A1 acquire
    }
    /// Owner of `p`: is no member any more; it must `settle` before it stops to poll.
    void leave(Position p) noexcept {
        fields_.mask(p / 64).fetch_sub(bit_of(p),
                                       std::memory_order_acq_rel); // A1 acquire, A1 release
    }

    /// What `settle` returns beside the number of a slot.
    static constexpr int settled = -1;
    static constexpr int gave_up = -2;

    /// After `leave`: serves the calls that still name `p`, and returns `settled`. If `waiter`
    /// gives up: the slot of a call that names `p` and has not reached it, which `p` may take over;
    /// or `gave_up`, an initiator was collecting. Then it must be called again.
    template <class Waiter, class Run>
    [[nodiscard]] int settle(Position p, Waiter& waiter, const Run& run) {
        for (std::uint32_t slot = 0; slot < shape_.slots; ++slot) {
            Number phase = 0;
            if (!waiter.await(
                    head(slot).phase, std::memory_order_acquire, // P2 acquire
                    [](Number seen) { return seen % 2 == 0; }, phase)) {
                return gave_up;
            }
            while (is_named(slot, p) && !is_done(slot, p, phase / 2)) {
                std::uint64_t mail = 0;
                if (!waiter.await(
                        inbox(p).mail, std::memory_order_relaxed,
                        [](std::uint64_t seen) { return seen != 0; }, mail)) {
                    return static_cast<int>(slot);
                }
                poll(p, run);
            }
        }
        return settled;
    }

    /// A slot for a call, or -1: all are in use.
    [[nodiscard]] int claim() noexcept {
        for (std::uint32_t slot = 0; slot < shape_.slots; ++slot) {
            auto& busy = head(slot).busy;
            if (busy.load(std::memory_order_relaxed) == 0 &&
                busy.exchange(1, std::memory_order_acquire) == 0) { // P5 acquire
                return static_cast<int>(slot);
            }
        }
        return -1;
    }

    /// Tells everybody who is a member now, but not `initiator` itself. Returns whether that is a
    /// member, and must do its part.
    bool begin(std::uint32_t slot, Position initiator, const void* payload,
               std::size_t count) noexcept {
        Head& own = head(slot);
        const Number number = own.phase.load(std::memory_order_relaxed) / 2 + 1;
        own.phase.store(2 * number - 1, std::memory_order_relaxed);
        bool is_member = false;
        for (std::uint32_t word = 0; word < fields_.words(); ++word) {
            std::uint64_t members = fields_.mask(word).fetch_add(
                0, std::memory_order_acq_rel); // A1 acquire, A1 release
            if (word == initiator / 64) {
                is_member = (members & bit_of(initiator)) != 0;
                members &= ~bit_of(initiator);
            }
            fields_.named(slot)[word].store(members, std::memory_order_relaxed);
        }
        own.payload.put(payload, count);
        own.left.store(bias, std::memory_order_relaxed);
        own.phase.store(2 * number, std::memory_order_release); // P2 release
        const std::uint32_t told = forward(slot, {number, shape_.size + initiator, 0, shape_.size});
        own.left.fetch_sub(bias - told, std::memory_order_relaxed);
        return is_member;
    }

    [[nodiscard]] bool is_complete(std::uint32_t slot) const noexcept {
        return head(slot).left.load(std::memory_order_acquire) == 0; // P4 acquire
    }
    /// The slot of a complete call, after the last look at it.
    void finish(std::uint32_t slot) noexcept {
        head(slot).busy.store(0, std::memory_order_release); // P5 release
    }

    /// Owner of `p`: runs what it was told, `run(slot, payload)`, which does not throw. Returns how
    /// much that was.
    template <class Run>
    int poll(Position p, const Run& run) {
        Word& own = inbox(p).mail;
        if (own.load(std::memory_order_relaxed) == 0) [[likely]] {
            return 0;
        }
        const std::uint64_t mail = own.exchange(0, std::memory_order_acquire); // P1 acquire
        for (std::uint64_t rest = mail; rest != 0; rest &= rest - 1) {
            serve(static_cast<std::uint32_t>(std::countr_zero(rest)), p, run);
        }
        return std::popcount(mail);
    }

    /// Relieves members that have not polled yet of forwarding, not of running.
    void take_over(std::uint32_t slot) noexcept {
        const Number number = head(slot).phase.load(std::memory_order_relaxed) / 2;
        for (Position p = named_in(slot).next(0, shape_.size); p < shape_.size;
             p = named_in(slot).next(p + 1, shape_.size)) {
            Node& of = node(slot, p);
            if (of.posted.load(std::memory_order_acquire) != number) { // P3 acquire
                continue;
            }
            const Task task = of.read();
            if (task.first < task.end &&
                of.forwarded.exchange(number, std::memory_order_relaxed) != number) {
                if (count_forwarded(of, forward(slot, {number, p, task.first, task.end}))) {
                    arrive(slot, task.parent);
                }
            }
        }
    }

    /// Number of the call that a slot is in use for, whose members are known; 0: none. Advice for
    /// whoever looks from outside.
    [[nodiscard]] Number under_way(std::uint32_t slot) const noexcept {
        const Number phase = head(slot).phase.load(std::memory_order_relaxed);
        const bool is_busy = head(slot).busy.load(std::memory_order_relaxed) != 0;
        const bool has_ended = head(slot).left.load(std::memory_order_relaxed) == 0;
        return is_busy && !has_ended && phase % 2 == 0 ? phase / 2 : 0;
    }

    /// How far the member `p` is; exact for the initiator, for others advice.
    [[nodiscard]] Progress progress(std::uint32_t slot, Position p) const noexcept {
        const Number number = head(slot).phase.load(std::memory_order_relaxed) / 2;
        const Node& of = node(slot, p);
        if (!is_named(slot, p) || is_done(slot, p, number)) {
            return Progress::done;
        }
        if (of.posted.load(std::memory_order_relaxed) != number) {
            return Progress::untold;
        }
        const bool waits = (inbox(p).mail.load(std::memory_order_relaxed) >> slot & 1) != 0;
        return waits ? Progress::told : Progress::running;
    }
    /// Initiator: members named, itself not counted.
    [[nodiscard]] std::uint32_t named(std::uint32_t slot) const noexcept {
        return named_in(slot).count(0, shape_.size);
    }
    /// Members at this moment.
    [[nodiscard]] std::uint32_t members() const noexcept {
        std::uint32_t count = 0;
        for (std::uint32_t word = 0; word < fields_.words(); ++word) {
            count += ones(fields_.mask(word).load(std::memory_order_relaxed));
        }
        return count;
    }

private:
    static constexpr std::uint32_t bias = 1U << 30U;

    [[nodiscard]] Head& head(std::uint32_t slot) const noexcept { return fields_.head(slot); }
    [[nodiscard]] Inbox& inbox(Position p) const noexcept { return fields_.inbox(p); }
    [[nodiscard]] Node& node(std::uint32_t slot, Position p) const noexcept {
        return fields_.node(slot, p);
    }
    [[nodiscard]] Snapshot<const Word> named_in(std::uint32_t slot) const noexcept {
        return Snapshot<const Word>(fields_.named(slot));
    }
    [[nodiscard]] bool is_named(std::uint32_t slot, Position p) const noexcept {
        return named_in(slot).has(p);
    }
    [[nodiscard]] bool is_done(std::uint32_t slot, Position p, Number number) const noexcept {
        return node(slot, p).done.load(std::memory_order_relaxed) == number;
    }

    /// Tells the first members of the parts of a range; returns how many.
    std::uint32_t forward(std::uint32_t slot, const Task& whole) noexcept {
        return spread(
            shape_, named_in(slot), whole.first, whole.end,
            [&](Position p, Position first, Position end) {
                post(slot, p, {whole.number, whole.parent, first, end});
            },
            [](Position /*passed*/) {});
    }
    void post(std::uint32_t slot, Position p, const Task& task) noexcept {
        Node& to = node(slot, p);
        Inbox& its = inbox(p);
        to.task.put(&task, sizeof task);
        to.left.store(bias, std::memory_order_relaxed);
        to.posted.store(task.number, std::memory_order_release);                 // P3 release
        its.mail.fetch_add(std::uint64_t{1} << slot, std::memory_order_release); // P1 release
        its.spot.wake_if_parked();
    }

    /// Forward first, run second: others wait for the forwarding.
    template <class Run>
    void serve(std::uint32_t slot, Position p, const Run& run) {
        Node& own = node(slot, p);
        const Task task = own.read();
        std::uint32_t at = p; // Where it acknowledges.
        if (task.first >= task.end) {
            at = task.parent;
        } else if (own.forwarded.exchange(task.number, std::memory_order_relaxed) != task.number) {
            const std::uint32_t told = forward(slot, {task.number, p, task.first, task.end});
            if (told == 0) {
                at = task.parent;
            } else {
                static_cast<void>(count_forwarded(own, told)); // It has not run yet: not the last.
            }
        }
        run(slot, head(slot).payload.view(payload_bytes));
        own.done.store(task.number, std::memory_order_relaxed);
        arrive(slot, at);
    }
    /// Replaces the bias by `told` answers and the member's own; whether all of them are there.
    static bool count_forwarded(Node& of, std::uint32_t told) noexcept {
        const std::uint32_t extra = bias - told - 1;
        return of.left.fetch_sub(extra, std::memory_order_acquire) == extra; // A2 acquire
    }
    /// One answer for a position's counter, and for its ancestors' as far as it was the last.
    void arrive(std::uint32_t slot, std::uint32_t at) noexcept {
        while (at < shape_.size) {
            Node& of = node(slot, at);
            const std::uint32_t parent = of.read().parent; // Not after the subtraction.
            if (of.left.fetch_sub(1, std::memory_order_acq_rel) != 1) { // A2 acquire, A2 release
                return;
            }
            at = parent;
        }
        Inbox& initiator = inbox(at - shape_.size);
        if (head(slot).left.fetch_sub(1, std::memory_order_release) == 1) { // P4 release
            initiator.spot.wake_if_parked();
        }
    }

    Shape shape_;
    Fields fields_;
};

} // namespace corymb::multicast
