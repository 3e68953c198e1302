// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "group/name_meeting.hpp"
#include "message/broadcast_state.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/error.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

namespace corymb {

using detail::BroadcastPublished;
using detail::BroadcastRead;
using detail::BroadcastShared;

namespace {

constexpr std::chrono::nanoseconds default_deadline = std::chrono::minutes(1);
constexpr std::size_t slots_most = std::size_t{1} << 20U;
constexpr std::size_t readers_most = std::size_t{1} << 16U;
constexpr std::size_t ring_bytes_most = std::size_t{1} << 30U;

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

void check_range(const char* what, std::size_t value, std::size_t least, std::size_t most) {
    if (value < least || value > most) {
        refuse(std::string(what) + " is " + std::to_string(value) + ", but must be " +
               std::to_string(least) + " to " + std::to_string(most));
    }
}

BroadcastOptions checked(BroadcastOptions options) {
    check_range("message_bytes", options.message_bytes, 0, channel::message_bytes_most);
    check_range("slots", options.slots, 2, slots_most);
    check_range("readers", static_cast<std::size_t>(std::max(options.readers, 0)), 1, readers_most);
    const std::size_t bytes = channel::SlotShape::of(options.slots, options.message_bytes).bytes();
    if (bytes > ring_bytes_most) {
        refuse("the ring would have " + std::to_string(bytes >> 20U) +
               " MiB; slots times message_bytes may be at most 1 GiB");
    }
    if (options.deadline.count() < 0) {
        refuse("BroadcastOptions::deadline is negative; give the longest wait, or 0 for a minute");
    }
    if (options.deadline.count() == 0) {
        options.deadline = default_deadline;
    }
    return options;
}

/// A call of an end. Throws Errc::invalid_argument for an empty handle, one of a parent process and
/// while another thread is in a call.
template <class State>
detail::InCall<State> in_call(const std::unique_ptr<State, void (*)(State*)>& state) {
    if (state == nullptr) {
        refuse_empty("handle", "it was moved from, or is of no ring");
    }
    return detail::InCall(*state);
}

BroadcastShared& checked(const std::shared_ptr<BroadcastShared>& ring) {
    if (ring == nullptr) {
        refuse_empty("ring", "it was moved from");
    }
    return *ring;
}

BroadcastShared& checked_own(const std::shared_ptr<BroadcastShared>& ring) {
    checked(ring).check_not_forked();
    return *ring;
}

} // namespace

void detail::throw_wrong_broadcast(std::size_t got, std::size_t wanted) {
    throw Error(Errc::mismatch, "the publisher sent " + std::to_string(got) +
                                    " bytes where this reader expects values of " +
                                    std::to_string(wanted) + "; both must use the same type");
}

BroadcastPublisher::BroadcastPublisher() noexcept : state_(nullptr, nullptr) {}
BroadcastPublisher::BroadcastPublisher(BroadcastPublisher&& other) noexcept = default;
BroadcastPublisher& BroadcastPublisher::operator=(BroadcastPublisher&& other) noexcept = default;
BroadcastPublisher::~BroadcastPublisher() = default;
BroadcastPublisher::BroadcastPublisher(std::shared_ptr<BroadcastShared> shared)
    : state_(new BroadcastPublished(std::move(shared)), detail::end_handle<BroadcastPublished>) {}

bool BroadcastPublisher::try_publish(const void* data, std::size_t bytes) {
    const auto state = in_call(state_);
    state->check(data, bytes);
    return state->try_publish(data, bytes);
}

void BroadcastPublisher::publish(const void* data, std::size_t bytes,
                                 std::chrono::nanoseconds limit) {
    const auto state = in_call(state_);
    state->check(data, bytes);
    const auto longest = limit.count() > 0 ? limit : state->shared->options().deadline;
    state->publish(data, bytes, longest.count());
}

std::uint64_t BroadcastPublisher::published() const noexcept {
    return state_ == nullptr ? 0 : state_->sender.published();
}

void BroadcastPublisher::drop(int reader) {
    in_call(state_)->drop(reader);
}

std::vector<BroadcastReaderInfo> BroadcastPublisher::take_dropped() {
    return in_call(state_)->take_dropped();
}

BroadcastReader::BroadcastReader() noexcept : state_(nullptr, nullptr) {}
BroadcastReader::BroadcastReader(BroadcastReader&& other) noexcept = default;
BroadcastReader& BroadcastReader::operator=(BroadcastReader&& other) noexcept = default;
BroadcastReader::~BroadcastReader() = default;
BroadcastReader::BroadcastReader(std::shared_ptr<BroadcastShared> shared, BroadcastPolicy policy,
                                 BroadcastStart start)
    : state_(new BroadcastRead(std::move(shared), policy, start),
             detail::end_handle<BroadcastRead>) {}

int BroadcastReader::number() const noexcept {
    return state_ == nullptr ? -1 : static_cast<int>(state_->line);
}
BroadcastPolicy BroadcastReader::policy() const noexcept {
    return state_ == nullptr ? BroadcastPolicy::block : state_->policy;
}
std::uint64_t BroadcastReader::last() const noexcept {
    return state_ == nullptr ? 0 : state_->last();
}
std::size_t BroadcastReader::probe_with(Handler handler, void* self, std::size_t most) {
    return in_call(state_)->probe(handler, self, most);
}
bool BroadcastReader::wait(std::chrono::nanoseconds limit) {
    return in_call(state_)->wait(bounded_ns(limit));
}
bool BroadcastReader::at_end() {
    return in_call(state_)->at_end();
}

BroadcastRing::BroadcastRing(std::shared_ptr<BroadcastShared> shared) noexcept
    : shared_(std::move(shared)) {}

BroadcastRing::BroadcastRing(const BroadcastOptions& options) {
    BroadcastOptions all = checked(options);
    all.between_processes = options.between_processes || !options.name.empty();
    all.name = {};
    const auto make = [&](std::shared_ptr<SharedMemory> memory) {
        return std::make_shared<BroadcastShared>(all, std::move(memory));
    };
    shared_ = options.name.empty()
                  ? make(all.between_processes ? SharedMemory::create() : nullptr)
                  : group::meet(std::string(options.name), group::Kind::broadcast, 0, make,
                                [](std::shared_ptr<SharedMemory> memory) {
                                    return std::make_shared<BroadcastShared>(std::move(memory));
                                });
}

BroadcastRing BroadcastRing::open(int descriptor) {
    return BroadcastRing(std::make_shared<BroadcastShared>(SharedMemory::open(descriptor)));
}

int BroadcastRing::make_descriptor() const {
    return checked(shared_).make_descriptor();
}

BroadcastPublisher BroadcastRing::publisher() {
    static_cast<void>(checked_own(shared_));
    return BroadcastPublisher(shared_);
}

BroadcastReader BroadcastRing::reader(BroadcastPolicy policy, BroadcastStart start) {
    static_cast<void>(checked_own(shared_));
    return {shared_, policy, start};
}

std::vector<BroadcastReaderInfo> BroadcastRing::readers() const {
    BroadcastShared& shared = checked_own(shared_);
    std::vector<BroadcastReaderInfo> all;
    const std::lock_guard lock(shared.memory());
    for (std::size_t line = 0; line < shared.lines(); ++line) {
        if (auto info = shared.info(line); info.reader >= 0) {
            all.push_back(info);
        }
    }
    return all;
}

std::size_t BroadcastRing::memory() const {
    return checked_own(shared_).arena().bytes();
}

} // namespace corymb
