// SPDX-License-Identifier: Apache-2.0
// Calls by name, as those have them who call and those who are called.
#include "remote/remote_state.hpp"

#include <corymb/error.hpp>
#include <corymb/remote_name.hpp>

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

namespace corymb {

namespace detail {

namespace {

/// For calls outside of tasks and in them, by the thread of the rank.
class InRank {
public:
    explicit InRank(RemoteState& state)
        : call_(SchedulerAccess::state(state.scheduler).user.enter()) {}

private:
    OneUser::Call call_;
};

/// The rank, unless it has left or is a parent process's.
RemoteState* usable(const std::weak_ptr<RemoteState>& rank) noexcept {
    RemoteState* const found = rank.lock().get();
    return found != nullptr && !SchedulerAccess::state(found->scheduler).user.is_inherited()
               ? found
               : nullptr;
}

} // namespace

/// A request that was not answered yet.
struct PendingReply {
    PendingReply(const Reply& to, std::weak_ptr<RemoteState> of, std::stop_token token)
        : reply(to), rank(std::move(of)), stop(std::move(token)) {}
    PendingReply(const PendingReply&) = delete;
    PendingReply& operator=(const PendingReply&) = delete;
    ~PendingReply() {
        if (!is_answered && usable(rank) != nullptr) {
            fail(std::make_exception_ptr(
                Error(Errc::team_broken, "the function has ended without an answer")));
        }
    }
    void fail(const std::exception_ptr& thrown) noexcept {
        is_answered = true;
        reply.fail(thrown);
        reply.here().push_on();
    }

    Reply reply;
    std::weak_ptr<RemoteState> rank; ///< Empty when the rank has left.
    std::stop_token stop;
    bool is_answered = false;
};

/// A call that was not taken yet.
struct PendingCall final : AnswerTaker {
    PendingCall(RemoteState& of, Rank called, std::string_view of_function)
        : rank(of.self), to(called), name(of_function) {}
    PendingCall(const PendingCall&) = delete;
    PendingCall& operator=(const PendingCall&) = delete;
    ~PendingCall() {
        RemoteState* const begun = usable(rank);
        if (begun != nullptr && !is_over && call != Reply::nobody) {
            begun->stop_call(call);
            begun->push_on();
        }
    }

    void settle(RemoteReader& found) noexcept override {
        try {
            const auto bytes = found.take(found.left());
            answer.assign(bytes.begin(), bytes.end());
        } catch (...) {
            failure = std::current_exception();
        }
        end();
    }
    void settle(std::exception_ptr thrown) noexcept override {
        failure = std::move(thrown);
        end();
    }
    void end() noexcept {
        is_over = true;
        if (const auto f = std::exchange(then, nullptr); f != nullptr) {
            f(); // May take the answer, which is the end of this object.
        }
    }
    /// Throws Errc::invalid_argument if the rank has left.
    [[nodiscard]] RemoteState& state() const {
        RemoteState* const begun = rank.lock().get();
        if (begun == nullptr) {
            throw Error(Errc::invalid_argument,
                        "the rank that has begun the call of '" + name + "' has left its group");
        }
        return *begun;
    }

