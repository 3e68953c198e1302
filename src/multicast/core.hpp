// SPDX-License-Identifier: Apache-2.0
// Purpose: tells the members of a group something and learns when all of them have done it, while
// others join and leave.
//
// Roles: every position has at most one owner, a thread that may be a member; any owner may be an
// initiator. A call has a slot of its own, so calls do not wait for each other. An owner of another
// process may end at any moment (is killed); one of those who notice declares it (`bury`).
//
// Layout: one block, by offsets (block.hpp); n positions, S slots, W = n / 64 words.
//   per            bytes  field      written by            read by
//   group          8 W    mask       owners (own bit)      initiators
//   position       8      mail       posters, owner        owner     bit s: slot s has a task
//   position       4      life       who holds, releases,  everybody     odd: held. One writer at
//                                    buries                              a time; every holder has
//                                                                        another life
//   position       4      spot       event_count.hpp
//   slot           8      busy       initiators            initiators    0, or whose it is
//   slot           8      phase      initiator             leavers   2 g - 1: collecting for call
//                                                                    number g; 2 g: its snapshot
//                                                                    stands
//   slot           8 W    snapshot   initiator, who adopts everybody named in it, leavers, heirs
//   slot           4      left       initiator, members    initiator    acknowledgements to come;
//                                                                        by messages: positions
//                                                                        not known to be through
//   slot           64     payload    initiator             members
//   slot, position 8      answers    forwarder, members    the same     to come of its part of the
//                                                                        tree; by messages: its own
//                                                                        answer (answers.hpp)
//   slot, position 24     task       poster                owner, who takes over: range, parent
//   slot, position 8      posted     poster                owner, who takes over, reporters
//   slot, position 8      forwarder  owner, who takes over the same      0, or who does it
//   slot, position 8      done       owner, heir           owner, initiator
//   slot, position 8      lost       heir                  initiator     the call that its owner
//                                                                        was buried in
//   slot, node     4      tally      members               the same      answers so far at a node
//                                                                        of the gather tree; 0
//                                                                        between calls
//
// Protocol:
//   initiator  1. busy = own (P5); 2. phase = collecting; 3. read each word of the mask with a
//              read-modify-write (A1) into the snapshot; 4. phase = stands (P2); 5. forward the
//              whole range, run its own part; 6. wait until `left` is 0; 7. busy = 0 (P5).
//   forward    the members of a range are cut into parts; the first member of each part gets it as
//              its task: write the task, posted = g (P3), set the slot's bit in its mail (P1),
//              wake it. Positions that are no members get nothing: the forwarder does their
//              share.
//   member     take the whole mail (P1), which is a hint: a bit whose task is done is passed over.
//              For each task: forward it unless another member has, run, then answer at its
//              counter (counters.hpp); the last to answer there goes on above it and at last at the
//              slot. At last done = g (P6), after which it does not touch the slot but for the
//              collecting of answers, which does no harm.
//   by messages  (answers.hpp) nothing is counted. A member answers when all that it told have, as
//              the initiator does; a leaver leaves that to those above it. A member that has run
//              and does not poll is in the way of answers: then `is_through` says whether the call
//              is complete.
//   take over  for each member with a task that was not forwarded: forward it in its name. If the
//              forwarder was buried, replace it and forward again: members that were told get
//              nothing but the hint once more. Only the holder of the slot, and members that still
//              owe their answer, may do so: until then the slot is not used again.
//   join       add the bit to the mask (A1).
//   leave      1. subtract the bit (A1); 2. for each slot wait until it is not collecting (P2);
//              3. if the snapshot has the bit and this call is not done: take mail until it is.
//   bury       the end of an owner is known: take its bit out of the mask, as a leave (A1), then
//              make its life even (P7). Nothing that it has begun is waited for any more. The
//              counters that it would have brought to 0 stay above it: such a call is complete
//              when each member named has done it or was buried.
//   hold       the heir of a position makes the life odd, goes through the slots as a leaver does
//              and answers in the name of the one before: lost = g if that was named and had not
//              done it, done = g.
//   adopt      replaces in `busy` an initiator that was buried, or has given the slot up (P5). A
//              snapshot that was not finished is emptied, because no member was told; a finished
//              one has its whole range forwarded again.
//
// Order:
//   A1: read-modify-writes of one word of the mask have one order. Snapshot before join: acquire of
//       the join sees all that came before the call. Join before snapshot: the member is told.
//       Snapshot before leave: acquire of the leave sees `collecting`, so the leaver finds that it
//       is named. Leave before snapshot: acquire of the snapshot sees all uses before the leave.
//   P1: release read-modify-write of `mail` in post -> acquire exchange in poll: publishes task,
//       snapshot, payload. Bits that others set in between continue the release sequence.
//   P2: release store of `phase` in begin and restore -> acquire load in settle and inherit:
//       publishes the snapshot. A later call that names the leaver cannot overtake: it would have
//       come before the leave, and then A1 shows its phase. So the snapshot that is read is that of
//       the phase, or has not the bit.
//   P3: release store of `posted` in post -> acquire load in take_over and serve: publishes the
//       task.
//   P5: release store of `busy` in finish and give_up -> acquire replacement in claim and adopt:
//       the slot's last user.
//   P6: release store of `done` in serve and inherit -> acquire load in is_through: what the
//       member did, and its last use of the slot, for the call whose counters will not reach 0.
//   P7: release store of `life` in end_life -> acquire loads in is_buried and is_buried_in: all
//       that it did. The kernel tells of the end of a process after the last of its stores; that
//       comes before `bury`.
//   `forwarder` only decides who forwards; all know the task. `posted` says to a member whether a
//   hint is new: acquire (P3), for a hint of an earlier call may find the post of a later one.
//
// Progress: join, poll, begin and take_over are wait-free but for callbacks; a call ends when each
// member named has polled or was buried. Leave and hold wait for initiators that collect, leave for
// the tasks that it owes; whoever waits may take over, then nobody who merely does not poll is in
// the way; and bury and adopt, then nobody who has ended is.
//
// Checked by: verify/worlds/multicast_world.cpp; tests/unit/multicast.
#pragma once

