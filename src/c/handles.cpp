// SPDX-License-Identifier: Apache-2.0
#include "c/handles.hpp"

#include "c/kept_call.hpp"

#include <exception>
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

InHome::~InHome() {
    call_.reset();
    if (home_->team_is_gone && home_->slots.live() == 0 && !home_->user.is_busy()) {
        delete home_;
    }
}

void free_handle(corymb_team& handle) {
    const InHome freeing = InHome::when_free(*handle.home);
    Team team = std::move(handle.team);
    for (corymb_call* call : handle.calls) {
        AllSlots<corymb_call>::give_back(*call);
    }
    handle.calls.clear();
    // The requests keep their outcome, which the team gives them when it goes away.
    std::exception_ptr error;
    try {
        if (!handle.home->user.is_inherited()) { // A forked child drops what is its parent's.
            team.leave();
        }
    } catch (...) {
        error = std::current_exception();
    }
    leave(*std::exchange(handle.home, nullptr));
    AllSlots<corymb_team>::give_back(handle);
    if (error != nullptr) {
        std::rethrow_exception(error);
    }
}

void leave(RequestHome& home) noexcept {
    home.team_is_gone = true;
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
    request.home->slots.give_back(request);
}

} // namespace corymb::c
