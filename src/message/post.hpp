// SPDX-License-Identifier: Apache-2.0
// The shared memory of a group of mailboxes, found by key in an arena as a team's is: one box a
// member, and channels that are made when they are first used.
#pragma once

#include "base/arena.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/message_ring.hpp"
#include "channel/notification_vector.hpp"
#include "channel/synchronised_ring.hpp"

#include <corymb/mailbox.hpp>

#include <cstddef>
#include <cstdint>

namespace corymb::message {

using Env = channel::StandardEnv;
using Ring = channel::MessageRing<Env>;
using Vector = channel::NotificationVector<Env>;
using SharedRing = channel::SynchronisedRing<Env>;

/// Kinds of objects in the arena; the `kind` of an ArenaKey.
enum class Kind : std::uint32_t { box, vector, ring, shared_ring };

/// The state of a member that all members see.
struct Box {
    /// `ended`: its process has, without closing it.
    enum State : std::uint32_t { free, open, closed, ended };

    explicit Box(Reach reach) noexcept : spot(reach), room(reach) {}

    channel::EventCount<Env> spot; ///< The member's, while it waits for messages.
    /// Senders that wait for room to send to this member sleep here.
    channel::EventCount<Env, channel::Sleepers::many> room;
    /// A State. A place that is closed or ended may be taken again, and is open then. Senders read
    /// it each time and its line stays with them.
    alignas(line_pair_bytes) Env::Atomic<std::uint32_t> state;
};

/// A handle; every process would have its own.
class Post {
public:
    Post(const Arena& arena, int size, const MailboxOptions& options)
        : arena_(arena), size_(static_cast<std::size_t>(size)),
          ring_(channel::SlotShape::of(options.capacity, options.message_bytes)),
          shared_(
              channel::SynchronisedShape::of(options.protocol == MailboxProtocol::srbp ? size_ : 1,
                                             options.capacity, options.message_bytes)) {}

    [[nodiscard]] const channel::SlotShape& ring_shape() const noexcept { return ring_; }
    [[nodiscard]] const channel::SynchronisedShape& shared_shape() const noexcept {
        return shared_;
    }
    [[nodiscard]] Arena& arena() noexcept { return arena_; }

    // May be called by any member at any time; they allocate on first use.
    [[nodiscard]] Box& box(Rank rank) {
        return arena_.find_or_make<Box>(key(Kind::box, -1, rank), arena_.memory().reach());
    }
    /// The box of a rank; null when no rank has asked for it. Call it with the memory's lock held.
    [[nodiscard]] Box* find_box(Rank rank) const noexcept {
        std::byte* const found = arena_.find(key(Kind::box, -1, rank));
        return found == nullptr ? nullptr : std::launder(reinterpret_cast<Box*>(found));
    }
    [[nodiscard]] Vector& vector(Rank to) {
        return *arena_.find_or_make_sized<Vector>(
            key(Kind::vector, -1, to), Vector::bytes(size_),
            [this](void* place) { new (place) Vector(size_); });
    }
    [[nodiscard]] Ring& ring(Rank from, Rank to) {
        return *arena_.find_or_make_sized<Ring>(key(Kind::ring, from, to), Ring::bytes(ring_),
                                                [this](void* place) { new (place) Ring(ring_); });
    }
    /// The ring of a pair; null until the sender has asked for it. Call it with the memory's lock
    /// held.
    [[nodiscard]] Ring* find_ring(Rank from, Rank to) const noexcept {
        std::byte* const found = arena_.find(key(Kind::ring, from, to));
        return found == nullptr ? nullptr : std::launder(reinterpret_cast<Ring*>(found));
    }
    [[nodiscard]] SharedRing& shared_ring(Rank to) {
        return *arena_.find_or_make_sized<SharedRing>(
            key(Kind::shared_ring, -1, to), SharedRing::bytes(shared_),
            [this](void* place) { new (place) SharedRing(shared_); });
    }

    /// An object of the arena, its receiver and perhaps its sender.
    struct Found {
        Rank to = -1;
        Box* box = nullptr;
        Ring* ring = nullptr;
        SharedRing* shared = nullptr;
    };
    /// All that were made, in no order, for a look from outside.
    template <class See>
    void visit(const See& see) const {
        const auto as = []<class T>(std::byte* place, T*& object) {
            object = std::launder(reinterpret_cast<T*>(place));
        };
        arena_.visit([&](const ArenaKey& of, std::byte* place) {
            Found found{of.to};
            switch (of.id == 0 ? static_cast<Kind>(of.kind) : Kind::vector) {
            case Kind::box: as(place, found.box); break;
            case Kind::ring: as(place, found.ring); break;
            case Kind::shared_ring: as(place, found.shared); break;
            case Kind::vector: return;
            }
            see(found);
        });
    }

private:
    static ArenaKey key(Kind kind, Rank from, Rank to) noexcept {
        return {static_cast<std::uint32_t>(kind), 0, from, to, 0};
    }

    Arena arena_;
    std::size_t size_;
    channel::SlotShape ring_;
    channel::SynchronisedShape shared_;
};

} // namespace corymb::message
