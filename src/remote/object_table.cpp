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

RemoteId ObjectTable::add(void* object, const std::type_info& type, Delete end) {
    make_room(free_, places_.size() + 1); // So that `clear` cannot fail.
    if (free_.empty()) {
        places_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Place& made = places_[slot];
    made = {object, &type, end, (made.generation + 1) & ~RemoteId::named, 0, true};
    return {rank_, slot, made.generation, group_};
}

RemoteId ObjectTable::add_named(std::string_view name, void* object, const std::type_info& type,
                                Delete end) {
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
    known.slot = add(object, type, end).slot;
    return {rank_, hash, RemoteId::named | known.made++, group_};
}

std::uint32_t ObjectTable::named_slot(const RemoteId& id, const std::type_info& type) const {
    const std::uint32_t number = id.generation & ~RemoteId::named;
    const auto found = names_.find(id.slot);
    if (found == names_.end() || number >= found->second.made) {
        throw ObjectExpected(id, type);
    }
    return number + 1 == found->second.made ? found->second.slot : no_slot;
}

std::uint32_t ObjectTable::slot_of(const RemoteId& id, const std::type_info& type) const {
    if (id.rank < 0) {
        refuse("the pointer is to no object");
    }
    if (!is_own(id)) {
        refuse("the pointer is of another group");
    }
    const std::uint32_t slot = id.is_named() ? named_slot(id, type) : id.slot;
    if (slot >= places_.size() || !places_[slot].is_there ||
        (!id.is_named() && places_[slot].generation != id.generation)) {
        refuse("the object that the pointer was to is gone");
    }
    return slot;
}

ObjectTable::Use ObjectTable::use(const RemoteId& id, const std::type_info& type) {
    const std::uint32_t slot = slot_of(id, type);
    Place& found = places_[slot];
    void* object = found.object;
    if (*found.type != type) {
        object = upcast_object(object, *found.type, type);
        if (object == nullptr) {
            refuse("the pointer is to a " + readable(found.type->name()) + ", not to a " +
                   readable(type.name()));
        }
    }
    ++found.uses;
    return {object, slot};
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
    void* const object = std::exchange(place.object, nullptr);
    if (object == nullptr) {
        return;
    }
    place.is_there = false;
    free_.push_back(slot); // Before the end: a destructor may make objects.
    if (place.end != nullptr) {
        place.end(object);
    }
}

} // namespace corymb::detail
