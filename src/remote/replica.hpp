// SPDX-License-Identifier: Apache-2.0
// Purpose: copies of one object, each shared by some ranks of a node, that apply the same
// operations in one order, out of one log. Readers read a copy in place and wait for nobody. After
// Calciu, Sen, Balakrishnan, Aguilera: Black-box Concurrent Data Structures for NUMA Architectures
// (ASPLOS 2017), but a copy is two instances, after Ramalhete, Correia: Left-Right (2013), instead
// of one with a lock of readers. A process may be killed at any step.
//
// Roles: a log for all; some replicas, each with its members; a ReplicaEnd for each member, which
// reads, asks for operations and combines: whoever has the replica's lock does the work of all its
// members.
//
// Layout (each line is a pair of cache lines):
//   line               bytes  field      written by        read by
//   log 0              8      lock       combiners         combiners    0, or a rank + 1
//   log 1              8      tail       combiners         all          where the log ends
//   log 2              24     sizes      maker             all
//   log 3 + r          8      progress   combiners of r    combiners    what r needs no more
//   log, behind        any    is open    its rank          combiners    4 bytes for each rank
//   log, behind        any    entries    combiners         combiners    8 bytes of head each
//   replica 0          8      lock       combiners         combiners    as of the log, or `broken`
//   replica 1          8      visible    combiners         members      position | instance
//   replica 2          8      users      members           members      how many have it open
//   replica 2          16     sizes      maker             members
//   slot 0             8      mark       its member        combiners    what it reads
//   slot 1             8      place      member, combiner  both         asked, or where it is
//   slot 1             8      bytes      its member        combiners    length of the operation
//   slot 1 and 2       240    outcome    combiner          its member
//   slot 3             any    operation  its member        combiners
//   The slot of member m begins at line 3 + m * (3 + the lines of the longest operation) of its
//   replica.
//
// Protocol:
//   reader    1. mark = starting; 2. full fence; 3. load `visible` (P2); 4. mark = reading that
//             instance; 5. read it; 6. mark = idle (P1).
//   member    1. write the operation, place = asking (P5); 2. combine until `visible` has reached
//             its place (P2).
//   combiner  1. take the replica's lock, also from a rank that is dead (P6); 2. full fence; wait
//             until no living member starts or reads the hidden instance (P1); 3. with the log's
//             lock (P7), append what members ask for, as far as there is room (P4), and store the
//             tail (P3); 4. apply to the hidden instance what it lacks up to the tail; where that
//             is an own member's operation, and no instance had it before, leave the outcome and
//             its place in the log there; 5. show the hidden instance (P2); 6. progress = what the
//             instance has that is hidden now (P4); 7. let go of the lock (P6).
//   If a combiner dies, the hidden instance may be half way in an operation, but the visible one is
//   whole. The next combiner copies it to the hidden one, appends nothing, and goes on with 4. An
//   operation of the dead combiner's members is in the log by then, or they still ask for it.
//
// Order:
//   P1: release store of `mark` in leave -> acquire load in await_readers: the reads of an instance
//       come before its next writes. The stores in enter are relaxed: nobody goes on because of the
//       first one, and the fence is between earlier reads and the second one.
//   P2: release store of `visible` in apply -> acquire loads in enter and is_done: the instance,
//       and the outcome.
//   P3: release store of `tail` in append -> acquire load in apply: the entries.
//   P4: release stores of `progress` in apply -> acquire load in least_progress: the reads of
//       entries come before their room is filled again.
//   P5: release store of `place` in ask -> acquire load in append: the operation.
//   P6: release store of the replica's `lock` in combine -> acquire replacement in take: all that
//       combiners write, and the hidden instance.
//   P7: the same with the log's `lock`, in append.
//   P8: release store of `is open` in close -> acquire load in is_open: the reads of entries by a
//       rank that has left come before their room is filled again.
//   F1: full_fence in enter between the store of `mark` and the load of `visible` <-> full_fence in
//       await_readers between the earlier store of `visible` and the loads of `mark`: either the
//       reader sees the instance that was shown last, or the combiner sees the reader. It is full
//       at both ends: the asymmetric pair would interrupt all CPUs of the node at each update.
//   A1: read-modify-writes of `users` in close: what all others have read and written comes before
//       the last one ends the instances.
//   Places are stored relaxed by the combiner, since P2 brings them. The looks of is_behind and
//   `end` are advice, or followed by `enter`.
//
// Progress: enter and leave are wait-free. A combiner waits as long as its waiter does: for others
// that combine, and for one read of each member that began before the instance was hidden. A dead
// member is not waited for. A replica whose progress stands still fills the log: then operations
// wait, and nothing else does. Positions have 64 bits and never wrap.
//
// Checked by: verify/worlds/replica_world.cpp (two replicas, two members of one, ends of a reader
// and of a combiner at any step, a full log, a replica that is left).
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"

