// SPDX-License-Identifier: Apache-2.0
#include "remote/object_table.hpp"

#include "base/make_room.hpp"
#include "remote/functions.hpp"

#include <corymb/error.hpp>

#include <string>
#include <utility>

namespace corymb::detail {

namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

} // namespace

ObjectExpected::ObjectExpected(const RemoteId& expected, const std::type_info& type)
    : Error(Errc::invalid_argument,
            "rank " + std::to_string(expected.rank) + " has made no Distributed<" +
                readable(type.name()) +
                "> of this name; all ranks make the same ones, by the same names",
            {expected.rank}),
      id_(expected) {}

ObjectTable::~ObjectTable() {
    for (std::uint32_t slot = 0; slot < places_.size(); ++slot) {
        clear(slot);
    }
}

std::uint32_t ObjectTable::take_slot() {
    make_room(free_, places_.size() + 1); // So that `clear` cannot fail.
    if (free_.empty()) {
        places_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
}

RemoteId ObjectTable::add(const NewObject& object) {
    const std::uint32_t slot = take_slot();
    Place& made = places_[slot];
    const std::uint32_t generation = (made.generation + 1) & ~RemoteId::named;
    made = Place();
    made.object = object;
    made.generation = generation;
    made.is_there = true;
    return {rank_, slot, generation, group_, 0};
}

void ObjectTable::add_guest(const RemoteId& id, const NewObject& object, std::uint32_t moves) {
    const auto [guest, is_new] = guests_.try_emplace(whole_of(id), no_slot);
    if (!is_new) {
        throw Error(Errc::internal, "an object that is on this rank has come again");
    }
    try {
        const RemoteId place = add(object);
        guest->second = place.slot;
        places_[place.slot].moves = moves;
        places_[place.slot].guest = guest->first;
    } catch (...) {
        guests_.erase(guest);
        throw;
    }
}

std::uint32_t ObjectTable::find(const RemoteId& id) const noexcept {
    if (id.rank == rank_ && id.slot < places_.size()) {
        const Place& place = places_[id.slot];
        if (place.is_there && place.generation == id.generation && place.guest.rank < 0) {
            return id.slot;
        }
    }
    const auto found = guests_.find(whole_of(id));
    return found == guests_.end() ? no_slot : found->second;
}

std::shared_ptr<Hold> ObjectTable::take_hold(std::uint32_t slot) noexcept {
    std::shared_ptr<Hold> hold = places_[slot].hold;
    set_hold(slot, nullptr);
    return hold;
}

std::vector<RemoteId> ObjectTable::arriving_from(Rank from) const {
    std::vector<RemoteId> all;
    for (const auto& [id, slot] : guests_) {
        if (places_[slot].hold != nullptr && places_[slot].hold->from == from) {
            all.push_back(id);
        }
    }
    return all;
}

void ObjectTable::set_hold(std::uint32_t slot, std::shared_ptr<Hold> hold) noexcept {
    Place& place = places_[slot];
    holds_ += hold != nullptr ? 1U : 0U;
    holds_ -= place.hold != nullptr ? 1U : 0U;
    place.hold = std::move(hold);
}

RemoteId ObjectTable::add_named(std::string_view name, const NewObject& object) {
    const auto hash = static_cast<std::uint32_t>(hash_of(name));
    Name& known = names_[hash];
    if (known.made == 0) {
        known.text = name;
        known.slot = no_slot;
    } else if (known.text != name) {
        refuse("the names '" + known.text + "' and '" + std::string(name) +
               "' of distributed objects have one hash: give one of them another name");
    } else if (known.slot != no_slot) {
        refuse("this rank has a distributed object '" + known.text + "' already");
    }
    known.slot = add(object).slot;
    return {rank_, hash, RemoteId::named | known.made++, group_, 0};
}

void ObjectTable::refuse_foreign(const RemoteId& id) {
    refuse(id.rank < 0 ? "the pointer is to no object" : "the pointer is of another group");
}

bool ObjectTable::is_named_made(const RemoteId& id) const {
    const auto found = names_.find(id.slot);
    return found != names_.end() && (id.generation & ~RemoteId::named) < found->second.made;
}

std::uint32_t ObjectTable::named_slot(const RemoteId& id, const std::type_info& type) const {
    if (!is_named_made(id)) {
        throw ObjectExpected(id, type);
    }
    const Name& name = names_.find(id.slot)->second;
    return (id.generation & ~RemoteId::named) + 1 == name.made ? name.slot : no_slot;
}

std::uint32_t ObjectTable::slot_of(const RemoteId& id, const std::type_info& type) const {
    require_of_group(id);
    const std::uint32_t slot = id.is_named() ? named_slot(id, type) : find(id);
    if (slot == no_slot || (id.is_named() && id.rank != rank_)) {
        refuse(object_is_gone);
    }
    return slot;
}

ObjectTable::Use ObjectTable::use(const RemoteId& id, const std::type_info& type,
                                  std::size_t count) {
    const std::uint32_t slot = slot_of(id, type);
    Place& found = places_[slot];
    const NewObject& whole = found.object;
    const std::uint64_t number = id.offset == 0 ? 0 : id.offset / whole.bytes;
    const std::uint64_t within = id.offset - number * whole.bytes;
    if (number >= whole.count) {
        refuse("the pointer is to element " + std::to_string(number) + " of " +
               std::to_string(whole.count));
    }
    void* object = static_cast<std::byte*>(whole.first) + number * whole.bytes;
    std::uint64_t behind = whole.count - number;
    if (within != 0 || *whole.type != type) {
        object = part_of(object, *whole.type, within, type);
        behind = 1;
        if (object == nullptr) {
            refuse("the pointer is to a " + readable(whole.type->name()) +
                   ", or to a part of one, not to a " + readable(type.name()));
        }
    }
    if (count > behind) {
        refuse("there are " + std::to_string(behind) + " elements from the pointer on, not " +
               std::to_string(count));
    }
    ++found.uses;
    return {object, slot, whole.is_exclusive};
}

std::uint64_t ObjectTable::offset_of(std::uint32_t slot, const void* part) const noexcept {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(part) -
                                      static_cast<const std::byte*>(places_[slot].object.first));
}

