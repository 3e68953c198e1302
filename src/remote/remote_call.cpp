// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/remote_call.hpp>

#include "remote/remote_state.hpp"

#include <corymb/error.hpp>

#include <string>
#include <utility>

namespace corymb {

void RemoteReader::refuse_short(std::size_t wanted) const {
    throw Error(Errc::mismatch, "a message has " + std::to_string(rest_.size()) + " bytes where " +
                                    std::to_string(wanted) +
                                    " are expected; both ranks must use the same types");
}

void RemoteWriter::refuse_wrong_size() {
    throw Error(Errc::invalid_argument,
                "RemoteCodec::write has put more or fewer bytes than RemoteCodec::size has "
                "counted; mend the codec of the argument or result");
}

namespace detail {

RemoteState& remote_state(const Strand& of) {
    if (of.scheduler->place == nullptr) {
        throw Error(Errc::invalid_argument,
                    "this task runs on no rank of a RemoteGroup: run it by RemoteRank::run");
    }
    return *of.scheduler->place;
}

RemoteState& remote_state_here() {
    return running_place();
}

void Reply::send(std::size_t bytes, const Writes& write) const {
    here_->send_answer(*this, bytes, write);
}

void Reply::fail(const std::exception_ptr& thrown) const noexcept {
    here_->send_failure(*this, thrown);
}

void serve_request(const Reply& reply, Task<> task) {
    reply.here().serve(reply, std::move(task));
}

AnswerAwait::~AnswerAwait() {
    if (is_waiting()) {
        withdraw();
    }
}

void AnswerAwait::start(Strand& own, std::coroutine_handle<> at, const RemoteFunction& function,
                        std::size_t bytes, const Reply::Writes& write) {
    if (own.is_stopped()) {
        refuse_stopped("the answer of a rank");
    }
    state_ = &remote_state(own);
    call_ = state_->begin_call(to_, {this, nullptr}, function, bytes, write, nullptr).call;
    begin_always(own, at, "the answer of a rank");
}

void AnswerAwait::start_named(Strand& own, std::coroutine_handle<> at, std::string_view name,
                              std::span<const std::byte> argument) {
    if (own.is_stopped()) {
        refuse_stopped("the answer of a rank");
    }
    state_ = &remote_state(own);
    call_ = state_->begin_named(to_, {this, nullptr}, name, argument);
    begin_always(own, at, "the answer of a rank");
}

void AnswerAwait::require_answer() const {
    require_not_stopped("the answer of a rank");
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
}

void AnswerAwait::withdraw() noexcept {
    if (call_ != Reply::nobody) {
        state_->stop_call(call_);
    }
}

void AnswerAwait::expect(Strand& own, std::coroutine_handle<> at) {
    if (own.is_stopped()) {
        refuse_stopped("a rank");
    }
    state_ = &remote_state(own);
    call_ = state_->expect(to_, *this);
    begin_always(own, at, "a rank");
}

void AnswerAwait::arrive() noexcept {
    if (is_waiting()) { // Else the rank has gone just before.
        unexpect();
        wake();
    }
}

void AnswerAwait::unexpect() noexcept {
    state_->expect_no_more(std::exchange(call_, Reply::nobody));
}

PostAwait::~PostAwait() {
    if (is_waiting()) { // The rank leaves: its scopes go, too.
        state_->drop_sending(*this, call_);
    }
}

bool PostAwait::start(Strand& own, const RemoteFunction& function, std::size_t bytes,
                      const Reply::Writes& write, bool is_counted) {
    if (own.is_stopped()) {
        refuse_stopped("room for a message to a rank");
    }
    state_ = &remote_state(own);
    const auto started = state_->begin_call(to_, {nullptr, is_counted ? own.inner : nullptr},
                                            function, bytes, write, this);
    call_ = started.call;
    return started.is_sent;
}

void PostAwait::suspend(Strand& own, std::coroutine_handle<> at) {
    begin_always(own, at, "room for a message to a rank");
}

void PostAwait::settle(std::exception_ptr failure) noexcept {
    if (failure != nullptr) {
        state_->end_unsent(call_);
    }
    failure_ = std::move(failure);
    wake();
}

void PostAwait::require_sent() const {
    require_not_stopped("room for a message to a rank");
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
}

void PostAwait::withdraw() noexcept {
    state_->stop_sending(*this, call_);
}

EndOfAll::~EndOfAll() {
    if (is_waiting()) {
        withdraw();
    }
}

bool EndOfAll::enter(Strand& own, std::coroutine_handle<> at) {
    state_ = &remote_state(own);
    if (state_->end_own()) {
        return false;
    }
    begin(own, at, "the end of the tasks of all ranks");
    state_->await_end(this);
    return true;
}

void EndOfAll::withdraw() noexcept {
    state_->await_end(nullptr);
}

ObjectUse::ObjectUse(RemoteState& here, const RemoteId& id, const std::type_info& type)
    : here_(&here) {
    const ObjectTable::Use use = here.objects.use(id, type);
    slot_ = use.slot;
    object_ = use.object;
}

ObjectUse::ObjectUse(ObjectUse&& other) noexcept
    : here_(std::exchange(other.here_, nullptr)), slot_(other.slot_), object_(other.object_) {}

ObjectUse::~ObjectUse() {
    if (here_ != nullptr) {
        here_->objects.let_go(slot_);
    }
}

RemoteId adopt(RemoteState& here, void* object, const std::type_info& type, Delete end) {
    return here.objects.add(object, type, end);
}

void abandon(const RemoteId& id) {
    remote_state_here().objects.remove(id);
}

void* local_object(const RemoteId& id, const std::type_info& type) {
    RemoteState& here = remote_state_here();
    if (!here.objects.is_own(id)) {
        return nullptr;
    }
    const ObjectUse use(here, id, type);
    return use.object();
}

} // namespace detail

Rank here() {
    return detail::remote_state_here().transport.rank();
}

int ranks() {
    return detail::remote_state_here().transport.size();
}

} // namespace corymb
