// SPDX-License-Identifier: Apache-2.0
// Operations of the publisher and of a reader.
#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "channel/look_once.hpp"
#include "group/slices.hpp"
#include "message/broadcast_state.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace corymb::detail {

using channel::BroadcastKind;
using channel::LookOnce;

using Got = channel::BroadcastReceiver<BroadcastEnv>::Got;

namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

} // namespace

BroadcastPublished::BroadcastPublished(std::shared_ptr<BroadcastShared> with)
    : shared(std::move(with)), waiting_(shared->options().wait, is_short_of_time(2), shared->cpus),
      told_(shared->lines()) {
    const bool follows = shared->lost_publisher() != 0;
    const std::lock_guard lock(shared->memory());
    auto& head = *shared->head;
    const bool is_unborn = head.state.load(std::memory_order_relaxed) == BroadcastHead::unborn;
    if (!is_unborn && !(follows && shared->place(shared->publishing()).pid == 0)) {
        refuse("the ring has, or had, its publisher; make a ring for each, or wait until the "
               "publisher's process has ended");
    }
    shared->take(shared->publishing());
    sender = {*shared->ring, shared->shape};
    head.state.store(BroadcastHead::open, std::memory_order_relaxed);
}

BroadcastPublished::~BroadcastPublished() {
    if (user.is_inherited()) {
        return; // The parent goes on.
    }
    change_if_possible(shared->memory(), [this] {
        shared->head->state.store(BroadcastHead::closed, std::memory_order_relaxed);
    });
    shared->head->bell.wake_if_parked();
}

void BroadcastPublished::check(const void* data, std::size_t bytes) const {
    if (bytes > shared->options().message_bytes) {
        refuse("a message of " + std::to_string(bytes) +
               " bytes is longer than this ring carries; make it with message_bytes of at least "
               "that, not " +
               std::to_string(shared->options().message_bytes));
    }
    if (data == nullptr && bytes != 0) {
        refuse("a message of " + std::to_string(bytes) + " bytes needs an address, not null");
    }
}

void BroadcastPublished::put(const void* data, std::size_t bytes) {
    sender.publish(data, bytes);
    shared->head->bell.wake_if_parked();
}

bool BroadcastPublished::try_publish(const void* data, std::size_t bytes) {
    LookOnce now;
    if (!sender.reserve(now)) [[unlikely]] {
        if (!shared->is_machine_wide() || now_ns() - looked_at_ < group::look_every_ns) {
            return false;
        }
        drop_ended();
        if (!sender.reserve(now)) {
            return false;
        }
    }
    put(data, bytes);
    return true;
}

void BroadcastPublished::publish(const void* data, std::size_t bytes, std::int64_t limit_ns) {
    LookOnce now;
    auto look = [this, &now]() noexcept {
        return sender.reserve(now);
    };
    const auto wait = [&](std::int64_t ns) {
        return channel::wait_until(waiting_, look, ns, shared->head->room);
    };
    if (!look() && !group::wait_in_slices(limit_ns, group::look_every_ns, wait,
                                          [this](bool /*is_last*/) { drop_ended(); })) {
        throw_late();
    }
    put(data, bytes);
}

void BroadcastPublished::drop_ended() {
    looked_at_ = now_ns();
    const auto ended = shared->reclaim();
    ended_.insert(ended_.end(), ended.begin(), ended.end());
}

void BroadcastPublished::throw_late() {
    std::string text;
    std::vector<int> late;
    const std::lock_guard lock(shared->memory());
    for (std::size_t line = 0; line < shared->lines(); ++line) {
        const BroadcastReaderInfo reader = shared->info(line);
        if (reader.reader < 0 || reader.policy != BroadcastPolicy::block || reader.is_dropped ||
            reader.lag < shared->shape.slots.slots) {
            continue;
        }
        text += (late.empty() ? "" : ", ") + name_of(*shared, reader) + " has read " +
                std::to_string(reader.last) + " messages and is " + std::to_string(reader.lag) +
                " behind";
        late.push_back(reader.reader);
    }
    throw Error(Errc::timeout,
                "publish has found no room within its limit: " +
                    (late.empty() ? "the reader that was late has just gone on" : text) +
                    "; wait longer, drop it, or let such readers join with another policy",
                late);
}

void BroadcastPublished::drop(int reader) {
    const std::lock_guard lock(shared->memory());
    if (reader >= 0 && static_cast<std::size_t>(reader) < shared->lines()) {
        const auto line = static_cast<std::size_t>(reader);
        const channel::BroadcastPlace place{
            shared->ring->line(line).place.load(std::memory_order_relaxed)};
        if (place.kind() != BroadcastKind::none) {
            sender.drop(line, place.tag());
            shared->head->bell.wake_if_parked(); // The reader may be asleep.
            return;
        }
    }
    refuse("there is no reader " + std::to_string(reader));
}

