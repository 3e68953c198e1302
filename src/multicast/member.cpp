// SPDX-License-Identifier: Apache-2.0
#include "multicast/member.hpp"

#include "base/wait_clock.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace corymb::detail {

namespace {

// A waiting member takes over after so long without success, and again after longer times.
constexpr std::int64_t first_stall_ns = 50'000;
constexpr std::int64_t stall_max_ns = 10'000'000;

/// The envelope in front of each payload.
struct Envelope {
    std::uint32_t handler = 0; ///< Handler of a message.
    std::uint16_t bytes = 0;
    std::uint16_t is_message = 0;
};
static_assert(sizeof(Envelope) + multicast_message_bytes == multicast::payload_bytes);

/// Cuts a wait into stretches.
class Stretches {
public:
    explicit Stretches(std::int64_t limit_ns) noexcept : limit_ns_(limit_ns) {}
    /// 0: the limit has passed; never the first time, so that everything is tried once.
    std::int64_t next_ns() noexcept {
        const std::int64_t left = limit_ns_ - clock_.waited_ns();
        const std::int64_t least = std::exchange(least_ns_, 0);
        const std::int64_t stretch =
            std::exchange(stall_ns_, std::min(4 * stall_ns_, stall_max_ns));
        const std::int64_t next = std::max(std::min(left, stretch), least);
        clock_.expect_sleep(next);
        return next;
    }

private:
    WaitClock clock_;
    std::int64_t limit_ns_;
    std::int64_t stall_ns_ = first_stall_ns;
    std::int64_t least_ns_ = 1;
};

} // namespace

MulticastMember::MulticastMember(std::shared_ptr<MulticastShared> group, Rank own,
                                 Multicast::Handler on_message)
    : shared(std::move(group)), rank(own), position(shared->position_of(own)),
      ladder_(shared->core.spot(position), shared->unbroken, shared->waiting) {
    if (on_message) {
        handlers_.emplace_back(0, std::move(on_message));
    }
    shared->take_place(rank);
    try {
        inherit();
    } catch (...) {
        shared->release_place(rank);
        throw;
    }
}

MulticastMember::~MulticastMember() {
    if (!is_member && !owes_ && !user.is_inherited()) {
        shared->release_place(rank);
    }
}

void MulticastMember::inherit() {
    Stretches stretches(shared->deadline_ns);
    while (const std::int64_t stretch = stretches.next_ns()) {
        if (shared->core.inherit(position, ladder(stretch))) {
            return;
        }
        look_after_sometimes();
        rescue();
    }
    throw Error(Errc::timeout, "rank " + std::to_string(rank) +
                                   " cannot enter the multicast group: somebody has "
                                   "stopped at the beginning of a call; try again later");
}

void MulticastMember::require_outside(const char* what) const {
    if (is_running_) {
        throw Error(Errc::invalid_argument,
                    std::string(what) + " within a multicast call that runs on rank " +
                        std::to_string(rank) + ": a call must not use the group");
    }
}

void MulticastMember::add_handler(std::uint32_t id, Multicast::Handler handler) {
    require_outside("on");
    std::erase_if(handlers_, [id](const auto& one) { return one.first == id; });
    handlers_.emplace_back(id, std::move(handler));
}

channel::WaitLadder& MulticastMember::ladder(std::int64_t limit_ns) noexcept {
    ladder_.set_deadline(limit_ns);
    return ladder_;
}

template <class Done, class Stalled>
bool MulticastMember::wait_until(Done& done, std::int64_t limit_ns, const Stalled& stalled) {
    auto is_over = [&]() noexcept {
        return done() || broken_ != nullptr;
    };
    bool is_done = is_over();
    Stretches stretches(limit_ns);
    for (std::int64_t stretch = 1; !is_done && stretch != 0;) {
        stretch = stretches.next_ns();
        is_done = stretch == 0 ? is_over() : ladder(stretch).until(is_over, 0);
        if (!is_done && stretch != 0) {
            stalled();
        }
    }
    throw_if_broken();
    return is_done;
}

void MulticastMember::run_handler(std::uint32_t id, std::span<const std::byte> message) {
    for (const auto& [number, handler] : handlers_) {
        if (number == id) {
            handler(message);
            return;
        }
    }
    throw Error(Errc::invalid_argument,
                "rank " + std::to_string(rank) + " has no handler " + std::to_string(id) +
                    " for messages; give one to MulticastGroup::join or Multicast::on",
                {rank});
}

void MulticastMember::run(std::uint32_t slot, const std::byte* payload) noexcept {
    Envelope envelope;
    std::memcpy(&envelope, payload, sizeof envelope);
    is_running_ = true;
    try {
        if (envelope.is_message == 0) {
            shared->call(slot).fn();
        } else {
            run_handler(envelope.handler, {payload + sizeof envelope, envelope.bytes});
        }
    } catch (...) {
        shared->note_trouble(slot, rank);
    }
    is_running_ = false;
}

