// SPDX-License-Identifier: Apache-2.0
#include <corymb/distributed.hpp>

#include "remote/remote_state.hpp"

#include <utility>

namespace corymb::detail {

NamedObject::NamedObject(std::string_view name, const NewObject& object) {
    RemoteState& here = remote_state_here();
    here_ = here.self;
    id_ = here.add_named(name, object);
}

NamedObject& NamedObject::operator=(NamedObject&& other) noexcept {
    if (this != &other) {
        remove();
        here_ = std::move(other.here_);
        id_ = other.id_;
    }
    return *this;
}

NamedObject::~NamedObject() {
    remove();
}

void NamedObject::remove() noexcept {
    if (const auto here = here_.lock()) {
        here->objects.remove_named(id_);
    }
}

} // namespace corymb::detail
