// SPDX-License-Identifier: Apache-2.0
// Mailboxes: small unrequested messages, from any thread of a group to any other.
// docs/reference/messages.md states the guarantees and which protocol is for which group.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/rank.hpp>
#include <corymb/wait_policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace corymb {

class Machine;

namespace detail {
struct MailboxShared; // shared by the members of a group; src/message/
struct MailboxState;  // one of the members
struct MailboxAccess; // for layers above
[[noreturn]] CORYMB_EXPORT void throw_wrong_length(Rank from, std::size_t got, std::size_t wanted);
} // namespace detail

/// How messages travel and how a receiver learns of them.
enum class MailboxProtocol : std::uint8_t {
    /// The fastest on `MailboxOptions::machine`; without a model `ring` in groups of up to 16,
    /// `nvp` in larger ones.
    automatic,
    ring, ///< A ring for each pair that has sent; the receiver looks at each such ring.
    nvp,  ///< The rings of `ring`; the receiver looks at a bit for each sender instead.
    srbp, ///< A ring for each receiver, which all senders share: one word to look at.
};

/// The name that `mailbox_protocol` understands.
[[nodiscard]] CORYMB_EXPORT const char* to_string(MailboxProtocol protocol) noexcept;
/// "automatic", "ring", "nvp" or "srbp". Throws Errc::unknown_name.
[[nodiscard]] CORYMB_EXPORT MailboxProtocol mailbox_protocol(std::string_view name);

struct MailboxOptions {
    MailboxProtocol protocol = MailboxProtocol::automatic;
    /// Longest message; at most 16 MiB less two bytes. Up to 56 bytes a message is one cache line.
    std::size_t message_bytes = 56;
    /// Messages from one member to one other that may be unread: 1 to 65536, for srbp at most
    /// 524288 divided by the size of the group. `ring` and `nvp` round it up to a power of two.
    std::size_t capacity = 64;
    /// How `Mailbox::wait` and `Mailbox::wait_for_room` wait.
    WaitPolicy wait = WaitPolicy::ladder;
    /// The memory can be shared with other processes (`MailboxGroup::make_descriptor`).
    bool between_processes = false;
    /// For `automatic`: `choose_mailbox` is asked on this model, when the group is made.
    const Machine* machine = nullptr;
    /// Processes of one user that give the same name and size meet in one group, which the first of
    /// them makes with its options. The name is free again when no process that gave it has a
    /// handle of the group any more. Implies `between_processes`. Empty: no name.
    std::string_view name{};
};

/// A member's handle on its group: it sends to others and receives the messages sent to it.
/// Movable, not copyable; used by one thread at a time.
///
/// Messages of one sender come in the order in which they were sent, and each comes once. Messages
/// of different senders have no order. Only `wait`, `wait_for_room` and the forms of `send` with a
/// limit wait.
class CORYMB_EXPORT Mailbox {
public:
    Mailbox() noexcept;
    Mailbox(Mailbox&& other) noexcept;
    Mailbox& operator=(Mailbox&& other) noexcept;
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;
    /// Closes the mailbox: unread messages are lost, and a later send to it fails.
    ~Mailbox();

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;
    /// Longest message; 0 when closed.
    [[nodiscard]] std::size_t message_bytes() const noexcept;

    /// Copies `bytes` bytes into the channel to member `to`, which may be this one. Wait-free but
    /// for the first message to a member, which makes the channel. False: there is no room until
    /// `to` probes, and nothing was sent. Throws Errc::invalid_argument (no such member; longer
    /// than `message_bytes`; bytes without an address; `to` has closed its mailbox, which `ranks()`
    /// names), Errc::io when there is no memory for the channel, Errc::team_broken when the process
    /// of `to` is known to have ended, which is noticed while there is no room or a member waits.
    [[nodiscard]] bool send(Rank to, const void* data, std::size_t bytes);
    [[nodiscard]] bool send(Rank to, std::span<const std::byte> message) {
        return send(to, message.data(), message.size());
    }
    template <class T>
    [[nodiscard]] bool send_value(Rank to, const T& value) {
        static_assert(detail::moves_as_bytes<T>());
        return send(to, &value, sizeof value);
    }
    /// Returns when there is room for a message to `to`, at once or after a sleep, at most `limit`
    /// later. False: the limit has passed without. This mailbox's own messages wait meanwhile: of
    /// two members that both wait for room at the other, none goes on. Throws as `send`.
    [[nodiscard]] bool wait_for_room(Rank to, std::chrono::nanoseconds limit);
    /// `send` that waits for room. False: the limit has passed, and nothing was sent.
    [[nodiscard]] bool send(Rank to, const void* data, std::size_t bytes,
                            std::chrono::nanoseconds limit);
    [[nodiscard]] bool send(Rank to, std::span<const std::byte> message,
                            std::chrono::nanoseconds limit) {
        return send(to, message.data(), message.size(), limit);
    }
    template <class T>
    [[nodiscard]] bool send_value(Rank to, const T& value, std::chrono::nanoseconds limit) {
        static_assert(std::is_trivially_copyable_v<T>);
        return send(to, &value, sizeof value, limit);
    }
    /// Sends as many of the messages as there is room for, from the first on, and returns their
    /// number. The receiver is notified once.
    [[nodiscard]] std::size_t send_batch(Rank to,
                                         std::span<const std::span<const std::byte>> messages);

    /// Writes a message in place: calls `fill(std::span<std::byte>)` with up to `bytes` bytes,
    /// which returns how many of them are the message. False: no room, and `fill` was not called.
    /// When `fill` throws nothing is sent. It must not use this mailbox.
    template <class Fill>
    [[nodiscard]] bool send_in_place(Rank to, std::size_t bytes, Fill&& fill);