void ObjectTable::let_go(std::uint32_t slot) noexcept {
    Place& place = places_[slot];
    if (--place.uses != 0) {
        return;
    }
    if (!place.is_there) {
        clear(slot);
    } else if (place.hold != nullptr && place.hold->is_for_idle) [[unlikely]] {
        place.hold->is_for_idle = false;
        place.hold->keeps = Hold::Keeps::all;
        place.hold->moment.release();
    }
}

void ObjectTable::remove(const RemoteId& id) {
    if (id.is_named()) {
        refuse("a distributed object ends with its Distributed");
    }
    if (id.offset != 0) {
        refuse("the pointer is to a part of an object, which ends with the object");
    }
    remove_whole(slot_of(id, typeid(void)));
}

void ObjectTable::remove_named(const RemoteId& id) noexcept {
    remove_whole(std::exchange(names_.find(id.slot)->second.slot, no_slot));
}

void ObjectTable::remove_whole(std::uint32_t slot) noexcept {
    places_[slot].is_there = false;
    if (places_[slot].guest.rank >= 0) {
        guests_.erase(places_[slot].guest);
    }
    if (places_[slot].uses == 0) {
        clear(slot);
    }
}

void ObjectTable::clear(std::uint32_t slot) noexcept {
    Place& place = places_[slot];
    void* const object = std::exchange(place.object.first, nullptr);
    if (object == nullptr) {
        return;
    }
    place.is_there = false;
    place.lock.reset();
    if (place.hold != nullptr) {
        place.hold->moment.release(); // A move has waited, which finds nothing now.
        set_hold(slot, nullptr);
    }
    free_.push_back(slot); // Before the end: a destructor may make objects.
    if (place.object.end != nullptr) {
        place.object.end(object);
    }
}

} // namespace corymb::detail
