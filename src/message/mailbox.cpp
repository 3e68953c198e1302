// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "group/name_meeting.hpp"
#include "message/mailbox_state.hpp"

#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/mailbox_model.hpp>

#include <array>
#include <string>
#include <utility>

namespace corymb {

using detail::MailboxState;

namespace {

constexpr int ring_most_members = 16;
constexpr std::size_t capacity_most = std::size_t{1} << 16U;
constexpr std::size_t members_most = std::size_t{1} << 20U;

constexpr std::array<std::pair<MailboxProtocol, const char*>, 4> names{{
    {MailboxProtocol::automatic, "automatic"},
    {MailboxProtocol::ring, "ring"},
    {MailboxProtocol::nvp, "nvp"},
    {MailboxProtocol::srbp, "srbp"},
}};

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

void check_range(const char* what, std::size_t value, std::size_t least, std::size_t most) {
    if (value < least || value > most) {
        refuse(std::string(what) + " is " + std::to_string(value) + ", but must be " +
               std::to_string(least) + " to " + std::to_string(most));
    }
}

bool fits_srbp(int size, const MailboxOptions& options) {
    return options.capacity * static_cast<std::size_t>(size) <=
           channel::SynchronisedShape::slots_most;
}

/// The protocol of a group, and the reason for it.
MailboxChoice choice(int size, const MailboxOptions& options) {
    if (options.protocol != MailboxProtocol::automatic) {
        return {options.protocol, std::string(to_string(options.protocol)) + ": as asked for"};
    }
    if (options.machine != nullptr) {
        // A process may die between its ticket and its message.
        return choose_mailbox(*options.machine, size,
                              !options.between_processes && fits_srbp(size, options));
    }
    const bool is_small = size <= ring_most_members;
    return {is_small ? MailboxProtocol::ring : MailboxProtocol::nvp,
            std::string(is_small ? "ring: up to " : "nvp: more than ") +
                std::to_string(ring_most_members) + " members, and no model was given"};
}

struct Checked {
    MailboxOptions options; ///< Invariant: the protocol is not automatic.
    std::string reason;
};

Checked checked(int size, MailboxOptions options) {
    if (size < 1 || static_cast<std::size_t>(size) > members_most) {
        refuse("a group of mailboxes has 1 to " + std::to_string(members_most) + " members, not " +
               std::to_string(size));
    }
    check_range("message_bytes", options.message_bytes, 0, channel::message_bytes_most);
    check_range("capacity", options.capacity, 1, capacity_most);
    if (options.protocol == MailboxProtocol::srbp && !fits_srbp(size, options)) {
        const std::size_t in_all = options.capacity * static_cast<std::size_t>(size);
        refuse("srbp has one ring for the messages of all senders: capacity times size may be at "
               "most " +
               std::to_string(channel::SynchronisedShape::slots_most) + ", not " +
               std::to_string(in_all) + "; lower the capacity or take nvp");
    }
    MailboxChoice chosen = choice(size, options);
    options.protocol = chosen.protocol;
    options.machine = nullptr; // The options lie in memory that processes share.
    return {std::move(options), std::move(chosen.reason)};
}

// Apart, so that the checks are all that a probe of silent peers spends on them.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_handle() {
    refuse_empty("mailbox handle", "it was moved from, or never joined a group");
}
[[noreturn, gnu::cold, gnu::noinline]] void refuse_callback() {
    refuse("callbacks may not probe or wait: return first");
}

/// A call of a mailbox. Throws Errc::invalid_argument for an empty handle, one of a parent process
/// and while another thread is in a call.
detail::InCall<MailboxState>
in_call(const std::unique_ptr<MailboxState, void (*)(MailboxState*)>& state) {
    if (state == nullptr) [[unlikely]] {
        refuse_handle();
    }
    return detail::InCall(*state);
}

std::shared_ptr<detail::MailboxShared> opened(std::shared_ptr<SharedMemory> memory) {
    auto shared = std::make_shared<detail::MailboxShared>(std::move(memory));
    shared->reason =
        std::string(to_string(shared->options.protocol)) + ": chosen where the group was made";
    return shared;
}

detail::MailboxShared& checked(const std::shared_ptr<detail::MailboxShared>& group) {
    if (group == nullptr) {
        refuse_empty("group of mailboxes", "it was moved from");
    }
    return *group;
}

void check_outside_callback(const MailboxState& state) {
    if (state.is_probing || state.is_filling) [[unlikely]] {
        refuse_callback();
    }
}

/// A reserved place, which is given back unless it is committed.
class Reservation {
public:
    Reservation(MailboxState& state, MailboxState::Out& to, std::size_t bytes)
        : state_(state), to_(to) {
        channel::LookOnce now;
        place_ = state.is_srbp ? to.shared_ring.reserve(now, bytes) : to.ring.reserve(now, bytes);
        state.is_filling = true;
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        state_.is_filling = false;
        if (place_ != nullptr && state_.is_srbp) {
            to_.shared_ring.give_up();
            state_.notify(to_); // The message may have held up messages of other senders.
        }
    }
    [[nodiscard]] std::byte* place() const noexcept { return place_; }
    void commit(std::size_t length) {
        place_ = nullptr;
        if (state_.is_srbp) {
            to_.shared_ring.commit(length);
        } else {
            to_.ring.commit(length);
        }
        state_.notify(to_);
    }

private:
    MailboxState& state_;
    MailboxState::Out& to_;
    std::byte* place_ = nullptr;
};

} // namespace

