// SPDX-License-Identifier: Apache-2.0
#include <corymb/active_message.hpp>

#include "base/wait_clock.hpp"
#include "message/active_state.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace corymb {

using detail::ActiveState;

namespace {

// Handlers of every rank.
constexpr std::uint16_t get_handler = active_handlers_max, put_handler = get_handler + 1,
                        exchange_handler = get_handler + 2;

struct Get {
    GlobalAddress from;
    std::uint64_t bytes = 0;
};

/// An address and the data behind it.
std::vector<std::byte> joined(GlobalAddress address, std::span<const std::byte> bytes) {
    std::vector<std::byte> both(sizeof address + bytes.size());
    std::memcpy(both.data(), &address, sizeof address);
    std::memcpy(both.data() + sizeof address, bytes.data(), bytes.size());
    return both;
}
std::span<const std::byte> split(Rank from, std::span<const std::byte> both,
                                 GlobalAddress& address) {
    if (both.size() < sizeof address) {
        detail::throw_wrong_length(from, both.size(), sizeof address);
    }
    std::memcpy(&address, both.data(), sizeof address);
    return both.subspan(sizeof address);
}

void require_place(GlobalAddress at) {
    if (at.owner < 0) {
        throw Error(Errc::invalid_argument,
                    "this global pointer is null; its owner makes one with ActiveMessages::offer");
    }
}

void copy_answer(GlobalAddress from, const std::vector<std::byte>& answer,
                 std::span<std::byte> to) {
    if (answer.size() != to.size()) {
        detail::throw_wrong_length(from.owner, answer.size(), to.size());
    }
    if (!answer.empty()) {
        std::memcpy(to.data(), answer.data(), answer.size());
    }
}

/// A call of the handle. Throws Errc::invalid_argument for an empty one, for one of a parent
/// process and while another thread is in a call.
detail::InCall<ActiveState> in_call(const std::shared_ptr<ActiveState>& state) {
    if (state == nullptr) {
        refuse_empty("rank of active messages", "it was moved from");
    }
    return detail::InCall(*state);
}

/// Closes the mailbox once no other thread is in a call.
void close(ActiveState* state) noexcept {
    if (state != nullptr && !state->user.is_inherited()) {
        const OneUser::Call call = state->user.enter_when_free();
        state->close();
    }
}

/// Forgets a call whose caller no longer wants the answer.
void forget(ActiveState* state, std::uint64_t number) noexcept {
    if (state != nullptr && !state->user.is_inherited()) {
        const OneUser::Call call = state->user.enter_when_free();
        state->pending.erase(number);
    }
}

void add_own_handlers(ActiveState& state) {
    ActiveState* const own = &state;
    state.handlers[get_handler] = [own](Rank from, std::span<const std::byte> argument,
                                        std::span<std::byte> answer) {
        const Get asked = detail::value_of<Get>(from, argument);
        return detail::put_answer(answer, own->place(asked.from, asked.bytes, 1), asked.bytes);
    };
    state.handlers[put_handler] = [own](Rank from, std::span<const std::byte> argument,
                                        std::span<std::byte> /*answer*/) -> std::size_t {
        GlobalAddress to;
        const auto value = split(from, argument, to);
        std::memcpy(own->place(to, value.size(), 1), value.data(), value.size());
        return 0;
    };
    state.handlers[exchange_handler] = [own](Rank from, std::span<const std::byte> argument,
                                             std::span<std::byte> answer) {
        GlobalAddress at;
        const auto both = split(from, argument, at);
        const std::size_t bytes = both.size() / 2;
        std::byte* const place = own->place(at, bytes, 1);
        const std::size_t length = detail::put_answer(answer, place, bytes);
        if (std::memcmp(place, both.data(), bytes) == 0) {
            std::memcpy(place, both.data() + bytes, bytes);
        }
        return length;
    };
}

} // namespace

std::size_t detail::put_answer(std::span<std::byte> answer, const void* data, std::size_t bytes) {
    if (bytes > answer.size()) {
        throw Error(Errc::invalid_argument, "an answer has at most " +
                                                std::to_string(answer.size()) + " bytes, not " +
                                                std::to_string(bytes));
    }
    if (bytes != 0) {
        std::memcpy(answer.data(), data, bytes);
    }
    return bytes;
}

ActiveCall::ActiveCall(ActiveCall&& other) noexcept
    : state_(std::move(other.state_)), number_(other.number_), to_(other.to_) {}

ActiveCall& ActiveCall::operator=(ActiveCall&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(number_, other.number_);
    std::swap(to_, other.to_);
    return *this;
}

ActiveCall::~ActiveCall() {
    forget(state_.get(), number_);
}

bool ActiveCall::test() {
    if (!state_) {
        return true;
    }
    const auto own = in_call(state_);
    return own->is_done(number_) || own->look(number_);
}

bool ActiveCall::is_taken() const noexcept {
    return state_ && !state_->pending.contains(number_);
}