#include <corymb/rank.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace corymb::remote {

/// A byte of the log, counted from its begin; a multiple of 8.
using Position = std::uint64_t;

/// In front of each operation in the log.
struct EntryHead {
    std::uint32_t bytes;   ///< Length of the operation.
    std::uint16_t replica; ///< Whose member has asked for it; nobody: room that is left free.
    std::uint16_t member;

    static constexpr std::uint16_t nobody = 0xffff;
    /// What an operation of so many bytes takes in the log.
    static constexpr std::size_t with(std::size_t bytes) noexcept {
        return (sizeof(EntryHead) + bytes + 7) / 8 * 8;
    }
};
static_assert(sizeof(EntryHead) == 8, "what is left at the end of the ring has room for a head");

/// Rounded up to whole lines.
constexpr std::size_t in_lines(std::size_t bytes) noexcept {
    return (bytes + line_pair_bytes - 1) / line_pair_bytes * line_pair_bytes;
}

template <class Env>
struct alignas(line_pair_bytes) ReplicaLine {
    typename Env::template Atomic<std::uint64_t> word;
};

/// Constructed once, in zeros of `bytes(...)`, by one of the ranks.
template <class Env>
class OperationLog {
public:
    using Line = ReplicaLine<Env>;
    static constexpr std::size_t bytes(std::size_t replicas, std::size_t ranks,
                                       std::size_t capacity) noexcept {
        return in_front(replicas, ranks) + capacity;
    }
    /// `capacity`: bytes of entries; a power of two, at least four times the longest entry.
    OperationLog(std::size_t replicas, std::size_t ranks, std::size_t capacity) noexcept
        : replicas_(replicas), capacity_(capacity), entries_(in_front(replicas, ranks)) {
        tail.word.store(capacity, std::memory_order_relaxed);
        for (std::size_t r = 0; r < replicas; ++r) {
            new (lines() + r) Line;
            progress(r).store(capacity, std::memory_order_relaxed);
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            new (flags() + rank) Flag;
        }
    }
    [[nodiscard]] std::size_t replicas() const noexcept { return replicas_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Where the first entry is.
    [[nodiscard]] Position begin() const noexcept { return capacity_; }
    [[nodiscard]] auto& progress(std::size_t replica) noexcept {
        return std::launder(lines() + replica)->word;
    }
    [[nodiscard]] std::byte* at(Position position) noexcept {
        return reinterpret_cast<std::byte*>(this) + entries_ + (position & (capacity_ - 1));
    }
    /// Where an entry of so many bytes ends that is put in at `from`. What is left of the ring is
    /// skipped if it is too short.
    [[nodiscard]] Position end_of(Position from, std::size_t bytes) const noexcept {
        const std::size_t left = capacity_ - (from & (capacity_ - 1));
        return from + (left < bytes ? left : 0) + bytes;
    }

    /// Before any rank combines: this one has the log open.
    void open(std::size_t rank) noexcept { flag(rank).store(1, std::memory_order_relaxed); }
    /// The rank combines no more.
    void close(std::size_t rank) noexcept {
        flag(rank).store(0, std::memory_order_release); // P8 release
    }
    [[nodiscard]] bool is_open(std::size_t rank) noexcept {
        return flag(rank).load(std::memory_order_acquire) != 0; // P8 acquire
    }
    /// 0: the rank does not have the log open.
    [[nodiscard]] auto& flag(std::size_t rank) noexcept { return *std::launder(flags() + rank); }

    Line lock;
    Line tail;

private:
    using Flag = typename Env::template Atomic<std::uint32_t>;
    static constexpr std::size_t in_front(std::size_t replicas, std::size_t ranks) noexcept {
        return sizeof(OperationLog) + replicas * sizeof(Line) + in_lines(ranks * sizeof(Flag));
    }
    [[nodiscard]] Line* lines() noexcept { return reinterpret_cast<Line*>(this + 1); }
    [[nodiscard]] Flag* flags() noexcept { return reinterpret_cast<Flag*>(lines() + replicas_); }
    std::size_t replicas_;
    std::size_t capacity_;
    std::size_t entries_; ///< Bytes in front of them.
};

/// What one member and its combiner tell each other.
template <class Env>
struct ReplicaSlot {
    /// Two lines with `place` and `bytes`.
    static constexpr std::size_t outcome_bytes = 2 * line_pair_bytes - 2 * sizeof(std::uint64_t);