const char* to_string(MailboxProtocol protocol) noexcept {
    for (const auto& [value, name] : names) {
        if (value == protocol) {
            return name;
        }
    }
    return "unknown";
}

MailboxProtocol mailbox_protocol(std::string_view name) {
    for (const auto& [value, known] : names) {
        if (name == known) {
            return value;
        }
    }
    throw Error(Errc::unknown_name, "there is no mailbox protocol '" + std::string(name) +
                                        "'; there are automatic, ring, nvp and srbp");
}

void detail::throw_wrong_length(Rank from, std::size_t got, std::size_t wanted) {
    throw Error(Errc::mismatch,
                "rank " + std::to_string(from) + " sent " + std::to_string(got) +
                    " bytes where this rank expects values of " + std::to_string(wanted) +
                    "; both must use the same type",
                {from});
}

Mailbox::Mailbox() noexcept : state_(nullptr, nullptr) {}
Mailbox::Mailbox(Mailbox&& other) noexcept = default;
Mailbox& Mailbox::operator=(Mailbox&& other) noexcept = default;
Mailbox::~Mailbox() = default;

Mailbox::Mailbox(std::shared_ptr<detail::MailboxShared> shared, Rank rank)
    : state_(new MailboxState(std::move(shared), rank), detail::end_handle<MailboxState>) {}

Rank Mailbox::rank() const noexcept {
    return state_ == nullptr ? -1 : state_->rank;
}
int Mailbox::size() const noexcept {
    return state_ == nullptr ? 0 : state_->group->size;
}
std::size_t Mailbox::message_bytes() const noexcept {
    return state_ == nullptr ? 0 : state_->group->options.message_bytes;
}

detail::MailboxState& detail::MailboxAccess::open_state(Mailbox& of) {
    if (of.state_ == nullptr) {
        refuse_handle();
    }
    return *of.state_;
}

bool Mailbox::send(Rank to, const void* data, std::size_t bytes) {
    const auto call = in_call(state_);
    MailboxState& state = *call;
    auto& way = state.out(to, bytes);
    if (data == nullptr && bytes != 0) {
        refuse("a message of " + std::to_string(bytes) + " bytes needs an address, not null");
    }
    if (!state.send(way, data, bytes)) {
        state.suspect(to);
        return false;
    }
    state.notify(way);
    return true;
}

bool Mailbox::wait_for_room(Rank to, std::chrono::nanoseconds limit) {
    return in_call(state_)->wait_for_room(to, bounded_ns(limit));
}

