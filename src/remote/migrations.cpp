// SPDX-License-Identifier: Apache-2.0
#include "remote/migrations.hpp"

#include "remote/remote_state.hpp"

#include <corymb/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corymb::detail {

void Migrations::require_here(const RemoteId& id, Rank from) const {
    if (id.is_named()) {
        return;
    }
    if (!returned_.empty() && returned_.contains({from, whole_of(id)})) {
        throw ObjectAway(id);
    }
    if (!is_away(id)) {
        return;
    }
    const std::uint32_t slot = here_->objects.find(id);
    if (slot == ObjectTable::no_slot) {
        throw ObjectAway(id);
    }
    throw ObjectHeld(*here_->objects.hold(slot));
}

bool Migrations::is_away(const RemoteId& id) const noexcept {
    const std::uint32_t slot = here_->objects.find(id);
    if (slot == ObjectTable::no_slot) {
        const Route* const route = here_->routes.find(id);
        return here_->transport.rank() != id.rank || (route != nullptr && route->is_home);
    }
    const Hold* const hold = here_->objects.hold(slot);
    return hold != nullptr && hold->keeps == Hold::Keeps::all;
}

Whereabouts Migrations::where(const RemoteId& id) const noexcept {
    const Rank own = here_->transport.rank();
    if (const std::uint32_t slot = here_->objects.find(id); slot != ObjectTable::no_slot) {
        return {own, here_->objects.moves(slot)};
    }
    const Route* const route = here_->routes.find(id);
    if (id.rank == own) {
        return route != nullptr && route->is_home ? route->known : Whereabouts();
    }
    return route != nullptr && route->known.rank >= 0 && route->known.rank != own
               ? route->known
               : Whereabouts{id.rank, 0};
}

void Migrations::release(std::uint32_t slot, const std::shared_ptr<Hold>& hold) noexcept {
    if (here_->objects.hold(slot) == hold.get()) {
        here_->objects.set_hold(slot, nullptr);
    }
    here_->revive(hold->requests);
}

std::shared_ptr<Departure> Migrations::begin(const RemoteId& id, const MovableType& type, Rank to,
                                             const std::shared_ptr<Hold>& hold, ObjectUse use) {
    departing_.emplace_back();
    try {
        departing_.back() = std::make_shared<Departure>(*here_, id, type, to, hold, std::move(use));
    } catch (...) {
        departing_.pop_back();
        throw;
    }
    return departing_.back();
}

void Migrations::forget(const Departure& departure) noexcept {
    departing_.remove_if([&](const auto& one) { return one.get() == &departure; });
}

void Migrations::arrive(const Arrival& arrival, const NewObject& object, Rank from) {
    auto hold = std::make_shared<Hold>();
    hold->keeps = Hold::Keeps::all;
    hold->from = from;
    here_->objects.add_guest(arrival.id, object, static_cast<std::uint32_t>(arrival.moves));
    here_->objects.set_hold(here_->objects.find(arrival.id), std::move(hold));
}

void Migrations::settle(const RemoteId& id, Rank from, bool is_here) noexcept {
    ObjectTable& objects = here_->objects;
    const std::uint32_t slot = objects.find(id);
    if (slot == ObjectTable::no_slot || objects.hold(slot) == nullptr ||
        objects.hold(slot)->from != from) {
        return;
    }
    const std::shared_ptr<Hold> hold = objects.take_hold(slot);
    if (!is_here) {
        objects.remove_whole(slot);
    } else if (Route* const route = here_->routes.find(id)) {
        route->learn({here_->transport.rank(), objects.moves(slot)});
        route->is_home = false;
    }
    here_->revive(hold->requests);
}

void Migrations::note_moved(const RemoteId& id, const Whereabouts& at) noexcept {
    Route* const route = here_->routes.find(id);
    if (route == nullptr || here_->objects.find(id) != ObjectTable::no_slot) {
        return;
    }
    if (at.rank >= 0) {
        route->learn(at);
    } else if (route->is_flushing) {
        route->is_home = false;
        route->known.rank = -1;
    } else {
        here_->routes.erase(id);
    }
}