    ReplicaLine<Env> mark;
    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> place;
    std::uint64_t bytes; ///< Length of the operation.
    std::byte outcome[outcome_bytes];
};

/// Constructed once, in zeros of `bytes(...)`, by one of the members.
template <class Env>
class ReplicaShared {
public:
    using Line = ReplicaLine<Env>;
    using Slot = ReplicaSlot<Env>;
    static constexpr std::size_t bytes(std::size_t members, std::size_t operation_bytes) noexcept {
        return sizeof(ReplicaShared) + members * stride(operation_bytes);
    }
    /// `begin`: of the log.
    ReplicaShared(std::size_t members, std::size_t operation_bytes, Position begin) noexcept
        : members_(members), operation_bytes_(operation_bytes) {
        visible.word.store(begin, std::memory_order_relaxed);
        for (std::size_t m = 0; m < members; ++m) {
            new (place(m)) Slot;
        }
    }
    [[nodiscard]] std::size_t members() const noexcept { return members_; }
    [[nodiscard]] std::size_t operation_bytes() const noexcept { return operation_bytes_; }
    [[nodiscard]] Slot& slot(std::size_t member) noexcept {
        return *std::launder(reinterpret_cast<Slot*>(place(member)));
    }
    [[nodiscard]] std::byte* operation(std::size_t member) noexcept {
        return place(member) + sizeof(Slot);
    }

    /// One more rank has it open; its maker has from the begin.
    void open() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
    /// Whether this was the last one.
    [[nodiscard]] bool close() noexcept {
        return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; // A1 acquire, A1 release
    }

    Line lock;
    Line visible;

private:
    static constexpr std::size_t stride(std::size_t operation_bytes) noexcept {
        return sizeof(Slot) + in_lines(operation_bytes);
    }
    [[nodiscard]] std::byte* place(std::size_t member) noexcept {
        return reinterpret_cast<std::byte*>(this + 1) + member * stride(operation_bytes_);
    }
    typename Env::template Atomic<std::uint64_t> users_{1};
    std::size_t members_;
    std::size_t operation_bytes_;
};

/// What became of a turn of `ReplicaEnd::combine`.
enum class Combined : std::uint8_t {
    done,
    held_up, ///< The waiter gave up waiting for others.
    full     ///< There was no room in the log for an operation.
};

/// A member's private end. An Object has
///   apply(instance, operation, bytes, outcome)   `outcome` is null, or takes what it gives;
///   copy(from, to)        from one instance to the other, if ranks may die;
///   rank_of(member)       of this replica;
///   is_dead(rank)         its process has ended;
///   is_abandoned(replica) all its members have left or are dead: nobody reads it any more.
template <class Env>
class ReplicaEnd {
public:
    using Log = OperationLog<Env>;
    using Shared = ReplicaShared<Env>;

