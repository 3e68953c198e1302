// SPDX-License-Identifier: Apache-2.0
// Team's operations that do not block.
#include "team/call.hpp"
#include "team/member.hpp"
#include "team/whole_scatter.hpp"

#include <corymb/detail/untyped.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <utility>

namespace corymb {

namespace {

/// The call of all barriers: making it anew takes as long as a part of one. Never destroyed,
/// because a program's static objects may begin a barrier.
const detail::Call& barrier_call = *new const detail::Call;

/// Nonblocking operations start at once, and are given back when that fails.
detail::Operation* begun(detail::Operation& operation, bool start) {
    if (start) {
        try {
            operation.driver->start(operation);
        } catch (...) {
            operation.driver->forget(operation);
            throw;
        }
    }
    return &operation;
}

detail::Operation* collective(detail::Member& member, const detail::Call& call, bool persistent,
                              std::shared_ptr<const void> keep = nullptr) {
    return begun(member.make(call, persistent, std::move(keep)), !persistent);
}

detail::Operation* message(detail::Member& member, const detail::PairCall& call, bool persistent) {
    return begun(member.pending().make_pair(call.key, call.operands, persistent), !persistent);
}

/// The kind of the message that this thread begins (detail/contents.hpp); 0: not set.
thread_local std::uint32_t contents_of_message = 0;

/// Sets `contents_of_message` for its own lifetime.
class Saying {
public:
    explicit Saying(std::uint32_t contents) noexcept { contents_of_message = contents; }
    Saying(const Saying&) = delete;
    Saying& operator=(const Saying&) = delete;
    ~Saying() { contents_of_message = 0; }
};

detail::PairCall message_call(const detail::Member& member, team::Direction direction, void* data,
                              std::size_t bytes, Rank peer) {
    member.require_one_node("a message between two ranks",
                            "it is not carried between nodes; send it by the library that the "
                            "carrier uses");
    detail::PairCall call = detail::pair_call(member, direction, data, bytes, peer);
    if (contents_of_message != 0) {
        team::CallDigest contents;
        contents.add({contents_of_message, 0});
        call.operands.signature ^= contents.signature();
    }
    return call;
}

/// Does the caller's work around a request and, inside it, the library's.
class Nested final : public detail::Staging {
public:
    Nested(std::shared_ptr<detail::Staging> outer, std::shared_ptr<detail::Staging> inner)
        : outer_(std::move(outer)), inner_(std::move(inner)) {}
    void before() override {
        outer_->before();
        inner_->before();
    }
    void after() override {
        inner_->after();
        outer_->after();
    }

private:
    std::shared_ptr<detail::Staging> outer_, inner_;
};

} // namespace

Request Team::ibarrier() {
    return Request(collective(*detail::InCall(member()), barrier_call, false));
}

Request Team::barrier_init() {
    return Request(collective(*detail::InCall(member()), barrier_call, true));
}

Request Team::start(Mode mode, const detail::Wish& wish, std::shared_ptr<const void> keep) {
    const detail::InCall own(member());
    if (detail::WholeScatter::is_needed_for(wish)) [[unlikely]] {
        const auto whole = std::make_shared<detail::WholeScatter>(rank(), size(), wish);
        if (mode == Mode::nonblocking) {
            whole->before();
        }
        return keeping(start(mode, whole->wish(), std::move(keep)), whole);
    }
    const detail::Call& call = own->call_for(wish);
    if (keep == nullptr) {
        keep = call.layout;
    } else if (call.layout != nullptr) { // The operation needs both.
        using Kept = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
        keep = std::make_shared<const Kept>(std::move(keep), call.layout);
    }
    return Request(collective(*own, call, mode == Mode::persistent, std::move(keep)));
}

Request Team::start_send(Mode mode, const void* data, std::size_t bytes, Rank to) {
    const detail::InCall own(member());
    // A send only reads; receive and send share the description of a message.
    const auto call = message_call(*own, team::Direction::send, const_cast<void*>(data), bytes, to);
    return Request(message(*own, call, mode == Mode::persistent));
}

Request Team::start_recv(Mode mode, void* data, std::size_t bytes, Rank from) {
    const detail::InCall own(member());
    const auto call = message_call(*own, team::Direction::receive, data, bytes, from);
    return Request(message(*own, call, mode == Mode::persistent));
}

Request detail::Untyped::send(Team& team, bool is_persistent, const Message& message, Rank to) {
    const Saying said(message.contents);
    return team.start_send(mode(is_persistent), message.data, message.bytes, to);
}

Request detail::Untyped::receive(Team& team, bool is_persistent, const Message& message,
                                 Rank from) {
    const Saying said(message.contents);
    return team.start_recv(mode(is_persistent), message.data, message.bytes, from);
}

Request Team::keeping(Request request, std::shared_ptr<detail::Staging> staging) {
    std::shared_ptr<detail::Staging>& own = request.operation_->staging;
    own = own ? std::make_shared<Nested>(std::move(staging), std::move(own)) : std::move(staging);
    return request;
}

std::size_t Team::progress() {
    return detail::InCall(member())->progress();
}

void Team::complete_all() {
    detail::InCall(member())->complete_all();
}

} // namespace corymb
