// SPDX-License-Identifier: Apache-2.0
#include "multicast/member.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace corymb::detail {

namespace {

// Who waits takes over after so long without success, and again after longer times.
constexpr std::int64_t first_stall_ns = 50'000;
constexpr std::int64_t stall_max_ns = 10'000'000;

/// In front of each payload.
struct Envelope {
    std::uint32_t is_message = 0;
    std::uint32_t bytes = 0;
};
static_assert(sizeof(Envelope) + multicast_message_bytes == multicast::payload_bytes);

/// Cuts a wait into stretches.
class Stretches {
public:
    explicit Stretches(std::int64_t limit_ns) noexcept : end_ns_(now_ns() + limit_ns) {}
    /// 0: the limit has passed; never the first time, so that everything is tried once.
    std::int64_t next_ns() noexcept {
        const std::int64_t left = end_ns_ - now_ns();
        const std::int64_t least = std::exchange(least_ns_, 0);
        const std::int64_t stretch =
            std::exchange(stall_ns_, std::min(4 * stall_ns_, stall_max_ns));
        return std::max(std::min(left, stretch), least);
    }

private:
    std::int64_t end_ns_;
    std::int64_t stall_ns_ = first_stall_ns;
    std::int64_t least_ns_ = 1;
};

} // namespace

MulticastMember::MulticastMember(std::shared_ptr<MulticastShared> group, Rank own,
                                 Multicast::Handler on_message)
    : shared(std::move(group)), rank(own),
      position(shared->order.position_of[static_cast<std::size_t>(own)]),
      handler_(std::move(on_message)),
      ladder_(shared->core.spot(position), shared->gate, shared->unbroken, shared->waiting) {}

MulticastMember::~MulticastMember() {
    if (!is_member && !owes_) {
        const std::lock_guard lock(shared->mutex);
        shared->taken[static_cast<std::size_t>(rank)] = false;
    }
}

void MulticastMember::require_outside(const char* what) const {
    if (is_running_) {
        throw Error(Errc::invalid_argument,
                    std::string(what) + " within a multicast call that runs on rank " +
                        std::to_string(rank) + ": a call must not use the group");
    }
}

channel::WaitLadder& MulticastMember::ladder(std::int64_t limit_ns) noexcept {
    ladder_.set_deadline(limit_ns);
    return ladder_;
}

template <class Done, class Stalled>
bool MulticastMember::wait_until(Done& done, std::int64_t limit_ns, const Stalled& stalled) {
    if (done()) {
        return true;
    }
    Stretches stretches(limit_ns);
    while (const std::int64_t stretch = stretches.next_ns()) {
        if (ladder(stretch).until(done, 0)) {
            return true;
        }
        stalled();
    }
    return done();
}

void MulticastMember::run(std::uint32_t slot, const std::byte* payload) noexcept {
    Envelope envelope;
    std::memcpy(&envelope, payload, sizeof envelope);
    auto& call = shared->calls[slot];
    is_running_ = true;
    try {
        if (envelope.is_message == 0) {
            call.fn();
        } else if (handler_) {
            handler_({payload + sizeof envelope, envelope.bytes});
        } else {
            throw Error(Errc::invalid_argument,
                        "rank " + std::to_string(rank) +
                            " has no handler for messages; give one to MulticastGroup::attach",
                        {rank});
        }
    } catch (...) {
        if (!call.failed.exchange(true, std::memory_order_relaxed)) {
            call.error = std::current_exception();
        }
    }
    is_running_ = false;
}

int MulticastMember::serve() noexcept {
    return shared->core.poll(
        position, [this](std::uint32_t slot, const std::byte* payload) { run(slot, payload); });
}

int MulticastMember::poll() {
    require_outside("poll");
    return serve();
}

int MulticastMember::sleep(std::int64_t limit_ns) {
    require_outside("sleep");
    int count = 0;
    auto done = [&]() noexcept {
        count += serve();
        return count != 0;
    };
    static_cast<void>(wait_until(done, limit_ns, [] {}));
    return count;
}

void MulticastMember::join() {
    require_outside("join");
    if (is_member) {
        return;
    }
    if (owes_) {
        leave(); // What an earlier one has left to do.
    }
    shared->core.join(position);
    is_member = true;
}

void MulticastMember::leave() {
    require_outside("leave");
    if (!is_member && !owes_) {
        return;
    }
    if (!settle(shared->deadline_ns)) {
        throw Error(Errc::timeout, "rank " + std::to_string(rank) +
                                       " cannot leave the multicast group: a call that names it "
                                       "has stopped before it reached it; leave again later");
    }
}

void MulticastMember::retire() noexcept {
    if (!is_running_ && (is_member || owes_)) {
        static_cast<void>(settle(shared->deadline_ns));
    }
}

bool MulticastMember::settle(std::int64_t limit_ns) noexcept {
    auto& core = shared->core;
    if (is_member) {
        core.leave(position);
        is_member = false;
        owes_ = true;
    }
    const auto run_one = [this](std::uint32_t slot, const std::byte* payload) {
        run(slot, payload);
    };
    Stretches stretches(limit_ns);
    while (const std::int64_t stretch = stretches.next_ns()) {
        auto& waiter = ladder(stretch);
        const int slot = core.settle(position, waiter, run_one);
        if (slot == MulticastShared::Core::settled) {
            owes_ = false;
            return true;
        }
        if (slot >= 0) {
            core.take_over(static_cast<std::uint32_t>(slot));
        }
    }
    return false;
}