    ReplicaEnd(Log& log, Shared& shared, std::size_t replica, std::size_t member,
               Rank rank) noexcept
        : log_(&log), shared_(&shared), replica_(static_cast<std::uint16_t>(replica)),
          member_(static_cast<std::uint16_t>(member)), key_(static_cast<std::uint64_t>(rank) + 1),
          least_(log.begin()) {}

    // Reading.
    /// The instance to read until `leave`.
    [[nodiscard]] std::size_t enter() noexcept {
        auto& mark = shared_->slot(member_).mark.word;
        CORYMB_DEBUG_ASSERT(Env::peek(mark) == Mark::idle);
        mark.store(Mark::starting, std::memory_order_relaxed);
        Env::full_fence(); // F1
        const std::size_t instance =
            instance_of(shared_->visible.word.load(std::memory_order_acquire)); // P2 acquire
        mark.store(Mark::reading + instance, std::memory_order_relaxed);
        return instance;
    }
    void leave() noexcept {
        shared_->slot(member_).mark.word.store(Mark::idle, std::memory_order_release); // P1 release
    }
    /// As advice: there are operations that the visible instance does not have.
    [[nodiscard]] bool is_behind() const noexcept { return !has(end()); }
    /// Where the log ends.
    [[nodiscard]] Position end() const noexcept {
        return log_->tail.word.load(std::memory_order_relaxed);
    }
    /// Whether the next read sees all operations before this position.
    [[nodiscard]] bool has(Position position) const noexcept {
        return position_of(shared_->visible.word.load(std::memory_order_relaxed)) >= position;
    }

    // Asking, for one operation at a time.
    /// Where to write the operation.
    [[nodiscard]] std::byte* operation() noexcept { return shared_->operation(member_); }
    void ask(std::size_t bytes) noexcept {
        CORYMB_ASSERT(bytes <= shared_->operation_bytes() && is_done());
        auto& slot = shared_->slot(member_);
        Env::note_write(&slot.bytes, sizeof slot.bytes);
        slot.bytes = bytes;
        slot.place.store(Place::asking, std::memory_order_release); // P5 release
    }
    /// Whether the next read of each member sees the operation that was asked for last.
    [[nodiscard]] bool is_done() const noexcept {
        // In this order: a place that is read later is not behind what was visible before.
        const Position seen =
            position_of(shared_->visible.word.load(std::memory_order_acquire)); // P2 acquire
        const Position place = shared_->slot(member_).place.load(std::memory_order_relaxed);
        return place != Place::asking && place <= seen;
    }
    /// What the operation has given that is done.
    [[nodiscard]] const std::byte* outcome() const noexcept {
        auto& slot = shared_->slot(member_);
        Env::note_read(slot.outcome, sizeof slot.outcome);
        return slot.outcome;
    }

