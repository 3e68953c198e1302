// SPDX-License-Identifier: Apache-2.0
#include "c/handles.hpp"

#include "c/kept_call.hpp"

#include <utility>

namespace corymb::c {

corymb_team* make_handle(Team&& team) {
    if (team.size() == 0) {
        return nullptr;
    }
    auto home = std::make_unique<RequestHome>();
    corymb_team& handle = AllSlots<corymb_team>::take();
    handle.team = std::move(team);
    handle.home = home.release();
    handle.is_of_threads = false;
    return &handle;
}

void free_handle(corymb_team& handle) noexcept {
    for (corymb_call* call : handle.calls) {
        AllSlots<corymb_call>::give_back(*call);
    }
    handle.calls.clear();
    handle.team = Team{};
    leave(*std::exchange(handle.home, nullptr));
    AllSlots<corymb_team>::give_back(handle);
}

void leave(RequestHome& home) noexcept {
    home.team_is_gone = true;
    if (home.slots.live() == 0) {
        delete &home;
    }
}

NewRequest::NewRequest(RequestHome& home) : slot_(&home.slots.take()) {
    slot_->home = &home;
}

NewRequest::~NewRequest() {
    if (slot_ != nullptr) {
        free_request(*slot_);
    }
}

corymb_request* NewRequest::keep() noexcept {
    return std::exchange(slot_, nullptr);
}

void free_request(corymb_request& request) noexcept {
    request.request = Request{};
    request.own_call.reset();
    RequestHome* const home = request.home;
    home->slots.give_back(request);
    if (home->team_is_gone && home->slots.live() == 0) {
        delete home;
    }
}

} // namespace corymb::c