    std::weak_ptr<RemoteState> rank; ///< Empty when the rank has left.
    Rank to;
    std::string name;
    std::uint32_t call = Reply::nobody;
    bool is_over = false;
    std::vector<std::byte> answer;
    std::exception_ptr failure;
    std::function<void()> then;
};

namespace {

RemoteState& state_of(RemoteRank& own) {
    return *SchedulerAccess::state(own.scheduler()).place;
}

bool run_until(RemoteState& state, const std::function<bool()>& done, std::int64_t limit_ns) {
    const InRank call(state);
    return SchedulerAccess::state(state.scheduler).run_until(done, limit_ns);
}

/// Writes the parts one after the other.
void send(const Reply& reply, const ByteParts& result) {
    if (!reply.is_wanted()) {
        return;
    }
    std::size_t bytes = 0;
    for (const auto part : result) {
        bytes += part.size();
    }
    const auto write = [&result](RemoteWriter& to) {
        for (const auto part : result) {
            to.put(part.data(), part.size());
        }
    };
    reply.here().send_answer(reply, bytes, Reply::Writes(write));
}

} // namespace

void NamedAwait::take(RemoteReader& answer) {
    const auto bytes = answer.take(answer.left());
    answer_.assign(bytes.begin(), bytes.end());
}

} // namespace detail

NamedReply::NamedReply() noexcept = default;
NamedReply::NamedReply(std::unique_ptr<detail::PendingReply> pending) noexcept
    : pending_(std::move(pending)) {}
NamedReply::NamedReply(NamedReply&& other) noexcept = default;
NamedReply& NamedReply::operator=(NamedReply&& other) noexcept = default;
NamedReply::~NamedReply() = default;

void NamedReply::answer(const ByteParts& result) {
    if (pending_ == nullptr) {
        refuse_empty("reply", "the call was answered, or it was moved from");
    }
    if (pending_->rank.expired()) {
        throw Error(Errc::invalid_argument, "the rank that was called has left its group");
    }
    const detail::InRank call(pending_->reply.here());
    const auto pending = std::move(pending_);
    try {
        detail::send(pending->reply, result);
        pending->is_answered = true;
        pending->reply.here().push_on();
    } catch (...) {
        pending->fail(std::current_exception());
        throw;
    }
}

void NamedReply::fail(const std::exception_ptr& thrown) {
    if (pending_ == nullptr) {
        refuse_empty("reply", "the call was answered, or it was moved from");
    }
    if (!pending_->rank.expired()) {
        const detail::InRank call(pending_->reply.here());
        pending_->fail(thrown);
    }
    pending_.reset();
}

std::stop_token NamedReply::stop_token() const {
    return pending_ == nullptr ? std::stop_token() : pending_->stop;
}

void NamedRequest::end() {
    if (std::exchange(is_over_, true)) {
        throw Error(Errc::invalid_argument, "the call was answered already");
    }
}

void NamedRequest::answer(const ByteParts& result) {
    end();
    detail::send(reply_, result);
}

void NamedRequest::fail(const std::exception_ptr& thrown) {
    end();
    reply_.fail(thrown);
}

NamedReply NamedRequest::later() {
    end();
    detail::RemoteState& here = reply_.here();
    return NamedReply(
        std::make_unique<detail::PendingReply>(reply_, here.self, here.keep(reply_).get_token()));
}

void offer_function(RemoteRank& own, std::string name, NamedHandler handler) {
    detail::state_of(own).named.add(std::move(name), std::move(handler));
}

void withdraw_function(RemoteRank& own, std::string_view name) {
    detail::state_of(own).named.remove(name);
}

NamedCall::NamedCall() noexcept = default;
NamedCall::NamedCall(std::unique_ptr<detail::PendingCall> pending) noexcept
    : pending_(std::move(pending)) {}
NamedCall::NamedCall(NamedCall&& other) noexcept = default;
NamedCall& NamedCall::operator=(NamedCall&& other) noexcept = default;
NamedCall::~NamedCall() = default;

bool NamedCall::is_over() const noexcept {
    return pending_ != nullptr && pending_->is_over;
}

bool NamedCall::test() {
    if (pending_ != nullptr && !pending_->is_over) {
        pending_->state().scheduler.poll();
    }
    return is_over();
}

std::vector<std::byte> NamedCall::wait(std::chrono::nanoseconds limit) {
    if (pending_ == nullptr) {
        refuse_empty("call by name", "its answer was taken, or it was moved from");
    }
    if (!pending_->is_over) {
        const auto limit_ns = limit.count() == 0 ? detail::never_ns : limit.count();
        const bool is_done =
            detail::run_until(pending_->state(), [this] { return pending_->is_over; }, limit_ns);
        if (!is_done) {
            throw Error(Errc::timeout,
                        fmt::format("rank {} has not answered the call of '{}' within {} s",
                                    pending_->to, pending_->name,
                                    std::chrono::duration<double>(limit).count()),
                        {pending_->to});
        }
    }
    const auto taken = std::move(pending_);
    if (taken->failure != nullptr) {
        std::rethrow_exception(taken->failure);
    }
    return std::move(taken->answer);
}

void NamedCall::then(std::function<void()> f) {
    if (pending_ == nullptr) {
        return;
    }
    if (!pending_->is_over) {
        const detail::InRank call(pending_->state());
        pending_->then = std::move(f);
    } else {
        f();
    }
}

void detail::require_callable(RemoteRank& own, Rank to) {
    state_of(own).require_callable(to);
}

NamedCall begin_named(RemoteRank& own, Rank to, std::string_view name, const ByteParts& argument) {
    detail::RemoteState& state = detail::state_of(own);
    const detail::InRank call(state);
    auto pending = std::make_unique<detail::PendingCall>(state, to, name);
    pending->call = state.begin_named(to, {pending.get(), nullptr}, name, argument);
    state.push_on();
    return NamedCall(std::move(pending));
}

void post_named(RemoteRank& own, Rank to, std::string_view name, const ByteParts& argument) {
    detail::RemoteState& state = detail::state_of(own);
    const detail::InRank call(state);
    static_cast<void>(state.begin_named(to, {}, name, argument));
    state.push_on();
}

bool serve_until(RemoteRank& own, const std::function<bool()>& done,
                 std::chrono::nanoseconds limit) {
    return detail::run_until(detail::state_of(own), done, limit.count());
}

bool serve_briefly(RemoteRank& own, const std::function<bool()>& done) {
    return detail::run_until(detail::state_of(own), done, remote::tuning::linger_ns);
}

} // namespace corymb
