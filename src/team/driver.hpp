// SPDX-License-Identifier: Apache-2.0
// A Request knows its operation and the driver that goes on with it. Teams of one node and of
// several nodes have different drivers.
#pragma once

#include "base/one_user.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/waiter_cpus.hpp"

#include <corymb/detail/staging.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace corymb::detail {

class Driver;

/// Somebody who is told, once, that an operation is over. He must not use the team then.
struct EndNotice {
    void (*call)(void* self) noexcept = nullptr;
    void* self = nullptr;
};

struct Operation {
    enum class State : std::uint8_t { idle, pending, done, failed };

    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    virtual ~Operation() = default;

    Driver* driver = nullptr; ///< Null when the team handle is gone; then the request owns this.
    std::coroutine_handle<> coroutine; ///< To be resumed when it is done.
    EndNotice notice;                  ///< Without a call: nobody is told.
    State state = State::idle;
    std::exception_ptr error; ///< Why this operation alone has failed; the team is whole.
    /// Work of the request before and after the operation, or null.
    std::shared_ptr<Staging> staging;
    bool is_persistent = false;
    bool is_message = false; ///< Between two ranks; else a collective.
};

/// Goes on with the operations of one rank on one team. The requests call it; each operation is one
/// that it has made.
class Driver {
public:
    explicit Driver(OneUser& of) noexcept : user(&of) {}
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    /// Begins the operation and does what can be done at once. Throws when the team is broken.
    virtual void start(Operation& operation) = 0;
    /// Bounded; whether it is over, with whatever outcome.
    virtual bool look_once(Operation& operation) = 0;
    /// Bounded; true when it is done, which consumes the operation. Throws when it has failed.
    virtual bool test(Operation& operation) = 0;
    virtual void wait(Operation& operation) = 0;
    /// Takes a message back if nothing of it has gone on its way. Returns whether it has done so,
    /// which consumes the operation. Bounded. Throws when the message can no longer succeed.
    virtual bool cancel(Operation& operation) = 0;
    /// Waits until one of several is over; returns its index.
    virtual std::size_t wait_any(const std::vector<Operation*>& operations) = 0;
    /// Waits for it without a word, or breaks the team while an exception is on its way.
    virtual void drain(Operation& operation) noexcept = 0;
    /// Breaks the team on behalf of this rank, which could not start an operation that others wait
    /// for.
    virtual void abandon(const std::string& why) noexcept = 0;
    /// Goes on with all operations as `test` does. Resumes no coroutine.
    virtual void look() noexcept = 0;
    /// Where the rank's thread sleeps for its team; null if a peer may move without waking it.
    [[nodiscard]] virtual channel::EventCount<channel::StandardEnv>* events() noexcept = 0;
    /// Who waits on which CPU among the ranks that share memory; null: there is no room for that.
    [[nodiscard]] virtual channel::WaiterCpus* cpus() noexcept = 0;
    /// Takes back an operation that is not pending.
    virtual void forget(Operation& operation) noexcept = 0;

    OneUser* const user; ///< Guards the handle that the driver belongs to. A Request enters there.

protected:
    ~Driver() = default;
};

} // namespace corymb::detail