bool Mailbox::send(Rank to, const void* data, std::size_t bytes, std::chrono::nanoseconds limit) {
    return send(to, data, bytes) || (wait_for_room(to, limit) && send(to, data, bytes));
}

std::size_t Mailbox::send_batch(Rank to, std::span<const std::span<const std::byte>> messages) {
    const auto call = in_call(state_);
    MailboxState& state = *call;
    for (const auto& message : messages) { // All are right, or none is sent.
        static_cast<void>(state.out(to, message.size()));
    }
    auto& way = state.out(to, 0);
    std::size_t sent = 0;
    while (sent < messages.size() &&
           state.send(way, messages[sent].data(), messages[sent].size())) {
        ++sent;
    }
    if (sent != 0) {
        state.notify(way);
    } else if (!messages.empty()) {
        state.suspect(to);
    }
    return sent;
}

bool Mailbox::send_with(Rank to, std::size_t bytes, Writer fill, void* self) {
    const auto call = in_call(state_);
    MailboxState& state = *call;
    Reservation reservation(state, state.out(to, bytes), bytes);
    if (reservation.place() == nullptr) {
        state.suspect(to);
        return false;
    }
    const std::size_t length = fill(self, reservation.place(), bytes);
    if (length > bytes) {
        refuse("fill returned " + std::to_string(length) + " for a message of at most " +
               std::to_string(bytes) + " bytes");
    }
    reservation.commit(length);
    return true;
}

std::size_t Mailbox::probe_with(Handler handler, void* self, std::size_t most) {
    const auto call = in_call(state_);
    MailboxState& state = *call;
    check_outside_callback(state);
    return state.is_silent() ? 0 : state.probe(handler, self, most);
}

bool Mailbox::wait(std::chrono::nanoseconds limit) {
    const auto call = in_call(state_);
    MailboxState& state = *call;
    check_outside_callback(state);
    return state.wait(bounded_ns(limit));
}

bool Mailbox::has_left(Rank member) const {
    return in_call(state_)->has_left(member);
}

MailboxGroup::MailboxGroup(int size, const MailboxOptions& options) {
    MailboxOptions wanted = options;
    wanted.between_processes = options.between_processes || !options.name.empty();
    wanted.name = {};
    const Checked found = checked(size, wanted);
    const auto make = [&](std::shared_ptr<SharedMemory> memory) {
        auto made = std::make_shared<detail::MailboxShared>(size, found.options, std::move(memory));
        made->reason = found.reason;
        return made;
    };
    shared_ =
        options.name.empty()
            ? make(options.between_processes ? SharedMemory::create() : nullptr)
            : group::meet(std::string(options.name), group::Kind::mailboxes, size, make, opened);
}

MailboxGroup::MailboxGroup(std::shared_ptr<detail::MailboxShared> shared) noexcept
    : shared_(std::move(shared)) {}

MailboxGroup MailboxGroup::open(int descriptor) {
    return MailboxGroup(opened(SharedMemory::open(descriptor)));
}

int MailboxGroup::make_descriptor() const {
    return checked(shared_).make_descriptor();
}

Mailbox MailboxGroup::join(Rank rank) {
    checked(shared_).check_not_forked();
    if (rank < 0 || rank >= shared_->size) {
        refuse("there is no rank " + std::to_string(rank) + " in a group of " +
               std::to_string(shared_->size));
    }
    return {shared_, rank};
}

int MailboxGroup::size() const noexcept {
    return shared_ == nullptr ? 0 : shared_->size;
}
MailboxProtocol MailboxGroup::protocol() const noexcept {
    return shared_ == nullptr ? MailboxProtocol::automatic : shared_->options.protocol;
}
const std::string& MailboxGroup::reason() const noexcept {
    static const std::string& nothing = *new std::string; // Outlives all that may ask.
    return shared_ == nullptr ? nothing : shared_->reason;
}
std::size_t MailboxGroup::memory() const {
    checked(shared_).check_not_forked();
    return shared_->arena().bytes();
}

} // namespace corymb