    // Combining.
    template <class Waiter, class Object>
    [[nodiscard]] Combined combine(Waiter& waiter, Object& object) {
        const Taken taken = take(shared_->lock, waiter, object);
        if (taken == Taken::no) {
            return Combined::held_up;
        }
        const std::uint64_t shown = shared_->visible.word.load(std::memory_order_relaxed);
        const std::size_t hidden = 1 - instance_of(shown);
        if (!await_readers(hidden, waiter, object)) {
            let_go(shared_->lock, taken == Taken::whole ? Lock::free : Lock::broken);
            return Combined::held_up;
        }
        Position has = log_->progress(replica_).load(std::memory_order_relaxed);
        Combined came_of_it = Combined::done;
        if (taken == Taken::whole) {
            came_of_it = append(waiter, object);
        } else {
            object.copy(instance_of(shown), hidden);
            has = position_of(shown);
        }
        CORYMB_ASSERT(has <= position_of(shown));
        apply(hidden, has, position_of(shown), object);
        let_go(shared_->lock, Lock::free);
        return came_of_it;
    }

private:
    struct Mark {
        static constexpr std::uint64_t idle = 0;
        static constexpr std::uint64_t starting = 1;
        static constexpr std::uint64_t reading = 2; ///< The first instance; then the second.
    };
    struct Place {
        static constexpr std::uint64_t asking = 1; ///< Else the end of the last one in the log; 0.
    };
    struct Lock {
        static constexpr std::uint64_t free = 0;
        static constexpr std::uint64_t broken = ~std::uint64_t{0}; ///< Free, but see `Taken`.
    };
    enum class Taken : std::uint8_t {
        no,
        whole,
        after_death ///< The one before is dead, and may not have come to the end.
    };

    static constexpr std::size_t instance_of(std::uint64_t visible) noexcept {
        return visible & 1U;
    }
    static constexpr Position position_of(std::uint64_t visible) noexcept {
        return visible & ~std::uint64_t{7};
    }

    template <class Waiter, class Object>
    [[nodiscard]] Taken take(ReplicaLine<Env>& lock, Waiter& waiter, Object& object) {
        std::uint64_t seen = 0;
        const bool is_free = waiter.await(
            lock.word, std::memory_order_relaxed,
            [](std::uint64_t value) { return value == Lock::free || value == Lock::broken; }, seen);
        if (!is_free && !object.is_dead(static_cast<Rank>(seen - 1))) {
            return Taken::no;
        }
        if (!lock.word.replace(seen, key_, std::memory_order_acquire)) { // P6 acquire, P7 acquire
            return Taken::no;
        }
        return seen == Lock::free ? Taken::whole : Taken::after_death;
    }
    void let_go(ReplicaLine<Env>& lock, std::uint64_t as) noexcept {
        lock.word.store(as, std::memory_order_release); // P6 release, P7 release
    }

    /// Until no living member reads the hidden instance, or could begin to.
    template <class Waiter, class Object>
    [[nodiscard]] bool await_readers(std::size_t hidden, Waiter& waiter, Object& object) {
        Env::full_fence(); // F1
        const auto is_elsewhere = [hidden](std::uint64_t mark) {
            return mark != Mark::starting && mark != Mark::reading + hidden;
        };
        for (std::size_t member = 0; member < shared_->members(); ++member) {
            std::uint64_t seen = 0;
            if (!waiter.await(shared_->slot(member).mark.word,
                              std::memory_order_acquire, // P1 acquire
                              is_elsewhere, seen) &&
                !object.is_dead(object.rank_of(member))) {
                return false;
            }
        }
        return true;
    }

