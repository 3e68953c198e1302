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
    made = {object, &type, end, made.generation + 1, 0, true};
    return {rank_, slot, made.generation, group_};
}

ObjectTable::Place& ObjectTable::place(const RemoteId& id) {
    if (id.rank < 0) {
        refuse("the pointer is to no object");
    }
    if (!is_own(id)) {
        refuse("the pointer is of another group");
    }
    if (id.slot >= places_.size() || places_[id.slot].generation != id.generation ||
        !places_[id.slot].is_there) {
        refuse("the object that the pointer was to is gone");
    }
    return places_[id.slot];
}

void* ObjectTable::use(const RemoteId& id, const std::type_info& type) {
    Place& found = place(id);
    void* object = found.object;
    if (*found.type != type) {
        object = upcast_object(object, *found.type, type);
        if (object == nullptr) {
            refuse("the pointer is to a " + readable(found.type->name()) + ", not to a " +
                   readable(type.name()));
        }
    }
    ++found.uses;
    return object;
}

void ObjectTable::let_go(std::uint32_t slot) noexcept {
    if (--places_[slot].uses == 0 && !places_[slot].is_there) {
        clear(slot);
    }
}

void ObjectTable::remove(const RemoteId& id) {
    Place& found = place(id);
    found.is_there = false;
    if (found.uses == 0) {
        clear(id.slot);
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