void Migrations::tell_home(const RemoteId& id, const Whereabouts& at) noexcept {
    try {
        CallHeader header;
        header.kind = CallHeader::moved;
        here_->send_object_note(id.rank, header, id, at);
    } catch (...) { // It has gone.
    }
}

void Migrations::note_end(const RemoteId& id) noexcept {
    const Rank own = here_->transport.rank();
    if (Route* const route = here_->routes.find(id); route != nullptr && !route->is_flushing) {
        here_->routes.erase(id);
    } else if (route != nullptr) {
        route->known.rank = -1;
        route->is_home = false;
    }
    if (id.rank != own && !here_->is_lost(id.rank)) {
        tell_home(id, {-1, 0});
    }
}

void Migrations::lose(Rank gone) noexcept {
    for (auto one = returned_.lower_bound({gone, RemoteId()}); one != returned_.end();) {
        one = one->first == gone ? returned_.erase(one) : returned_.end();
    }
    for (const RemoteId& id : here_->objects.arriving_from(gone)) {
        settle(id, gone, true);
        if (id.rank != here_->transport.rank() && !here_->is_lost(id.rank)) {
            tell_home(id, where(id));
        }
    }
}

Departure::Departure(RemoteState& here, const RemoteId& id, const MovableType& type, Rank to,
                     std::shared_ptr<Hold> hold, ObjectUse use)
    : here_(&here), what_{id, here.objects.moves(use.slot()) + 1}, to_(to), slot_(use.slot()),
      hold_(std::move(hold)), use_(std::move(use)) {
    static_cast<void>(here.routes.get(id)); // So that nothing fails when it has gone.
    type.send(here, to, *this, what_, use_->object());
    hold_->keeps = Hold::Keeps::all;
}

void Departure::advance(const std::exception_ptr& failure) noexcept {
    const std::shared_ptr<Hold> kept = hold_; // The task may let go of this.
    if (stage_ == Stage::to_there && failure != nullptr) {
        stay(failure);
    } else if (stage_ == Stage::to_home || !tell_home()) {
        leave();
    } else {
        stage_ = Stage::to_home;
        return;
    }
    stage_ = Stage::over;
    kept->moment.release();
    here_->moves.forget(*this);
}

void Departure::stay(const std::exception_ptr& failure) noexcept {
    failure_ = failure;
    try {
        if (!here_->is_lost(to_)) { // It may have the object nevertheless.
            CallHeader header;
            header.kind = CallHeader::settled;
            here_->send_object_note(to_, header, what_.id, {-1, 0});
        }
    } catch (...) { // It has gone.
    }
    use_.reset();
    here_->moves.release(slot_, hold_);
}

bool Departure::tell_home() noexcept {
    const Rank home = what_.id.rank;
    if (home == here_->transport.rank() || home == to_ || here_->is_lost(home)) {
        return false;
    }
    return here_->tell_moved(home, what_.id, {to_, static_cast<std::uint32_t>(what_.moves)}, *this);
}

void Departure::leave() noexcept {
    const Rank own = here_->transport.rank();
    const Whereabouts there{to_, static_cast<std::uint32_t>(what_.moves)};
    Route& route = here_->routes.get(what_.id);
    route.learn(there);
    route.is_home = what_.id.rank == own;
    try {
        CallHeader header;
        header.kind = CallHeader::settled;
        here_->send_object_note(to_, header, what_.id, there);
    } catch (...) { // The other rank has gone, and the object with it.
    }
    here_->objects.set_hold(slot_, nullptr);
    here_->objects.remove_whole(slot_);
    use_.reset(); // Ends the object here.
    here_->revive(hold_->requests);
    here_->forget_some_route(what_.id);
}

} // namespace corymb::detail
