// SPDX-License-Identifier: Apache-2.0
#include "message/mailbox_state.hpp"
#include "multicast/member.hpp"
#include "remote/scheduler_state.hpp"
#include "remote/source.hpp"
#include "remote/tuning.hpp"

#include <corymb/arrival.hpp>

#include <chrono>
#include <utility>

namespace corymb::detail {

/// One such wait, in the list of its scheduler.
class PolledSource final : public Source {
public:
    PolledSource(SchedulerState& of, PolledAwait& wait) : scheduler_(&of), wait_(&wait) {
        of.add(*this);
    }
    PolledSource(const PolledSource&) = delete;
    PolledSource& operator=(const PolledSource&) = delete;
    ~PolledSource() { scheduler_->remove(*this); }

    bool look() noexcept override {
        look_with([this] { return wait_->is_there(); });
        return false;
    }
    void look_after() noexcept override {
        look_with([this] {
            wait_->look_after();
            return false;
        });
    }
    [[nodiscard]] std::int64_t add_events(Events& to) override {
        auto* const events = wait_->events();
        if (events == nullptr) {
            return remote::tuning::nap_ns;
        }
        to.add(*static_cast<channel::EventCount<channel::StandardEnv>*>(events));
        return until_woken;
    }

    [[nodiscard]] channel::WaiterCpus* cpus() noexcept override {
        return static_cast<channel::WaiterCpus*>(wait_->cpus());
    }

private:
    template <class Look>
    void look_with(const Look& look) noexcept {
        PolledAwait& wait = *wait_; // Its end is the end of this object.
        try {
            if (look()) {
                wait.end(nullptr);
            }
        } catch (...) {
            wait.end(std::current_exception());
        }
    }
    SchedulerState* scheduler_;
    PolledAwait* wait_;
};

PolledAwait::PolledAwait(const char* what) noexcept : what_(what) {}
PolledAwait::~PolledAwait() = default;

void PolledAwait::enter(Strand& own, std::coroutine_handle<> at) {
    auto made = std::make_unique<PolledSource>(*own.scheduler, *this);
    begin(own, at, what_);
    source_ = std::move(made);
}

void PolledAwait::end(std::exception_ptr thrown) noexcept {
    thrown_ = std::move(thrown);
    source_.reset();
    wake();
}

void PolledAwait::withdraw() noexcept {
    source_.reset();
}

void PolledAwait::require_there() const {
    require_not_stopped(what_);
    if (thrown_ != nullptr) {
        std::rethrow_exception(thrown_);
    }
}

ArrivalAwait::ArrivalAwait(Mailbox& box) noexcept
    : PolledAwait("a message of a mailbox"), box_(&box) {}

bool ArrivalAwait::is_there() {
    const InCall state(MailboxAccess::open_state(*box_));
    return state->has_message();
}

void ArrivalAwait::look_after() {
    static_cast<void>(box_->wait(std::chrono::nanoseconds(0)));
}

void* ArrivalAwait::events() noexcept {
    return &MailboxAccess::state(*box_).events();
}

CompletionAwait::CompletionAwait(MulticastToken& token) noexcept
    : PolledAwait("the acknowledgements of a multicast"), token_(&token) {}

bool CompletionAwait::is_there() {
    return token_->test();
}

void CompletionAwait::await_resume() const {
    require_there();
    token_->wait();
}

void* CompletionAwait::events() noexcept {
    MulticastMember* const member = MulticastAccess::member(*token_);
    return member == nullptr ? nullptr : &member->shared->core.spot(member->position);
}

void* ArrivalAwait::cpus() noexcept {
    return &MailboxAccess::state(*box_).group->cpus;
}

void* CompletionAwait::cpus() noexcept {
    MulticastMember* const member = MulticastAccess::member(*token_);
    return member == nullptr ? nullptr : member->shared->waiting.cpus;
}

} // namespace corymb::detail
