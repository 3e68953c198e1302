// SPDX-License-Identifier: Apache-2.0
// How objects move between ranks. P is where the object is, N where it goes, H who has made it.
//
//  1. The move waits for its turn at P as an exclusive call does, and until no other call of the
//     object runs. Calls that exclude each other and come behind are kept back meanwhile; others
//     still run, since those that run may wait for what they do.
//  2. P keeps all calls back, writes the object into a call of N, and waits. If that fails, or N
//     ends, the object stays at P and is as it was.
//  3. N has the object, and keeps its calls back, too. P tells H where it is, and waits for that,
//     so that H always knows.
//  4. P ends its own object, tells N (`settled`), and sends back what it has kept, in order. N
//     serves what it has kept.
//
// If P ends before N was told, N goes on as if it had been, and tells H. If N ends behind step 2,
// the object ends with it. At no time does one of the two serve a call while the other may.
#pragma once

#include "remote/call_header.hpp"
#include "remote/hold.hpp"
#include "remote/routes.hpp"

#include <corymb/detail/remote_migration.hpp>
#include <corymb/rank.hpp>

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace corymb::detail {

struct RemoteState;

/// An object on its way from this rank. Lives until it is there, or stays.
class Departure final : public AnswerTaker {
public:
    /// As Migrations::begin.
    Departure(RemoteState& here, const RemoteId& id, const MovableType& type, Rank to,
              std::shared_ptr<Hold> hold, ObjectUse use);
    void settle(RemoteReader& /*answer*/) noexcept override { advance(nullptr); }
    void settle(std::exception_ptr failure) noexcept override { advance(failure); }

    [[nodiscard]] bool is_over() const noexcept { return stage_ == Stage::over; }
    /// What has kept the object here; null: it has gone.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

private:
    enum class Stage { to_there, to_home, over };
    void advance(const std::exception_ptr& failure) noexcept;
    void stay(const std::exception_ptr& failure) noexcept;
    void leave() noexcept;
    [[nodiscard]] bool tell_home() noexcept;

    RemoteState* here_;
    Arrival what_;
    Rank to_;
    std::uint32_t slot_;
    std::shared_ptr<Hold> hold_;
    std::optional<ObjectUse> use_;
    Stage stage_ = Stage::to_there;
    std::exception_ptr failure_;
};

/// The part of a rank in the moves of objects.
class Migrations {
public:
    explicit Migrations(RemoteState& here) noexcept : here_(&here) {}

    /// Whether a call of rank `from` may have the object; -1: no matter whose. Throws ObjectAway
    /// and ObjectHeld. An object that is gone is for the table to refuse.
    void require_here(const RemoteId& id, Rank from) const;
    /// Where the object is, as this rank knows.
    [[nodiscard]] Whereabouts where(const RemoteId& id) const noexcept;
    /// Whether the object is not here, and not gone either, or is held.
    [[nodiscard]] bool is_away(const RemoteId& id) const noexcept;
    /// A call of that rank for that object was sent back.
    void note_returned(Rank from, const RemoteId& id) { returned_.insert({from, whole_of(id)}); }
    /// All calls that it has sent before it knew have been.
    void note_flushed(Rank from, const RemoteId& id) noexcept {
        returned_.erase({from, whole_of(id)});
    }
    [[nodiscard]] bool has_returned() const noexcept { return !returned_.empty(); }

    /// Sends the object. Throws what the codec throws, and as `at`: then nothing has happened.
    std::shared_ptr<Departure> begin(const RemoteId& id, const MovableType& type, Rank to,
                                     const std::shared_ptr<Hold>& hold, ObjectUse use);
    void forget(const Departure& departure) noexcept;
    void arrive(const Arrival& arrival, const NewObject& object, Rank from);
    /// The rank that an object has come from has let go of it, or has kept it.
    void settle(const RemoteId& id, Rank from, bool is_here) noexcept;
    /// Another rank says where an object is that this one has made.
    void note_moved(const RemoteId& id, const Whereabouts& at) noexcept;
    void lose(Rank gone) noexcept;
    /// An object that is here ends: its maker is told.
    void note_end(const RemoteId& id) noexcept;
    /// Calls that it has kept go on.
    void release(std::uint32_t slot, const std::shared_ptr<Hold>& hold) noexcept;

private:
    void tell_home(const RemoteId& id, const Whereabouts& at) noexcept;
    RemoteState* here_;
    std::set<std::pair<Rank, RemoteId>> returned_;
    std::list<std::shared_ptr<Departure>> departing_;
};

} // namespace corymb::detail
