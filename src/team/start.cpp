// SPDX-License-Identifier: Apache-2.0
// Team's operations that do not block.
#include "team/call.hpp"
#include "team/member.hpp"

#include <corymb/team.hpp>

#include <utility>

namespace corymb {

namespace {

/// Of all barriers: making it anew takes as long as a part of one. Never destroyed: a program's
/// static objects may begin one.
const detail::Call& barrier_call = *new const detail::Call;

/// Nonblocking operations start at once, and are given back when that fails.
detail::Operation* begun(detail::Pending& pending, detail::Operation& operation, bool start) {
    if (start) {
        try {
            pending.start(operation);
        } catch (...) {
            pending.forget(operation);
            throw;
        }
    }
    return &operation;
}

detail::Operation* collective(detail::Member& member, const detail::Call& call, bool persistent,
                              std::shared_ptr<const void> keep = nullptr) {
    detail::Pending& pending = member.pending();
    return begun(pending, pending.make(call, persistent, std::move(keep)), !persistent);
}

detail::Operation* message(detail::Member& member, const detail::PairCall& call, bool persistent) {
    detail::Pending& pending = member.pending();
    return begun(pending, pending.make_pair(call.key, call.operands, persistent), !persistent);
}

} // namespace

Request Team::ibarrier() {
    return Request(collective(member(), barrier_call, false));
}

Request Team::barrier_init() {
    return Request(collective(member(), barrier_call, true));
}

Request Team::start(Mode mode, const detail::Wish& wish, std::shared_ptr<const void> keep) {
    const detail::Call& call = member().call_for(wish);
    if (keep == nullptr) {
        keep = call.layout;
    } else if (call.layout != nullptr) { // The operation needs it, beside what the caller says.
        using Kept = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
        keep = std::make_shared<const Kept>(std::move(keep), call.layout);
    }
    return Request(collective(member(), call, mode == Mode::persistent, std::move(keep)));
}

Request Team::start_send(Mode mode, const void* data, std::size_t bytes, Rank to) {
    // A send only reads; receive and send share the description of a message.
    const auto call =
        detail::pair_call(member(), team::Direction::send, const_cast<void*>(data), bytes, to);
    return Request(message(member(), call, mode == Mode::persistent));
}

Request Team::start_recv(Mode mode, void* data, std::size_t bytes, Rank from) {
    const auto call = detail::pair_call(member(), team::Direction::receive, data, bytes, from);
    return Request(message(member(), call, mode == Mode::persistent));
}

Request Team::keeping(Request request, std::shared_ptr<detail::Staging> staging) {
    request.operation_->staging = std::move(staging);
    return request;
}

std::size_t Team::progress() {
    return member().pending().progress();
}

void Team::complete_all() {
    member().pending().complete_all();
}

} // namespace corymb
