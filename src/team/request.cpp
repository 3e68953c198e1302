// SPDX-License-Identifier: Apache-2.0
#include "channel/meanwhile.hpp"
#include "team/driver.hpp"

#include <corymb/error.hpp>
#include <corymb/request.hpp>

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using State = detail::Operation::State;

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

[[noreturn]] void refuse_nothing() {
    refuse("the request is empty: it was completed already, moved from, or never started");
}

/// A call of the handle that a request belongs to. Throws Errc::invalid_argument in a forked child
/// and while another thread is in a call of that handle.
OneUser::Call enter(const detail::Operation* operation) {
    return operation == nullptr || operation->driver == nullptr ? OneUser::Call()
                                                                : operation->driver->user->enter();
}

/// The operation to be completed; throws when there is none.
detail::Operation& active(detail::Operation* operation) {
    if (operation == nullptr) {
        refuse_nothing();
    }
    if (operation->state == State::idle) {
        refuse("the persistent request is not active: start it before it can be completed");
    }
    return *operation;
}

/// The handle on the team is gone; it has completed what was under way.
void complete_orphan(const detail::Operation& operation) {
    if (operation.error != nullptr) {
        std::rethrow_exception(operation.error);
    }
    if (operation.state == State::failed) {
        throw Error(Errc::team_broken, "the operation failed before its team was given up");
    }
}

void put_back(const detail::Operation& operation) {
    if (operation.staging) {
        operation.staging->after();
    }
}

/// Takes a completed operation from its request, also when it ends with an error.
class Completion {
public:
    explicit Completion(detail::Operation*& operation) noexcept : operation_(&operation) {}
    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;
    ~Completion() {
        detail::Operation& done = **operation_;
        if (is_kept_ || done.is_persistent) {
            done.state = is_kept_ ? done.state : State::idle;
            return;
        }
        *operation_ = nullptr;
        if (done.driver != nullptr) {
            done.driver->forget(done);
        } else {
            delete &done;
        }
    }
    void keep() noexcept { is_kept_ = true; }

private:
    detail::Operation** operation_;
    bool is_kept_ = false;
};

void let_go(detail::Operation* operation) noexcept {
    if (operation == nullptr) {
        return;
    }
    if (operation->driver == nullptr) {
        delete operation;
        return;
    }
    OneUser& user = *operation->driver->user;
    if (user.is_inherited()) {
        return; // The operation is the parent's, which goes on with it.
    }
    const OneUser::Call call = user.enter_when_free();
    operation->driver->drain(*operation);
    operation->driver->forget(*operation);
}

} // namespace

detail::Staging::~Staging() = default;

Request::Request(Request&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}

Request& Request::operator=(Request&& other) noexcept {
    if (this != &other) {
        let_go(operation_);
        operation_ = std::exchange(other.operation_, nullptr);
    }
    return *this;
}

Request::~Request() {
    let_go(operation_);
}

bool Request::is_persistent() const noexcept {
    return operation_ != nullptr && operation_->is_persistent;
}

bool Request::is_active() const noexcept {
    return operation_ != nullptr && operation_->state != State::idle;
}

bool Request::test() {
    const OneUser::Call call = enter(operation_);
    detail::Operation& operation = active(operation_);
    Completion completion(operation_);
    if (operation.driver == nullptr) {
        complete_orphan(operation);
    } else if (!operation.driver->test(operation)) {
        completion.keep();
        return false;
    }
    put_back(operation);
    return true;
}

void Request::wait() {
    if (channel::Meanwhile* const others = channel::meanwhile();
        others != nullptr && is_active() && others->complete(*this)) {
        return;
    }
    const OneUser::Call call = enter(operation_);
    detail::Operation& operation = active(operation_);
    const Completion completion(operation_);
    if (operation.driver == nullptr) {
        complete_orphan(operation);
    } else {
        operation.driver->wait(operation);
    }
    put_back(operation);
}

bool Request::cancel() {
    const OneUser::Call call = enter(operation_);
    detail::Operation& operation = active(operation_);
    if (!operation.is_message) {
        refuse("a collective cannot be cancelled: the other ranks count on this one");
    }
    if (operation.coroutine || operation.notice.call != nullptr) {
        refuse("a coroutine waits for this message: it cannot be cancelled");
    }
    Completion completion(operation_);
    if (operation.driver == nullptr || !operation.driver->cancel(operation)) {
        completion.keep();
        return false;
    }
    return true;
}

void Request::start() {
    const OneUser::Call call = enter(operation_);
    if (operation_ == nullptr) {
        refuse_nothing();
    }
    if (!operation_->is_persistent) {
        refuse("only a persistent request, made by barrier_init and its like, can be started");
    }
    if (operation_->state != State::idle) {
        refuse("the persistent request is active already: complete it before it is started again");
    }
    if (operation_->driver == nullptr) {
        refuse("the team of the request is gone: a persistent request ends with its team handle");
    }
    if (operation_->staging) {
        try {
            operation_->staging->before();
        } catch (...) {
            operation_->driver->abandon("its function pack has thrown an exception");
            throw;
        }
    }
    operation_->driver->start(*operation_);
}

bool Request::await_ready() {
    const OneUser::Call call = enter(operation_);
    detail::Operation& operation = active(operation_);
    return operation.driver == nullptr || operation.driver->look_once(operation);
}

void Request::await_suspend(std::coroutine_handle<> coroutine) {
    const OneUser::Call call = enter(operation_);
    active(operation_).coroutine = coroutine;
}

void Request::await_resume() {
    wait(); // The operation is done: `wait` only takes the outcome.
}

void wait_all(std::span<Request> requests) {
    for (Request& request : requests) {
        if (request.is_active()) {
            request.wait();
        }
    }
}

std::size_t wait_any(std::span<Request> requests) {
    std::vector<std::size_t> index;
    std::vector<detail::Operation*> operations;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (!requests[i].is_active()) {
            continue;
        }
        detail::Operation* const operation = requests[i].operation_;
        if (operation->driver == nullptr) { // Nothing to wait for.
            requests[i].wait();
            return i;
        }
        if (!operations.empty() && operations.front()->driver != operation->driver) {
            refuse("wait_any: the requests belong to different teams; wait for those of one team");
        }
        index.push_back(i);
        operations.push_back(operation);
    }
    if (operations.empty()) {
        return no_request;
    }
    const OneUser::Call call = enter(operations.front());
    const std::size_t done = index[operations.front()->driver->wait_any(operations)];
    requests[done].wait(); // The operation is done: `wait` only takes the outcome.
    return done;
}

void start_all(std::span<Request> requests) {
    for (Request& request : requests) {
        request.start();
    }
}

} // namespace corymb
