// SPDX-License-Identifier: Apache-2.0
// What a task awaits beside requests: messages of a mailbox, and calls of a multicast.
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/export.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <exception>
#include <memory>

namespace corymb {

namespace detail {

class PolledSource; // src/remote/

/// A wait for something that the scheduler looks at between turns.
class CORYMB_EXPORT PolledAwait : public Suspension {
public:
    [[nodiscard]] bool await_ready() { return is_there(); }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        enter(*awaiting.promise().strand, awaiting);
    }

protected:
    explicit PolledAwait(const char* what) noexcept;
    ~PolledAwait();
    /// Throws what a look has thrown, and Errc::interrupted after a stop.
    void require_there() const;

private:
    friend class PolledSource;
    /// Looks once; what it throws is thrown to the task.
    [[nodiscard]] virtual bool is_there() = 0;
    /// Looks for peers that have ended; throws as `is_there`.
    virtual void look_after() = 0;
    /// The event count in which the thread sleeps: EventCount<StandardEnv>.
    [[nodiscard]] virtual void* events() noexcept = 0;
    /// The group's WaiterCpus.
    [[nodiscard]] virtual void* cpus() noexcept = 0;
    void enter(Strand& own, std::coroutine_handle<> at);
    void end(std::exception_ptr thrown) noexcept;
    void withdraw() noexcept override;
    const char* what_;
    std::unique_ptr<PolledSource> source_; ///< While it waits.
    std::exception_ptr thrown_;
};

class CORYMB_EXPORT ArrivalAwait final : public PolledAwait {
public:
    explicit ArrivalAwait(Mailbox& box) noexcept;
    ~ArrivalAwait() = default;
    void await_resume() const { require_there(); }

private:
    [[nodiscard]] bool is_there() override;
    void look_after() override;
    [[nodiscard]] void* events() noexcept override;
    [[nodiscard]] void* cpus() noexcept override;
    Mailbox* box_;
};

class CORYMB_EXPORT CompletionAwait final : public PolledAwait {
public:
    explicit CompletionAwait(MulticastToken& token) noexcept;
    ~CompletionAwait() = default;
    void await_resume() const;

private:
    [[nodiscard]] bool is_there() override;
    void look_after() override {}
    [[nodiscard]] void* events() noexcept override;
    [[nodiscard]] void* cpus() noexcept override;
    MulticastToken* token_;
};

} // namespace detail

/// For co_await in a task: returns when `probe` of the mailbox would find a message. One task at a
/// time reads a mailbox, which must stay open meanwhile. Throws as Mailbox::wait, and
/// Errc::interrupted if the task is asked to stop.
[[nodiscard]] inline detail::ArrivalAwait arrival(Mailbox& box) noexcept {
    return detail::ArrivalAwait(box);
}

/// For co_await in a task: returns when the call is complete, and serves other initiators' calls
/// meanwhile. Throws as MulticastToken::wait, but for the timeout; and Errc::interrupted if the
/// task is asked to stop: the call goes on.
[[nodiscard]] inline detail::CompletionAwait completion(MulticastToken& token) noexcept {
    return detail::CompletionAwait(token);
}

} // namespace corymb
