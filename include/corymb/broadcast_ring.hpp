// SPDX-License-Identifier: Apache-2.0
// A broadcast ring: one publisher, many readers, in threads or in processes. Readers join and leave
// while it runs. docs/reference/messages.md states the guarantees.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/wait_policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

namespace detail {
struct BroadcastShared;    // shared by publisher and readers; src/message/
struct BroadcastPublished; // the publisher's end
struct BroadcastRead;      // a reader's end
[[noreturn]] CORYMB_EXPORT void throw_wrong_broadcast(std::size_t got, std::size_t wanted);
} // namespace detail

/// The treatment of a reader that is a whole ring behind. The reader chooses.
enum class BroadcastPolicy : std::uint8_t {
    block,   ///< The publisher waits for it.
    drop,    ///< The publisher goes on without it, and it is told with an error.
    overrun, ///< The reader misses messages and is told their number.
};

/// The first message of a reader.
enum class BroadcastStart : std::uint8_t {
    next, ///< The next one that is published.
    last, ///< The last one before it joined, if there is one, then the next: for states.
};

struct BroadcastOptions {
    /// Longest message; at most 16 MiB less two bytes. Up to 56 bytes a message is one cache line.
    std::size_t message_bytes = 56;
    /// Messages that the ring holds: 2 to 2^20, rounded up to a power of two; at most 1 GiB.
    std::size_t slots = 256;
    /// Readers at the same time: 1 to 65536. Each has two cache line pairs.
    int readers = 64;
    /// The memory can be shared with other processes (`BroadcastRing::make_descriptor`).
    bool between_processes = false;
    /// Longest wait of `BroadcastPublisher::publish`; 0: one minute.
    std::chrono::nanoseconds deadline{0};
    WaitPolicy wait = WaitPolicy::ladder;
    /// Processes of one user that give the same name meet at one ring, which the first of them
    /// makes with its options. The name is free again when no process that gave it has a handle of
    /// the ring any more. Implies `between_processes`. Empty: no name.
    std::string_view name{};
};

/// A message as a reader sees it, in memory of its own until its callback returns.
struct BroadcastMessage {
    std::span<const std::byte> bytes;
    std::uint64_t number = 0; ///< From 1, in the order of publishing.
    std::uint64_t missed = 0; ///< Messages before it that this reader was too late for.
};

/// How far a reader is.
struct BroadcastReaderInfo {
    int reader = -1;
    std::uint32_t pid = 0;
    BroadcastPolicy policy = BroadcastPolicy::block;
    /// Number of the last message that it has told to have read; it tells in quarters of the ring,
    /// and when it has found nothing more.
    std::uint64_t last = 0;
    std::uint64_t lag = 0; ///< Messages published since.
    bool is_dropped = false;
    bool has_ended = false; ///< The reader's process has ended.
};

/// The publishing end. Movable, not copyable; used by one thread at a time.
class CORYMB_EXPORT BroadcastPublisher {
public:
    BroadcastPublisher() noexcept;
    BroadcastPublisher(BroadcastPublisher&& other) noexcept;
    BroadcastPublisher& operator=(BroadcastPublisher&& other) noexcept;
    BroadcastPublisher(const BroadcastPublisher&) = delete;
    BroadcastPublisher& operator=(const BroadcastPublisher&) = delete;
    /// Closes the ring: readers still get its messages.
    ~BroadcastPublisher();

    /// Copies a message into the ring. False: a reader that blocks is a whole ring behind, and
    /// nothing was published. Throws Errc::invalid_argument (longer than `message_bytes`, bytes
    /// without an address, a handle that a fork has copied).
    [[nodiscard]] bool try_publish(const void* data, std::size_t bytes);
    /// As `try_publish`, but waits for readers that block, asleep when it lasts, at most `limit`
    /// (0: the ring's deadline). Then it throws Errc::timeout, and nothing was published. `ranks()`
    /// are the readers in the way; the text gives the process of each, whether it is stopped, and
    /// how far it is. A reader whose process has ended is dropped instead.
    void publish(const void* data, std::size_t bytes,
                 std::chrono::nanoseconds limit = std::chrono::nanoseconds{0});
    template <class T>
    void publish_value(const T& value,
                       std::chrono::nanoseconds limit = std::chrono::nanoseconds{0}) {
        static_assert(detail::moves_as_bytes<T>());
        publish(&value, sizeof value, limit);
    }

    /// How many messages were published: the number of the last one.
    [[nodiscard]] std::uint64_t published() const noexcept;
    /// Goes on without a reader, whatever its policy. Throws Errc::invalid_argument when there is
    /// none of this number.
    void drop(int reader);
    /// Readers that were dropped or have ended since the last call, as they were then. Readers that
    /// have noticed and left are not listed.
    [[nodiscard]] std::vector<BroadcastReaderInfo> take_dropped();

private:
    friend class BroadcastRing;
    explicit BroadcastPublisher(std::shared_ptr<detail::BroadcastShared> shared);
    std::unique_ptr<detail::BroadcastPublished, void (*)(detail::BroadcastPublished*)> state_;
};