std::uint32_t MulticastMember::claim() {
    int slot = -1;
    auto done = [&]() noexcept {
        slot = shared->core.claim();
        if (slot < 0) {
            static_cast<void>(serve());
        }
        return slot >= 0;
    };
    if (!done()) {
        shared->finish_orphans();
        const auto stalled = [&] {
            shared->finish_orphans();
        };
        if (!wait_until(done, shared->deadline_ns, stalled)) {
            throw Error(Errc::timeout,
                        "all " + std::to_string(shared->core.shape().slots) +
                            " multicast calls that a group can have in flight are; wait for their "
                            "tokens, or set MulticastOptions::calls higher");
        }
    }
    return static_cast<std::uint32_t>(slot);
}

MulticastToken MulticastMember::call(std::function<void()> fn, std::span<const std::byte> message) {
    require_outside("call");
    Envelope envelope{fn ? 0U : 1U, static_cast<std::uint32_t>(message.size())};
    std::byte payload[multicast::payload_bytes] = {};
    std::memcpy(payload, &envelope, sizeof envelope);
    if (!message.empty()) {
        std::memcpy(payload + sizeof envelope, message.data(), message.size());
    }
    MulticastToken token;
    token.slot_ = claim();
    shared->calls[token.slot_].fn = std::move(fn);
    token.begin_ns_ = now_ns();
    shared->calls[token.slot_].initiator.store(rank, std::memory_order_relaxed);
    shared->calls[token.slot_].begin_ns.store(token.begin_ns_, std::memory_order_relaxed);
    const bool is_named = shared->core.begin(token.slot_, position, payload, sizeof payload);
    token.member_ = shared_from_this();
    token.members_ = static_cast<int>(shared->core.named(token.slot_)) + (is_named ? 1 : 0);
    if (is_named) {
        run(token.slot_, payload);
    }
    return token;
}

} // namespace corymb::detail

namespace corymb {

using detail::MulticastMember;

namespace {

/// "rank 3 has not polled for 250 ms".
std::string describe(const MulticastLate& late) {
    using State = MulticastLate::State;
    const auto microseconds =
        std::chrono::duration_cast<std::chrono::microseconds>(late.by).count();
    const std::string time = std::to_string(microseconds / 1000) + "." +
                             std::to_string(microseconds % 1000 / 100) + " ms";
    const std::string who = "rank " + std::to_string(late.rank);
    switch (late.state) {
    case State::told: return who + " has not polled for " + time;
    case State::running: return who + " runs it and is not through after " + time;
    case State::untold: break;
    }
    return who + " has not been told after " + time;
}

Error timeout_of(Rank initiator, const std::vector<MulticastLate>& late) {
    constexpr std::size_t described_max = 8;
    std::string text =
        "the multicast call of rank " + std::to_string(initiator) + " is not complete: ";
    std::vector<int> ranks;
    for (const MulticastLate& one : late) {
        if (ranks.size() < described_max) {
            text += (ranks.empty() ? "" : "; ") + describe(one);
        }
        ranks.push_back(one.rank);
    }
    if (ranks.size() > described_max) {
        text += "; and " + std::to_string(ranks.size() - described_max) + " more";
    }
    text += ". Members must poll, sleep in the group or be quiescent; the call goes on";
    return {Errc::timeout, text, std::move(ranks)};
}

} // namespace

MulticastToken::~MulticastToken() {
    abandon();
}

MulticastToken& MulticastToken::operator=(MulticastToken&& other) noexcept {
    if (this != &other) {
        abandon();
        member_ = std::move(other.member_);
        slot_ = other.slot_;
        members_ = other.members_;
        begin_ns_ = other.begin_ns_;
        error_ = std::move(other.error_);
    }
    return *this;
}

void MulticastToken::abandon() noexcept {
    if (member_ && !finish_if_complete()) {
        member_->shared->orphan(slot_);
    }
    member_.reset();
}

bool MulticastToken::finish_if_complete() {
    if (member_ && member_->shared->core.is_complete(slot_)) {
        error_ = member_->shared->finish(slot_);
        member_.reset();
    }
    return member_ == nullptr;
}

bool MulticastToken::test() {
    if (member_) {
        static_cast<void>(member_->poll());
    }
    return finish_if_complete();
}

void MulticastToken::wait(std::chrono::nanoseconds limit) {
    if (member_) {
        member_->require_outside("wait");
        auto& core = member_->shared->core;
        auto done = [&]() noexcept {
            static_cast<void>(member_->serve());
            return core.is_complete(slot_);
        };
        const std::int64_t limit_ns =
            limit.count() > 0 ? limit.count() : member_->shared->deadline_ns;
        if (!member_->wait_until(done, limit_ns, [&] { core.take_over(slot_); })) {
            throw timeout_of(member_->rank, late());
        }
        finish_if_complete();
    }
    if (error_) {
        std::rethrow_exception(error_);
    }
}

std::vector<MulticastLate> MulticastToken::late() const {
    return member_ ? member_->shared->late(slot_, begin_ns_) : std::vector<MulticastLate>{};
}

} // namespace corymb
