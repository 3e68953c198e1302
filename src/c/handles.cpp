// SPDX-License-Identifier: Apache-2.0
#include "c/handles.hpp"

#include "c/kept_call.hpp"

#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
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

namespace {

/// Keeps a home without a team and requests for a while: a pointer to a request that was given back
/// still points to a tag that says so. Thread-safe.
void retire(RequestHome* home) noexcept {
    constexpr std::size_t homes_kept = 64; // As many as freed slots of a home.
    static auto* const mutex = new std::mutex;
    static auto* const retired = new std::deque<std::unique_ptr<RequestHome>>;
    std::unique_ptr<RequestHome> own(home);
    try {
        const std::lock_guard lock(*mutex);
        retired->push_back(std::move(own));
        if (retired->size() > homes_kept) {
            retired->pop_front();
        }
    } catch (const std::bad_alloc&) { // The home goes at once.
    }
}

} // namespace

InHome::~InHome() {
    call_.reset();
    if (home_->team_is_gone && home_->slots.live() == 0 && !home_->user.is_busy()) {
        retire(home_);
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
        if (!handle.home->user.is_inherited()) { // A forked child drops a handle of its parent.
            team.leave();
        }
    } catch (...) {
        error = std::current_exception();
    }
    Team{std::move(team)}; // Before its carrier.
    handle.over_nodes.reset();
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