/// A reader. Movable, not copyable; used by one thread at a time.
///
/// It gets the messages that are published after it has joined, and before them the last one if it
/// starts there, each once and in order. With the policy `overrun` there may be gaps, whose length
/// it is told.
class CORYMB_EXPORT BroadcastReader {
public:
    BroadcastReader() noexcept;
    BroadcastReader(BroadcastReader&& other) noexcept;
    BroadcastReader& operator=(BroadcastReader&& other) noexcept;
    BroadcastReader(const BroadcastReader&) = delete;
    BroadcastReader& operator=(const BroadcastReader&) = delete;
    /// Leaves.
    ~BroadcastReader();

    /// Unique among the readers of the moment.
    [[nodiscard]] int number() const noexcept;
    [[nodiscard]] BroadcastPolicy policy() const noexcept;

    /// Calls callback(const BroadcastMessage&) for the present messages, at most `most` and at most
    /// a ring full. Returns their number. When the callback throws, its message counts as read. It
    /// must not use this reader. Throws Errc::timeout when the publisher has dropped this reader,
    /// and it has read the last message in reach.
    template <class Callback>
    std::size_t probe(Callback&& callback,
                      std::size_t most = std::numeric_limits<std::size_t>::max());
    /// As `probe`, with callback(const T& value, const BroadcastMessage&). Throws Errc::mismatch
    /// for a message that is not as long as a T.
    template <class T, class Callback>
    std::size_t probe_values(Callback&& callback,
                             std::size_t most = std::numeric_limits<std::size_t>::max());

    /// Returns when a message is there, at once or after a sleep. False: `limit` has passed, or the
    /// publisher has closed the ring. Throws Errc::timeout as `probe`, Errc::team_broken when the
    /// publisher's process has ended without closing it and there is no other publisher yet; both
    /// only when nothing is there to read.
    [[nodiscard]] bool wait(std::chrono::nanoseconds limit);
    /// Whether the publisher has closed the ring and everything is read.
    [[nodiscard]] bool at_end();
    /// Number of the last message that was read or missed.
    [[nodiscard]] std::uint64_t last() const noexcept;

private:
    friend class BroadcastRing;
    using Handler = void (*)(void* self, const BroadcastMessage& message);
    BroadcastReader(std::shared_ptr<detail::BroadcastShared> shared, BroadcastPolicy policy,
                    BroadcastStart start);
    std::size_t probe_with(Handler handler, void* self, std::size_t most);
    std::unique_ptr<detail::BroadcastRead, void (*)(detail::BroadcastRead*)> state_;
};

/// A handle on a ring; copies name one ring. Thread-safe. Publisher and readers keep the memory
/// that they need.
class CORYMB_EXPORT BroadcastRing {
public:
    /// A new one. Throws Error: invalid_argument (options out of their ranges), unsupported and io
    /// (no memory between processes). With a name also invalid_argument (that of a group of another
    /// kind), unsupported (another PID namespace) and timeout (its holder does not answer for a
    /// minute).
    explicit BroadcastRing(const BroadcastOptions& options = {});
    /// The ring behind a descriptor of `make_descriptor`, which this process has inherited or was
    /// sent, and which stays the caller's. Throws Error: invalid_argument (of something else),
    /// unsupported (another user's, or this process lacks a system call that the others have).
    [[nodiscard]] static BroadcastRing open(int descriptor);
    /// A descriptor of the ring's memory, inherited by child processes, which the caller closes.
    /// Throws Errc::invalid_argument for a ring that is not `between_processes`.
    [[nodiscard]] int make_descriptor() const;

    /// Makes this thread the publisher. If the process of an earlier one has ended without closing
    /// the ring, this one goes on after its last message. Throws Errc::invalid_argument while there
    /// is a publisher, and when it has closed the ring.
    [[nodiscard]] BroadcastPublisher publisher();
    /// Makes this thread a reader from now on. Takes a lock; the publisher is not disturbed. Throws
    /// Errc::invalid_argument when there are `BroadcastOptions::readers` readers already.
    [[nodiscard]] BroadcastReader reader(BroadcastPolicy policy = BroadcastPolicy::block,
                                         BroadcastStart start = BroadcastStart::next);

    /// All readers and how far they are. O(readers), with the lock of `reader`.
    [[nodiscard]] std::vector<BroadcastReaderInfo> readers() const;
    /// Bytes of shared memory.
    [[nodiscard]] std::size_t memory() const;

private:
    explicit BroadcastRing(std::shared_ptr<detail::BroadcastShared> shared) noexcept;
    std::shared_ptr<detail::BroadcastShared> shared_;
};

template <class Callback>
std::size_t BroadcastReader::probe(Callback&& callback, std::size_t most) {
    using F = std::remove_reference_t<Callback>;
    return probe_with(
        [](void* self, const BroadcastMessage& message) { (*static_cast<F*>(self))(message); },
        const_cast<std::remove_const_t<F>*>(std::addressof(callback)), most);
}

template <class T, class Callback>
std::size_t BroadcastReader::probe_values(Callback&& callback, std::size_t most) {
    static_assert(detail::moves_as_bytes<T>());
    return probe(
        [&callback](const BroadcastMessage& message) {
            if (message.bytes.size() != sizeof(T)) {
                detail::throw_wrong_broadcast(message.bytes.size(), sizeof(T));
            }
            T value;
            std::memcpy(&value, message.bytes.data(), sizeof value);
            callback(std::as_const(value), message);
        },
        most);
}

} // namespace corymb