    /// Puts what members ask for into the log. With the replica's lock, so nobody else does it for
    /// them.
    template <class Waiter, class Object>
    [[nodiscard]] Combined append(Waiter& waiter, Object& object) {
        const std::size_t members = shared_->members();
        std::size_t asking = 0;
        while (asking != members && !asks(asking)) {
            ++asking;
        }
        if (asking == members) {
            return Combined::done;
        }
        if (take(log_->lock, waiter, object) == Taken::no) {
            return Combined::held_up;
        }
        // A combiner that died with this lock has left nothing but bytes behind the tail.
        const Position before = log_->tail.word.load(std::memory_order_relaxed);
        Position tail = before;
        bool has_room = true;
        for (std::size_t i = 0; i < members && has_room; ++i) { // Its own first.
            const std::size_t member = (member_ + i) % members;
            if (asks(member)) {
                has_room = put(tail, member, object);
            }
        }
        if (tail != before) {
            log_->tail.word.store(tail, std::memory_order_release); // P3 release
        }
        let_go(log_->lock, Lock::free);
        return has_room ? Combined::done : Combined::full;
    }
    [[nodiscard]] bool asks(std::size_t member) noexcept {
        return shared_->slot(member).place.load(std::memory_order_acquire) == // P5 acquire
               Place::asking;
    }
    /// One entry at `tail`, which moves on. False: there is no room.
    template <class Object>
    [[nodiscard]] bool put(Position& tail, std::size_t member, Object& object) {
        auto& slot = shared_->slot(member);
        Env::note_read(&slot.bytes, sizeof slot.bytes);
        const std::size_t bytes = EntryHead::with(slot.bytes);
        const Position end = log_->end_of(tail, bytes);
        const auto fits = [&] {
            return end - least_ <= log_->capacity();
        };
        if (!fits()) {
            least_ = least_progress(tail, object);
            if (!fits()) {
                return false;
            }
        }
        if (const std::size_t skipped = end - bytes - tail; skipped != 0) {
            write(tail,
                  {static_cast<std::uint32_t>(skipped - sizeof(EntryHead)), EntryHead::nobody, 0});
        }
        tail = end - bytes;
        write(tail, {static_cast<std::uint32_t>(slot.bytes), replica_,
                     static_cast<std::uint16_t>(member)});
        std::byte* const to = log_->at(tail) + sizeof(EntryHead);
        Env::note_read(shared_->operation(member), slot.bytes);
        Env::note_write(to, slot.bytes);
        std::memcpy(to, shared_->operation(member), slot.bytes);
        tail = end;
        return true;
    }
    void write(Position at, const EntryHead& head) noexcept {
        Env::note_write(log_->at(at), sizeof head);
        std::memcpy(log_->at(at), &head, sizeof head);
    }
    /// The first entry that a replica may still need.
    template <class Object>
    [[nodiscard]] Position least_progress(Position tail, Object& object) {
        Position least = tail;
        for (std::size_t r = 0; r < log_->replicas(); ++r) {
            const Position progress =
                log_->progress(r).load(std::memory_order_acquire); // P4 acquire
            if (progress < least && !object.is_abandoned(r)) {
                least = progress;
            }
        }
        return least;
    }

    /// Brings the hidden instance, which has all before `has`, to the end of the log, and shows it
    /// if the visible one, which has all before `shown`, has less.
    template <class Object>
    void apply(std::size_t hidden, Position has, Position shown, Object& object) {
        const Position tail = log_->tail.word.load(std::memory_order_acquire); // P3 acquire
        while (has != tail) {
            CORYMB_ASSERT(has < tail);
            EntryHead head;
            const std::byte* const entry = log_->at(has);
            Env::note_read(entry, sizeof head);
            std::memcpy(&head, entry, sizeof head);
            const Position next = has + EntryHead::with(head.bytes);
            if (head.replica != EntryHead::nobody) {
                const bool is_own = head.replica == replica_ && has >= shown;
                std::byte* outcome = nullptr;
                if (is_own) {
                    outcome = shared_->slot(head.member).outcome;
                    Env::note_write(outcome, ReplicaSlot<Env>::outcome_bytes);
                }
                Env::note_read(entry + sizeof head, head.bytes);
                object.apply(hidden, entry + sizeof head, head.bytes, outcome);
                if (is_own) {
                    shared_->slot(head.member).place.store(next, std::memory_order_relaxed);
                }
            }
            has = next;
        }
        if (tail != shown) {
            shared_->visible.word.store(tail | hidden, std::memory_order_release); // P2 release
        }
        log_->progress(replica_).store(shown, std::memory_order_release); // P4 release
    }

    Log* log_;
    Shared* shared_;
    std::uint16_t replica_;
    std::uint16_t member_;
    std::uint64_t key_;
    Position least_; ///< Invariant: all replicas had applied what is before it.
};

} // namespace corymb::remote