std::vector<std::byte> ActiveCall::wait(std::chrono::nanoseconds limit) {
    if (!state_) {
        refuse_empty("active call", "it was moved from; ActiveMessages::call makes one");
    }
    return in_call(state_)->wait(number_, limit);
}

ActiveMessages::ActiveMessages(Mailbox box, std::chrono::nanoseconds deadline)
    : state_(std::make_shared<ActiveState>(std::move(box), deadline)) {
    add_own_handlers(*state_);
}

ActiveMessages& ActiveMessages::operator=(ActiveMessages&& other) noexcept {
    if (this != &other) {
        close(state_.get());
        state_ = std::move(other.state_);
    }
    return *this;
}

ActiveMessages::~ActiveMessages() {
    close(state_.get());
}

Rank ActiveMessages::rank() const noexcept {
    return state_ == nullptr ? -1 : state_->rank;
}
int ActiveMessages::size() const noexcept {
    return state_ == nullptr ? 0 : state_->size;
}
std::size_t ActiveMessages::bytes_max() const noexcept {
    return state_ == nullptr ? 0 : state_->bytes_max;
}

std::size_t ActiveMessages::put_bytes_max() const noexcept {
    return bytes_max() - std::min(bytes_max(), sizeof(GlobalAddress));
}

void ActiveMessages::on(std::uint16_t number, Handler handler) {
    if (number >= active_handlers_max || !handler) {
        throw Error(Errc::invalid_argument, "handlers of active messages have numbers below " +
                                                std::to_string(active_handlers_max) +
                                                " and are not empty");
    }
    const auto own = in_call(state_);
    own->require_outside("on");
    own->handlers[number] = std::move(handler);
}

ActiveCall ActiveMessages::call(Rank to, std::uint16_t number,
                                std::span<const std::byte> argument) {
    ActiveCall made;
    made.number_ = in_call(state_)->begin(to, number, argument);
    made.state_ = state_;
    made.to_ = to;
    return made;
}

std::size_t ActiveMessages::poll() {
    return in_call(state_)->poll();
}

std::size_t ActiveMessages::serve(std::chrono::nanoseconds limit) {
    const auto own = in_call(state_);
    WaitClock clock;
    std::size_t served = own->poll();
    for (std::int64_t left = bounded_ns(limit); served == 0 && left > 0;
         left = bounded_ns(limit) - clock.waited_ns()) {
        clock.expect_sleep(left);
        own->sleep(left, left);
        served = own->poll();
    }
    return served;
}

GlobalAddress ActiveMessages::offer_bytes(std::span<std::byte> memory) {
    const auto own = in_call(state_);
    const std::uint32_t region = own->next_region++;
    own->regions[region] = memory;
    return {own->rank, region, 0};
}

void ActiveMessages::withdraw_region(GlobalAddress first) {
    const auto own = in_call(state_);
    if (first.owner != own->rank || own->regions.erase(first.region) == 0) {
        throw Error(Errc::invalid_argument,
                    "this memory is not offered by rank " + std::to_string(own->rank));
    }
}

ActiveCall ActiveMessages::begin_get(GlobalAddress from, std::size_t bytes) {
    require_place(from);
    const Get asked{from, bytes};
    return call(from.owner, get_handler, std::as_bytes(std::span(&asked, 1)));
}

ActiveCall ActiveMessages::begin_put(GlobalAddress to, std::span<const std::byte> value) {
    require_place(to);
    return call(to.owner, put_handler, joined(to, value));
}

ActiveCall ActiveMessages::begin_exchange(GlobalAddress at, std::span<const std::byte> both) {
    require_place(at);
    return call(at.owner, exchange_handler, joined(at, both));
}

void ActiveMessages::get_bytes(GlobalAddress from, std::span<std::byte> to,
                               std::chrono::nanoseconds limit) {
    copy_answer(from, begin_get(from, to.size()).wait(limit), to);
}

void ActiveMessages::put_bytes(GlobalAddress to, std::span<const std::byte> value,
                               std::chrono::nanoseconds limit) {
    begin_put(to, value).wait(limit);
}

void ActiveMessages::compare_exchange_bytes(GlobalAddress at, std::span<const std::byte> expected,
                                            std::span<const std::byte> desired,
                                            std::span<std::byte> was,
                                            std::chrono::nanoseconds limit) {
    if (expected.size() != desired.size() || expected.size() != was.size()) {
        throw Error(Errc::invalid_argument, "what is expected, desired and returned by an exchange "
                                            "must have equally many bytes");
    }
    std::vector<std::byte> both(expected.begin(), expected.end());
    both.insert(both.end(), desired.begin(), desired.end());
    copy_answer(at, begin_exchange(at, both).wait(limit), was);
}

std::byte* ActiveMessages::place_of(ActiveState& state, GlobalAddress at, std::size_t bytes,
                                    std::size_t alignment) {
    return state.place(at, bytes, alignment);
}

} // namespace corymb