std::vector<BroadcastReaderInfo> BroadcastPublished::take_dropped() {
    drop_ended();
    auto dropped = std::exchange(ended_, {});
    const std::lock_guard lock(shared->memory());
    for (std::size_t line = 0; line < shared->lines(); ++line) {
        const BroadcastReaderInfo reader = shared->info(line);
        const std::uint64_t tag = shared->ring->line(line).dropped.load(std::memory_order_relaxed);
        if (reader.reader >= 0 && reader.is_dropped && std::exchange(told_[line], tag) != tag) {
            dropped.push_back(reader);
        }
    }
    return dropped;
}

BroadcastRead::BroadcastRead(std::shared_ptr<BroadcastShared> with, BroadcastPolicy how,
                             BroadcastStart start)
    : shared(std::move(with)), policy(how),
      waiting_(shared->options().wait, is_short_of_time(2), shared->cpus),
      copy_(BroadcastShared::Ring::words_of(shared->options().message_bytes)) {
    line = shared->take_line(how, receiver); // Nothing may throw once it has joined.
    std::size_t length = 0;
    if (start == BroadcastStart::last && receiver.take_last(copy_.data(), length)) {
        early_ = length;
    }
}

BroadcastRead::~BroadcastRead() {
    if (!user.is_inherited()) {
        receiver.leave();
        shared->head->room.wake_if_parked();
    }
}

void BroadcastRead::check() const {
    if (is_probing_) {
        refuse("callbacks may not use their reader: return first");
    }
}

void BroadcastRead::tell() noexcept {
    receiver.settle();
    if (policy == BroadcastPolicy::block) {
        shared->head->room.wake_if_parked();
    }
}

std::size_t BroadcastRead::probe(Handler handler, void* self, std::size_t most) {
    check();
    struct Probing { // Tells the publisher, however it ends.
        explicit Probing(BroadcastRead& of) noexcept : read(of) { read.is_probing_ = true; }
        Probing(const Probing&) = delete;
        Probing& operator=(const Probing&) = delete;
        ~Probing() {
            read.is_probing_ = false;
            if (count != 0) {
                read.tell();
            }
        }
        BroadcastRead& read;
        std::size_t count = 0;
    } probing(*this);
    const std::size_t lap = std::min<std::size_t>(most, shared->shape.slots.slots);
    const std::size_t quarter = std::max<std::size_t>(shared->shape.slots.slots / 4, 1);
    if (early_ && lap != 0) {
        ++probing.count;
        const std::size_t length = *std::exchange(early_, std::nullopt);
        handler(self, {std::as_bytes(std::span(copy_)).first(length), receiver.position(), 0});
    }
    LookOnce now;
    for (std::size_t looks = 0; probing.count < lap && looks < 2 * lap; ++looks) {
        std::size_t length = 0;
        const Got got = receiver.receive(now, copy_.data(), length);
        if (got == Got::message) {
            const BroadcastMessage message{std::as_bytes(std::span(copy_)).first(length),
                                           receiver.position(), std::exchange(missed_, 0)};
            if (++probing.count % quarter == 0) {
                tell(); // The publisher need not wait for the end.
            }
            handler(self, message);
        } else if (got == Got::overtaken && policy == BroadcastPolicy::overrun) {
            missed_ += receiver.skip();
        } else if (got == Got::overtaken || receiver.is_dropped()) {
            if (probing.count == 0) {
                throw_dropped();
            }
            break; // The next probe goes on.
        } else {
            break;
        }
    }
    return probing.count;
}

void BroadcastRead::throw_dropped() {
    throw Error(Errc::timeout,
                "reader " + std::to_string(line) + " was dropped: it had read " +
                    std::to_string(receiver.position()) + " of " +
                    std::to_string(shared->ring->published.load(std::memory_order_relaxed)) +
                    " messages, and the ring holds " + std::to_string(shared->shape.slots.slots) +
                    "; make a new reader, of a larger ring or with another policy",
                {static_cast<int>(line)});
}

bool BroadcastRead::has_something() noexcept {
    return early_ || receiver.peek() != Got::nothing || receiver.is_dropped();
}

bool BroadcastRead::wait(std::int64_t limit_ns) {
    check();
    auto look = [this]() noexcept {
        return has_something() ||
               shared->head->state.load(std::memory_order_relaxed) == BroadcastHead::closed;
    };
    const auto wait = [&](std::int64_t ns) {
        return channel::wait_until(waiting_, look, ns, shared->head->bell);
    };
    const auto look_after = [this](bool /*is_last*/) {
        if (const std::uint32_t pid = shared->lost_publisher(); pid != 0 && !has_something()) {
            throw Error(Errc::team_broken,
                        "the publisher (pid " + std::to_string(pid) +
                            ") has ended without closing the ring, after message " +
                            std::to_string(receiver.position()));
        }
    };
    if (!group::wait_in_slices(limit_ns, shared->slice_ns(), wait, look_after)) {
        return false;
    }
    const Got got = receiver.peek();
    if (early_ || got == Got::message ||
        (got == Got::overtaken && policy == BroadcastPolicy::overrun)) {
        return true;
    }
    if (got == Got::overtaken || receiver.is_dropped()) {
        throw_dropped();
    }
    return !at_end();
}

bool BroadcastRead::at_end() {
    check();
    return shared->state() == BroadcastHead::closed && !has_something();
}

} // namespace corymb::detail