    /// Calls callback(Rank from, std::span<const std::byte> message) for the messages that are
    /// there, at most `most` of them, and returns how many. No sender keeps the others waiting: it
    /// has at most a channel full at a time. The message lies in the channel and is gone when the
    /// callback returns. The callback may send. When it throws, its message counts as received, and
    /// the rest comes with the next probe. It must not probe or wait (Errc::invalid_argument), nor
    /// end this object.
    template <class Callback>
    std::size_t probe(Callback&& callback,
                      std::size_t most = std::numeric_limits<std::size_t>::max());
    /// As `probe`, with callback(Rank from, const T& value). Throws Errc::mismatch for a message
    /// that is not as long as a T.
    template <class T, class Callback>
    std::size_t probe_values(Callback&& callback,
                             std::size_t most = std::numeric_limits<std::size_t>::max());

    /// Returns when there is a message, at once or after a sleep, at most `limit` later. False: the
    /// limit has passed without one. Throws Errc::invalid_argument inside a callback of `probe`,
    /// Errc::team_broken once for each member whose process has ended without closing its mailbox,
    /// when there is nothing to read.
    [[nodiscard]] bool wait(std::chrono::nanoseconds limit);

    /// Whether `member` has closed its mailbox, or its process is known to have ended: after the
    /// next probes nothing more comes from it. With `srbp` false for as long as messages wait to be
    /// read. Constant time. Throws Errc::invalid_argument for a rank that is none.
    [[nodiscard]] bool has_left(Rank member) const;

private:
    friend class MailboxGroup;
    friend struct detail::MailboxAccess;
    using Writer = std::size_t (*)(void* self, std::byte* place, std::size_t bytes);
    using Handler = void (*)(void* self, Rank from, const std::byte* message, std::size_t bytes);
    Mailbox(std::shared_ptr<detail::MailboxShared> shared, Rank rank);
    bool send_with(Rank to, std::size_t bytes, Writer fill, void* self);
    std::size_t probe_with(Handler handler, void* self, std::size_t most);

    std::unique_ptr<detail::MailboxState, void (*)(detail::MailboxState*)> state_;
};

/// The mailboxes of `size` threads, of one process or of several: construct once, then each thread
/// joins with its own rank, in other processes after `open`.
class CORYMB_EXPORT MailboxGroup {
public:
    /// Throws Errc::invalid_argument for size < 1 and options out of their ranges.
    /// With `between_processes` also Errc::unsupported and io (no such memory). With a name also
    /// invalid_argument (the group of that name has another size or is of another kind),
    /// unsupported (another PID namespace) and timeout (its holder does not answer for a minute).
    explicit MailboxGroup(int size, const MailboxOptions& options = {});
    /// The group behind a descriptor of `make_descriptor`, which this process has inherited or was
    /// sent, and which stays the caller's. Throws Error: invalid_argument (of something else),
    /// unsupported (another user's, or this process lacks a system call that the others have).
    [[nodiscard]] static MailboxGroup open(int descriptor);
    /// A descriptor of the group's memory, inherited by child processes, which the caller closes.
    /// Throws Errc::invalid_argument for a group that is not `between_processes`.
    [[nodiscard]] int make_descriptor() const;
    /// Makes this thread `rank`; messages may have been sent to it already. A rank that has closed
    /// its mailbox, or whose process has ended, can be taken again: what was sent to it before and
    /// not read is lost, what it has sent still arrives. Throws Errc::invalid_argument when the
    /// rank is out of range or taken, or has left a group with the protocol `srbp`.
    [[nodiscard]] Mailbox join(Rank rank);

    [[nodiscard]] int size() const noexcept;
    /// Never `automatic`.
    [[nodiscard]] MailboxProtocol protocol() const noexcept;
    /// Why it was taken, for people: the predicted times and the model's name, or the rule.
    [[nodiscard]] const std::string& reason() const noexcept;
    /// Bytes of shared memory. Grows with the pairs that have sent (ring, nvp) or with the members
    /// that have joined or were sent to (srbp).
    [[nodiscard]] std::size_t memory() const;

private:
    explicit MailboxGroup(std::shared_ptr<detail::MailboxShared> shared) noexcept;
    std::shared_ptr<detail::MailboxShared> shared_;
};

template <class Fill>
bool Mailbox::send_in_place(Rank to, std::size_t bytes, Fill&& fill) {
    using F = std::remove_reference_t<Fill>;
    return send_with(
        to, bytes,
        [](void* self, std::byte* place, std::size_t room) -> std::size_t {
            return (*static_cast<F*>(self))(std::span(place, room));
        },
        const_cast<std::remove_const_t<F>*>(std::addressof(fill)));
}

template <class Callback>
std::size_t Mailbox::probe(Callback&& callback, std::size_t most) {
    using F = std::remove_reference_t<Callback>;
    return probe_with(
        [](void* self, Rank from, const std::byte* message, std::size_t bytes) {
            (*static_cast<F*>(self))(from, std::span(message, bytes));
        },
        const_cast<std::remove_const_t<F>*>(std::addressof(callback)), most);
}

template <class T, class Callback>
std::size_t Mailbox::probe_values(Callback&& callback, std::size_t most) {
    static_assert(detail::moves_as_bytes<T>());
    return probe(
        [&callback](Rank from, std::span<const std::byte> message) {
            if (message.size() != sizeof(T)) {
                detail::throw_wrong_length(from, message.size(), sizeof(T));
            }
            T value;
            std::memcpy(&value, message.data(), sizeof value);
            callback(from, std::as_const(value));
        },
        most);
}

} // namespace corymb
