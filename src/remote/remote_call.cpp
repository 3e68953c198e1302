// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/now_or_later.hpp>
#include <corymb/detail/remote_call.hpp>

#include "remote/failures.hpp"
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

namespace {

[[noreturn]] void refuse_cycle(const CallChain& chain, const RemoteId& id) {
    throw Error(Errc::deadlock,
                "the call would wait for itself: the chain of calls that has led to it holds " +
                    text_of(chain) + ", and it needs object " + std::to_string(id.slot) +
                    " of rank " + std::to_string(id.rank) +
                    " again; call back by `post`, or let the methods interleave (call_rule)",
                ranks_of(chain));
}

} // namespace

bool is_pause_due() noexcept {
    return running_place().is_pause_due();
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

void serve_request(const Reply& reply, Task<> task, const char* runs, bool has_joined) {
    reply.here().serve(reply, std::move(task), runs, has_joined);
}

OutsideOfTasks::OutsideOfTasks(Strand& own) noexcept : own_(&own) {
    own.scheduler->running = nullptr;
}

OutsideOfTasks::~OutsideOfTasks() {
    own_->scheduler->running = own_;
}

bool CallSuspension::is_own(Strand& own, const RemoteId* object, bool is_of_chain) {
    if (own.is_stopped()) [[unlikely]] {
        refuse_stopped("the answer of a rank");
    }
    state_ = &remote_state(own);
    object_ = object;
    if (object != nullptr) {
        state_->objects.require_of_group(*object);
        to_ = state_->way_to(*object);
    }
    const bool is_here = to_ == state_->transport.rank() && state_->is_ready(object);
    if (is_here) {
        state_->request_chain = is_of_chain ? own.chain : nullptr;
    }
    return is_here;
}

bool CallSuspension::pause(Strand& own, std::coroutine_handle<> at) const noexcept {
    if (!state_->is_pause_due()) [[likely]] {
        return false;
    }
    own.suspend(at, "its next turn");
    own.make_ready();
    return true;
}

void CallSuspension::keep_thrown_here() noexcept {
    keep(arrived(std::current_exception(), to_));
}

void CallSuspension::require_good(const char* waited_for) const {
    require_not_stopped(waited_for);
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
}

AnswerAwait::~AnswerAwait() {
    if (is_waiting()) {
        withdraw();
    }
}

void AnswerAwait::start(Strand& own, std::coroutine_handle<> at, const RemoteFunction& function,
                        std::size_t bytes, const Reply::Writes& write) {
    call_ =
        state()
            .begin_call(to(), {this, nullptr}, own.chain, function, bytes, write, nullptr, object())
            .call;
    begin_always(own, at, "the answer of a rank");
}

void AnswerAwait::start_named(Strand& own, std::coroutine_handle<> at, std::string_view name,
                              std::span<const std::byte> argument) {
    static_cast<void>(is_own(own, nullptr));
    call_ = state().begin_named(to(), {this, nullptr}, name, argument);
    begin_always(own, at, "the answer of a rank");
}

Reply AnswerAwait::start_here() {
    call_ = state().begin_call_here({this, nullptr});
    return {state(), to(), call_};
}

void AnswerAwait::wait_here(Strand& own, std::coroutine_handle<> at) noexcept {
    begin_always(own, at, "the answer of a rank");
}

void AnswerAwait::fail_here() noexcept {
    keep_thrown_here();
    if (call_ != Reply::nobody) {
        state().end_call_here(std::exchange(call_, Reply::nobody));
    }
}

void AnswerAwait::require_answer() const {
    require_good("the answer of a rank");
}

/// A call of an object that has moved goes on to another rank than the one it was begun with.
Awaited AnswerAwait::awaited() const noexcept {
    return {nullptr, nullptr, state().receiver_of(call_), call_};
}

void AnswerAwait::withdraw() noexcept {
    if (call_ != Reply::nobody) {
        state().stop_call(call_);
    }
}

void AnswerAwait::expect(Strand& own, std::coroutine_handle<> at) {
    static_cast<void>(is_own(own, nullptr));
    call_ = state().expect(to(), *this);
    begin_always(own, at, "a rank");
}

void AnswerAwait::arrive() noexcept {
    if (is_waiting()) { // Else the rank has gone just before.
        unexpect();
        wake();
    }
}

void AnswerAwait::unexpect() noexcept {
    state().expect_no_more(std::exchange(call_, Reply::nobody));
}

PostAwait::~PostAwait() {
    if (is_waiting()) { // The rank leaves: its scopes go, too.
        state().drop_sending(*this, call_);
    }
}

bool PostAwait::start(Strand& own, const RemoteFunction& function, std::size_t bytes,
                      const Reply::Writes& write) {
    const auto started = state().begin_call(to(), {nullptr, is_counted_ ? own.inner : nullptr},
                                            is_counted_ ? own.chain : nullptr, function, bytes,
                                            write, this, object());
    call_ = started.call;
    return started.is_sent;
}

void PostAwait::suspend(Strand& own, std::coroutine_handle<> at) {
    begin_always(own, at, "room for a message to a rank");
}

Reply PostAwait::start_here(Strand& own) {
    if (is_counted_) {
        call_ = state().begin_call_here({nullptr, own.inner});
        own.inner->add();
    }
    return {state(), to(), call_};
}

void PostAwait::fail_here(Strand& own) noexcept {
    if (!is_counted_) {
        return;
    }
    keep_thrown_here();
    if (call_ != Reply::nobody) {
        state().end_call_here(call_);
    } else {
        own.inner->add();
    }
    const std::exception_ptr thrown = failure();
    keep(nullptr);
    own.inner->end_one(thrown);
}

void PostAwait::settle(std::exception_ptr failure) noexcept {
    if (failure != nullptr) {
        state().end_unsent(call_);
    }
    keep(std::move(failure));
    wake();
}

void PostAwait::require_sent() const {
    require_good("room for a message to a rank");
}

void PostAwait::withdraw() noexcept {
    state().stop_sending(*this, call_);
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

ObjectUse::ObjectUse(RemoteState& here, const RemoteId& id, const std::type_info& type,
                     const ObjectAccess& access)
    : here_(&here) {
    here.require_here(id);
    const ObjectTable::Use found = here.objects.use(id, type, access.count);
    object_ = found.object;
    slot_ = found.slot;
    if (access.rule == CallRule::interleaved ||
        (access.is_only_if_exclusive && !found.is_exclusive)) [[likely]] {
        return;
    }
    try {
        ObjectLock& lock = here.objects.lock(slot_);
        const Hold* const hold = here.objects.hold(slot_);
        if (hold != nullptr && hold->keeps == Hold::Keeps::exclusive &&
            held_by(here.request_chain, id) == CallRule::interleaved) {
            throw ObjectHeld(*here.objects.hold(slot_));
        }
        if (!lock.try_enter(access.rule)) {
            const CallRule held = held_by(here.request_chain, id);
            if (held == CallRule::shared && access.rule == CallRule::shared) {
                lock.enter_again();
            } else if (held != CallRule::interleaved) {
                refuse_cycle(here.request_chain, id);
            } else {
                entry_ = std::make_unique<ObjectEntry>(ObjectEntry{access.rule});
                lock.wait(*entry_);
            }
        }
    } catch (...) {
        here.objects.let_go(slot_);
        throw;
    }
    rule_ = access.rule;
}

ObjectUse::ObjectUse(ObjectUse&& other) noexcept
    : here_(std::exchange(other.here_, nullptr)), slot_(other.slot_), rule_(other.rule_),
      object_(other.object_), entry_(std::move(other.entry_)) {}

ObjectUse::~ObjectUse() {
    if (here_ != nullptr) {
        leave();
        here_->objects.let_go(slot_);
    }
}

void ObjectUse::leave() noexcept {
    if (rule_ == CallRule::interleaved) [[likely]] {
        return;
    }
    ObjectLock& lock = here_->objects.lock(slot_);
    if (is_in()) {
        lock.leave(rule_);
    } else {
        lock.forget(*entry_);
    }
    entry_.reset();
    rule_ = CallRule::interleaved;
}

bool ObjectUse::join_chain(const RemoteId& id) const {
    here_->request_serves = slot_ + 1;
    if (rule_ == CallRule::interleaved) {
        return false;
    }
    here_->request_chain = std::make_shared<const ChainLink>(
        ChainLink{id, rule_, here_->request_chain, slot_, nullptr});
    return true;
}

std::uint64_t ObjectUse::offset_of(const void* part) const noexcept {
    return here_->objects.offset_of(slot_, part);
}

RemoteId adopt(RemoteState& here, const NewObject& object) {
    return here.objects.add(object);
}

void abandon(RemoteState& here, const RemoteId& id) {
    here.require_here(id);
    here.objects.remove(id);
    here.moves.note_end(id);
}

void* local_object(const RemoteId& id, const std::type_info& type) {
    RemoteState& here = remote_state_here();
    if (id.rank >= 0 && id.group == here.objects.group() && here.is_away(id)) {
        return nullptr;
    }
    // An ObjectUse would ask whether the request that runs now, maybe another one, goes elsewhere.
    const ObjectTable::Use found = here.objects.use(id, type, 1);
    here.objects.let_go(found.slot);
    return found.object;
}

} // namespace detail

Rank here() {
    return detail::remote_state_here().transport.rank();
}

int ranks() {
    return detail::remote_state_here().transport.size();
}

} // namespace corymb
