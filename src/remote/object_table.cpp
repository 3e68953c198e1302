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

RemoteId ObjectTable::add(const NewObject& object) {
    make_room(free_, places_.size() + 1); // So that `clear` cannot fail.
    if (free_.empty()) {
        places_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Place& made = places_[slot];
    made = {object, (made.generation + 1) & ~RemoteId::named, 0, true, nullptr};
    return {rank_, slot, made.generation, group_, 0};
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
    const std::uint32_t slot = id.is_named() ? named_slot(id, type) : id.slot;
    if (id.rank != rank_ || slot >= places_.size() || !places_[slot].is_there ||
        (!id.is_named() && places_[slot].generation != id.generation)) {
        refuse("the object that the pointer was to is gone");
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
    if (--places_[slot].uses == 0 && !places_[slot].is_there) {
        clear(slot);
    }
}

void ObjectTable::remove(const RemoteId& id) {
    if (id.is_named()) {
        refuse("a distributed object ends with its Distributed");
    }
    if (id.offset != 0) {
        refuse("the pointer is to a part of an object, which ends with the object");
    }
    remove_slot(slot_of(id, typeid(void)));
}

void ObjectTable::remove_named(const RemoteId& id) noexcept {
    remove_slot(std::exchange(names_.find(id.slot)->second.slot, no_slot));
}

void ObjectTable::remove_slot(std::uint32_t slot) noexcept {
    places_[slot].is_there = false;
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
    free_.push_back(slot); // Before the end: a destructor may make objects.
    if (place.object.end != nullptr) {
        place.object.end(object);
    }
}

} // namespace corymb::detail