/// May be called in the middle of a wait, so a broken invariant is kept for its end.
int MulticastMember::serve() noexcept {
    try {
        return shared->core.poll(
            position, [this](std::uint32_t slot, const std::byte* payload) { run(slot, payload); });
    } catch (...) {
        broken_ = std::current_exception();
        return 0;
    }
}

void MulticastMember::throw_if_broken() const {
    if (broken_ != nullptr) [[unlikely]] {
        std::rethrow_exception(broken_);
    }
}

int MulticastMember::poll() {
    require_outside("poll");
    const int count = serve();
    throw_if_broken();
    return count;
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
        leave(); // Does the work that an earlier membership has left.
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
    if (user.is_inherited()) {
        return;
    }
    const OneUser::Call call = user.enter_when_free();
    if (is_running_ || !(is_member || owes_)) {
        return;
    }
    try {
        static_cast<void>(settle(shared->deadline_ns));
    } catch (const Error&) {
        // A broken invariant: the place stays taken, as that of a member that never leaves.
    }
}

bool MulticastMember::settle(std::int64_t limit_ns) {
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
        look_after_sometimes();
        rescue();
        if (slot >= 0) {
            core.take_over(static_cast<std::uint32_t>(slot), position);
        }
    }
    return false;
}

bool MulticastMember::is_look_due() const noexcept {
    return shared->is_machine_wide() && now_ns() - looked_at_ >= group::look_every_ns;
}

void MulticastMember::look_after_sometimes() {
    if (is_look_due()) {
        looked_at_ = now_ns();
        shared->look_after();
    }
}

void MulticastMember::rescue() {
    auto& core = shared->core;
    for (std::uint32_t slot = 0; slot < core.shape().slots; ++slot) {
        if (!core.adopt(slot, position)) {
            continue;
        }
        core.take_over(slot, position);
        if (core.is_complete(slot) || core.is_through(slot)) {
            shared->finish(slot);
        } else {
            core.give_up(slot);
        }
    }
}

std::uint32_t MulticastMember::claim() {
    int slot = -1;
    auto done = [&]() noexcept {
        slot = shared->core.claim(position);
        if (slot < 0) {
            static_cast<void>(serve());
        }
        return slot >= 0;
    };
    if (!done()) {
        rescue();
        const auto stalled = [this] {
            look_after_sometimes();
            rescue();
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

MulticastToken MulticastMember::call(std::function<void()> fn, std::uint32_t handler,
                                     std::span<const std::byte> message) {
    require_outside("call");
    const Envelope envelope{handler, static_cast<std::uint16_t>(message.size()),
                            static_cast<std::uint16_t>(fn ? 0 : 1)};
    std::byte payload[multicast::payload_bytes] = {};
    std::memcpy(payload, &envelope, sizeof envelope);
    if (!message.empty()) {
        std::memcpy(payload + sizeof envelope, message.data(), message.size());
    }
    MulticastToken token;
    token.slot_ = claim();
    token.begin_ns_ = now_ns();
    shared->prepare(token.slot_, rank, std::move(fn), token.begin_ns_);
    const bool is_named = shared->core.begin(token.slot_, position, payload, sizeof payload);
    token.member_ = shared_from_this();
    token.members_ = static_cast<int>(shared->core.named(token.slot_)) + (is_named ? 1 : 0);
    if (is_named) {
        run(token.slot_, payload);
    }
    return token;
}

bool MulticastMember::is_through(std::uint32_t slot, std::vector<Rank>& lost) {
    shared->core.take_over(slot, position);
    if (!shared->is_machine_wide() && !shared->core.shape().by_messages) {
        return false;
    }
    look_after_sometimes();
    if (!shared->core.is_through(slot)) {
        return false;
    }
    lost = shared->lost_in(slot);
    return true;
}

bool MulticastMember::has_ended(std::uint32_t slot, std::vector<Rank>& lost) {
    if (shared->core.is_complete(slot)) {
        return true;
    }
    // Not at every look: a member that is about to poll may do its forwarding itself.
    return is_look_due() && is_through(slot, lost);
}

bool MulticastMember::wait_for(std::uint32_t slot, std::int64_t limit_ns, std::vector<Rank>& lost) {
    bool has_lost = false;
    auto done = [&]() noexcept {
        static_cast<void>(serve());
        return has_lost || shared->core.is_complete(slot);
    };
    const auto stalled = [&] {
        has_lost = is_through(slot, lost);
    };
    if (wait_until(done, limit_ns, stalled)) {
        return true;
    }
    looked_at_ = 0; // Once more, whenever that was.
    return is_through(slot, lost);
}

} // namespace corymb::detail