#include "base/assert.hpp"
#include "multicast/answers.hpp"
#include "multicast/block.hpp"
#include "multicast/counters.hpp"
#include "multicast/shape.hpp"
#include "multicast/snapshot.hpp"
#include "multicast/spread.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace corymb::multicast {

template <class Env>
class Core {
    using Fields = Block<Env>;
    using Head = typename Fields::Head;
    using Inbox = typename Fields::Inbox;
    using Node = typename Fields::Node;
    using Task = typename Fields::Task;
    using Word = typename Fields::Word;

public:
    using Claim = typename Fields::Claim;
    using Number = typename Fields::Number;
    using Spot = typename Fields::Spot;

    /// The bytes that a block must have for a shape; it is aligned to `line_pair_bytes`.
    static std::size_t bytes(const Shape& shape) { return Fields::bytes(shape); }

    /// Constructs the core in a new block, which outlives it.
    Core(std::byte* block, Shape shape, Reach reach) : Core(block, std::move(shape)) {
        fields_.make(shape_, reach);
    }
    /// Opens the block of another Core of this shape, perhaps in another process.
    Core(std::byte* block, Shape shape)
        : shape_(std::move(shape)), fields_(block, shape_), answers_(shape_), counters_(shape_) {}
    Core(const Core&) = delete; // Parts refer to each other.
    Core& operator=(const Core&) = delete;

    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] Spot& spot(Position p) noexcept { return inbox(p).spot; }
    [[nodiscard]] const Word& mail(Position p) const noexcept { return inbox(p).mail; }
    /// The number of the call that a slot is, or was last, in use for.
    [[nodiscard]] Number number(std::uint32_t slot) const noexcept {
        return head(slot).phase.load(std::memory_order_relaxed) / 2;
    }
    // The words that waiters look at.
    [[nodiscard]] const Word& posted(std::uint32_t slot, Position p) const noexcept {
        return node(slot, p).posted;
    }
    [[nodiscard]] const Word& done(std::uint32_t slot, Position p) const noexcept {
        return node(slot, p).done;
    }
    [[nodiscard]] const Word& answer(std::uint32_t slot, Position p) const noexcept {
        return node(slot, p).answers;
    }
    [[nodiscard]] static bool is_answer(std::uint64_t word, Number number) noexcept {
        return Answers<Env>::is_of(word, number);
    }

    /// Gives the free position `p` an owner, which must `inherit` before it joins. Calls of `hold`,
    /// `release` and `bury` for one position follow each other in the sense of the memory model.
    void hold(Position p) noexcept {
        // Continues the release sequence that P7 has begun.
        inbox(p).life.fetch_add(1, std::memory_order_relaxed);
        answers_.forget(p);
        inbox(p).spot.retract();
    }
    /// Owner of `p`: goes, no member and with nothing left to settle.
    void release(Position p) noexcept { end_life(p); }
    /// The owner of `p` has ended without that; the caller knows it of the kernel.
    void bury(Position p) noexcept {
        Word& word = fields_.mask(p / 64);
        if ((word.fetch_or(0, std::memory_order_relaxed) & bit_of(p)) != 0) {
            word.fetch_sub(bit_of(p), std::memory_order_acq_rel); // A1 acquire, A1 release
        }
        end_life(p);
    }
    [[nodiscard]] bool is_held(Position p) const noexcept {
        return inbox(p).life.load(std::memory_order_relaxed) % 2 == 1;
    }
    /// For the new owner of `p`: answers for the owner before, which may have been buried. False:
    /// `waiter` gave up because an initiator is collecting; call it again.
    template <class Waiter>
    [[nodiscard]] bool inherit(Position p, Waiter& waiter) {
        for (std::uint32_t slot = 0; slot < shape_.slots; ++slot) {
            Number phase = 0;
            if (!is_collected(slot, waiter, phase)) {
                return false;
            }
            Node& own = node(slot, p);
            if (is_named(slot, p) && !is_done(slot, p, phase / 2)) {
                own.lost.store(phase / 2, std::memory_order_relaxed);
            }
            own.done.store(phase / 2, std::memory_order_release); // P6 release
        }
        return true; // Hints left in the mail do no harm.
    }

    /// Owner of `p`: is a member from now on; it polls.
    void join(Position p) {
        const std::uint64_t before =
            fields_.mask(p / 64).fetch_add(bit_of(p), std::memory_order_acquire); // A1 acquire
        CORYMB_ASSERT((before & bit_of(p)) == 0);
    }
    /// Owner of `p`: is no member any more; it must `settle` before it stops to poll.
    void leave(Position p) {
        const std::uint64_t before = fields_.mask(p / 64).fetch_sub(
            bit_of(p), std::memory_order_acq_rel); // A1 acquire, A1 release
        CORYMB_ASSERT((before & bit_of(p)) != 0);
    }

    /// Results of `settle` beside the number of a slot.
    static constexpr int settled = -1;
    static constexpr int gave_up = -2;

    /// After `leave`: serves the calls that still name `p`, and returns `settled`. If `waiter`
    /// gives up: the slot of a call that names `p` and has not reached it, which `p` may take over;
    /// or `gave_up`, an initiator was collecting. Then it must be called again.
    template <class Waiter, class Run>
    [[nodiscard]] int settle(Position p, Waiter& waiter, const Run& run) {
        for (std::uint32_t slot = 0; slot < shape_.slots; ++slot) {
            Number phase = 0;
            if (!is_collected(slot, waiter, phase)) {
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
        answers_.hand_over(fields_, p);
        return settled;
    }

    /// A slot for a call of `p`, or -1: all are in use.
    [[nodiscard]] int claim(Position p) noexcept {
        const Claim own = claim_of(p);
        for (std::uint32_t slot = 0; slot < shape_.slots; ++slot) {
            auto& busy = head(slot).busy;
            if (busy.load(std::memory_order_relaxed) == 0 &&
                busy.replace(0, own, std::memory_order_acquire)) { // P5 acquire
                return static_cast<int>(slot);
            }
        }
        return -1;
    }
    /// The holder of a slot leaves its call to itself.
    void give_up(std::uint32_t slot) noexcept {
        head(slot).busy.store(given_up, std::memory_order_release); // P5 release
    }
    /// `p` becomes the holder of a slot that was given up, or whose holder was buried. False: it is
    /// another's, or free.
    [[nodiscard]] bool adopt(std::uint32_t slot, Position p) {
        auto& busy = head(slot).busy;
        const Claim seen = busy.load(std::memory_order_relaxed);
        if (seen == 0 || (seen != given_up && !is_buried(seen)) ||
            !busy.replace(seen, claim_of(p), std::memory_order_acquire)) { // P5 acquire
            return false;
        }
        restore(slot, p);
        return true;
    }

    /// Tells all present members but `initiator` itself. Returns whether `initiator` is a member,
    /// and must do its part.
    bool begin(std::uint32_t slot, Position initiator, const void* payload, std::size_t count) {
        Head& own = head(slot);
        CORYMB_ASSERT(static_cast<Position>(Env::peek(own.busy)) == initiator + 1);
        const Number phase = own.phase.load(std::memory_order_relaxed);
        CORYMB_ASSERT(phase % 2 == 0 && count <= payload_bytes);
        const Number number = phase / 2 + 1;
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
            CORYMB_DEBUG_ASSERT(Env::peek(fields_.named(slot)[word]) == members);
        }
        CORYMB_DEBUG_ASSERT(is_member == this->is_member(initiator) && !is_named(slot, initiator));
        own.payload.put(payload, count);
        if (by_messages()) {
            fields_.left(slot).store(shape_.size, std::memory_order_relaxed);
        } else {
            counters_.begin(fields_, slot);
        }
        own.phase.store(2 * number, std::memory_order_release); // P2 release
        CORYMB_DEBUG_ASSERT(std::memcmp(own.payload.view(count), payload, count) == 0);
        const std::uint32_t told =
            forward(slot, {number, shape_.size + initiator, 0, shape_.size}, first_time);
        if (!by_messages()) {
            counters_.begun(fields_, slot, told);
        }
        return is_member;
    }

    /// Holder of a slot.
    [[nodiscard]] bool is_complete(std::uint32_t slot) const noexcept {
        if (!by_messages()) {
            return counters_.is_complete(fields_, slot);
        }
        auto& left = fields_.left(slot);
        const std::uint32_t before = left.load(std::memory_order_relaxed);
        Position next = shape_.size - before;
        const bool is_end = answers_.follow(fields_, slot, number(slot), next, shape_.size);
        if (const Position rest = shape_.size - next; rest != before) {
            left.store(rest, std::memory_order_relaxed);
        }
        return is_end;
    }
    /// Holder of a slot: whether nobody named is waited for, the counters apart.
    [[nodiscard]] bool is_through(std::uint32_t slot) const noexcept {
        const Number number = this->number(slot);
        for (Position p = named_in(slot).next(0, shape_.size); p < shape_.size;
             p = named_in(slot).next(p + 1, shape_.size)) {
            if (!is_buried_in(slot, p, number) &&
                node(slot, p).done.load(std::memory_order_acquire) != number) { // P6 acquire
                return false;
            }
        }
        return true;
    }
    /// Holder of a slot through which everybody is: whether `p` was buried and had not done it.
    [[nodiscard]] bool was_lost(std::uint32_t slot, Position p) const noexcept {
        const Number number = this->number(slot);
        return is_named(slot, p) && (!is_done(slot, p, number) ||
                                     node(slot, p).lost.load(std::memory_order_relaxed) == number);
    }
    /// The slot of a complete call, after the last look at it.
    void finish(std::uint32_t slot) noexcept {
        if (fields_.left(slot).load(std::memory_order_relaxed) != 0) {
            counters_.reset(fields_, slot);
        }
        head(slot).busy.store(0, std::memory_order_release); // P5 release
    }

    /// For the owner of `p`: runs the calls that it was told, `run(slot, payload)`, which does not
    /// throw. Returns their number.
    template <class Run>
    int poll(Position p, const Run& run) {
        Word& own = inbox(p).mail;
        if (by_messages()) {
            answers_.collect(fields_, p);
        }
        if (own.load(std::memory_order_relaxed) == 0) [[likely]] {
            return 0;
        }
        const std::uint64_t mail = own.exchange(0, std::memory_order_acquire); // P1 acquire
        int count = 0;
        for (std::uint64_t rest = mail; rest != 0; rest &= rest - 1) {
            count += serve(static_cast<std::uint32_t>(std::countr_zero(rest)), p, run) ? 1 : 0;
        }
        return count;
    }

    /// `self` relieves members that have not polled yet of forwarding, not of running, and does the
    /// work that buried members have left.
    void take_over(std::uint32_t slot, Position self) {
        const Number number = this->number(slot);
        for (Position p = named_in(slot).next(0, shape_.size); p < shape_.size;
             p = named_in(slot).next(p + 1, shape_.size)) {
            Node& of = node(slot, p);
            if (of.posted.load(std::memory_order_acquire) != number) { // P3 acquire
                continue;
            }
            const Task task = of.read();
            if (task.first < task.end) {
                take_over(slot, p, task, self);
            }
        }
    }

    /// Number of the call that a slot is in use for, whose members are known; 0: none. Advice for
    /// observers.
    [[nodiscard]] Number under_way(std::uint32_t slot) const noexcept {
        const Number phase = head(slot).phase.load(std::memory_order_relaxed);
        const bool is_busy = head(slot).busy.load(std::memory_order_relaxed) != 0;
        const bool has_ended = fields_.left(slot).load(std::memory_order_relaxed) == 0;
        return is_busy && !has_ended && phase % 2 == 0 ? phase / 2 : 0;
    }

    [[nodiscard]] bool is_named(std::uint32_t slot, Position p) const noexcept {
        return named_in(slot).has(p);
    }
    /// Whether `p` has no owner and will not answer.
    [[nodiscard]] bool is_buried_in(std::uint32_t slot, Position p, Number number) const noexcept {
        return inbox(p).life.load(std::memory_order_acquire) % 2 == 0 && // P7 acquire
               !is_done(slot, p, number);
    }
    /// Whether the owner of `p` was buried before it had done the call.
    [[nodiscard]] bool is_lost(std::uint32_t slot, Position p, Number number) const noexcept {
        return is_buried_in(slot, p, number) ||
               node(slot, p).lost.load(std::memory_order_relaxed) == number;
    }
    /// Initiator: members named, itself not counted.
    [[nodiscard]] std::uint32_t named(std::uint32_t slot) const noexcept {
        return named_in(slot).count(0, shape_.size);
    }
    /// Whether `p` is a member at this moment.
    [[nodiscard]] bool is_member(Position p) const noexcept {
        return (fields_.mask(p / 64).load(std::memory_order_relaxed) & bit_of(p)) != 0;
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
    static constexpr Claim given_up = Fields::given_up;

    [[nodiscard]] Head& head(std::uint32_t slot) const noexcept { return fields_.head(slot); }
    [[nodiscard]] Inbox& inbox(Position p) const noexcept { return fields_.inbox(p); }
    [[nodiscard]] Node& node(std::uint32_t slot, Position p) const noexcept {
        return fields_.node(slot, p);
    }
    [[nodiscard]] Snapshot<const Word> named_in(std::uint32_t slot) const noexcept {
        return Snapshot<const Word>(fields_.named(slot));
    }
    [[nodiscard]] bool is_done(std::uint32_t slot, Position p, Number number) const noexcept {
        return node(slot, p).done.load(std::memory_order_relaxed) == number;
    }

    /// For assertions: the snapshot of a call that is not over has `p`.
    [[nodiscard]] bool names(std::uint32_t slot, Number number, Position p) const {
        return Env::peek(head(slot).phase) == 2 * number &&
               (Env::peek(fields_.named(slot)[p / 64]) & bit_of(p)) != 0;
    }
    /// Waits until no initiator is collecting; false: `waiter` gave up.
    template <class Waiter>
    [[nodiscard]] bool is_collected(std::uint32_t slot, Waiter& waiter, Number& phase) {
        return waiter.await(
            head(slot).phase, std::memory_order_acquire, // P2 acquire
            [](Number seen) { return seen % 2 == 0; }, phase);
    }
    [[nodiscard]] Claim claim_of(Position p) const noexcept {
        return Claim{inbox(p).life.load(std::memory_order_relaxed)} << 32 | (p + 1);
    }
    /// Whether the maker of a claim, which is not 0 and no `given_up`, is the owner no more.
    [[nodiscard]] bool is_buried(Claim claim) const noexcept {
        const auto p = static_cast<Position>(claim & 0xffff'ffff) - 1;
        return inbox(p).life.load(std::memory_order_acquire) != claim >> 32; // P7 acquire
    }
    void end_life(Position p) noexcept {
        auto& life = inbox(p).life;
        life.store(life.load(std::memory_order_relaxed) + 1,
                   std::memory_order_release); // P7 release
    }

    /// Does the work that the initiator of a slot has left undone.
    void restore(std::uint32_t slot, Position self) {
        Head& own = head(slot);
        const Number phase = own.phase.load(std::memory_order_relaxed);
        if (phase % 2 == 1) {
            for (std::uint32_t word = 0; word < fields_.words(); ++word) {
                fields_.named(slot)[word].store(0, std::memory_order_relaxed);
            }
            fields_.left(slot).store(0, std::memory_order_relaxed);
            own.phase.store(phase + 1, std::memory_order_release); // P2 release
        } else if (!is_complete(slot)) {
            static_cast<void>(
                forward(slot, {phase / 2, shape_.size + self, 0, shape_.size}, again));
        }
    }
    void take_over(std::uint32_t slot, Position p, const Task& task, Position self) {
        Node& of = node(slot, p);
        const Task part = part_of(task, p);
        const Claim forwarder = of.forwarder.load(std::memory_order_relaxed);
        if (forwarder == 0) {
            if (of.forwarder.replace(0, claim_of(self), std::memory_order_relaxed)) {
                const std::uint32_t told = forward(slot, part, first_time);
                if (!by_messages() && counters_.forwarded(of, told)) {
                    counters_.arrive(fields_, slot, task.parent);
                }
            }
        } else if (is_buried(forwarder) &&
                   of.forwarder.replace(forwarder, claim_of(self), std::memory_order_relaxed)) {
            static_cast<void>(forward(slot, part, again)); // Somebody's answer will lack.
        }
    }

    static constexpr bool again = true;
    static constexpr bool first_time = false;
    /// The part of a call that whoever forwards for `p` hands on. Where acknowledgements do not go
    /// back along its way, all know the place of the initiator.
    [[nodiscard]] Task part_of(const Task& task, Position p) const noexcept {
        return {task.number, counters_.gathers() ? task.parent : p, task.first, task.end};
    }
    /// Tells the first members of the parts of a range; returns how many.
    std::uint32_t forward(std::uint32_t slot, const Task& whole, bool is_again) {
        return spread(
            shape_, named_in(slot), whole.first, whole.end,
            [&](Position p, Position first, Position end) {
                post(slot, p, {whole.number, whole.parent, first, end}, is_again);
            },
            [](Position /*passed*/) {});
    }
    void post(std::uint32_t slot, Position p, const Task& task, bool is_again) {
        CORYMB_ASSERT(task.first == p + 1 && task.first <= task.end && task.end <= shape_.size);
        CORYMB_DEBUG_ASSERT(names(slot, task.number, p));
        Node& to = node(slot, p);
        Inbox& its = inbox(p);
        if (!is_again || to.posted.load(std::memory_order_relaxed) != task.number) {
            to.task.put(&task, sizeof task);
            if (!by_messages()) {
                counters_.post(to);
            }
            to.forwarder.store(0, std::memory_order_relaxed);
            to.posted.store(task.number, std::memory_order_release); // P3 release
        }
        its.mail.fetch_or(std::uint64_t{1} << slot, std::memory_order_release); // P1 release
        its.spot.wake_if_parked();
    }

    /// Forward first, run second: others wait for the forwarding. False: that is done already.
    template <class Run>
    bool serve(std::uint32_t slot, Position p, const Run& run) {
        Node& own = node(slot, p);
        if (own.posted.load(std::memory_order_acquire) <= // P3 acquire
            own.done.load(std::memory_order_relaxed)) {
            return false;
        }
        const Task task = own.read();
        CORYMB_DEBUG_ASSERT(names(slot, task.number, p));
        CORYMB_ASSERT(task.first == p + 1 && task.parent != p && task.parent < 2 * shape_.size);
        std::uint32_t at = p; // The place where it acknowledges.
        if (task.first >= task.end) {
            at = task.parent;
        } else if (own.forwarder.replace(0, claim_of(p), std::memory_order_relaxed)) {
            const std::uint32_t told = forward(slot, part_of(task, p), first_time);
            if (told == 0) {
                at = task.parent;
            } else if (!by_messages()) {
                // The member has not run yet, so this is not the last answer.
                static_cast<void>(counters_.forwarded(own, told));
            }
        }
        run(slot, head(slot).payload.view(payload_bytes));
        if (by_messages()) {
            answers_.begin(fields_, slot, p, task);
        } else {
            counters_.answer(fields_, slot, p, at, task.parent);
        }
        own.done.store(task.number, std::memory_order_release); // P6 release
        return true;
    }
    [[nodiscard]] bool by_messages() const noexcept { return shape_.by_messages; }

    Shape shape_;
    Fields fields_;
    Answers<Env> answers_;
    Counters<Env> counters_;
};

} // namespace corymb::multicast
