// SPDX-License-Identifier: Apache-2.0
// A broadcast ring's shared memory, in the heap or in a file of several processes, and the two
// kinds of ends that its handles hold.
#pragma once

#include "base/arena.hpp"
#include "base/one_user.hpp"
#include "base/shared_memory.hpp"
#include "channel/broadcast_ring.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/wait_until.hpp"
#include "channel/waiter_cpus.hpp"
#include "group/group.hpp"

#include <corymb/broadcast_ring.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corymb::detail {

using BroadcastEnv = channel::StandardEnv;

/// The data beside the ring. The readers have the first places of the group, by line, the publisher
/// the last one.
struct BroadcastHead {
    enum State : std::uint32_t { unborn, open, closed };

    BroadcastHead(const BroadcastOptions& with, Reach reach)
        : options(with), room(reach), bell(reach) {}

    BroadcastOptions options;               ///< Does not change.
    channel::EventCount<BroadcastEnv> room; ///< The publisher's, while readers block it.
    channel::EventCount<BroadcastEnv, channel::Sleepers::many> bell; ///< The readers'.
    BroadcastEnv::Atomic<std::uint32_t> state; ///< A State; only ever grows. Changed with the lock.
};

/// The parts of a ring in an arena.
struct BroadcastFound {
    BroadcastHead* head = nullptr;
    channel::BroadcastRing<BroadcastEnv>* ring = nullptr;
    channel::BroadcastShape shape{};
};
/// The ring in an arena; empty when the arena holds something else. Call it with the lock, or on
/// memory that is only looked at.
[[nodiscard]] std::optional<BroadcastFound> find_broadcast(const Arena& arena);
/// The reader that a line's words describe, whose process is `pid`; `reader` is -1 when the line is
/// free.
[[nodiscard]] BroadcastReaderInfo reader_info(channel::BroadcastRing<BroadcastEnv>& ring,
                                              std::size_t line, std::uint32_t pid) noexcept;

struct BroadcastShared : group::Group {
    using Ring = channel::BroadcastRing<BroadcastEnv>;

    /// `to` is null for threads of this process.
    BroadcastShared(const BroadcastOptions& options, std::shared_ptr<SharedMemory> to);
    explicit BroadcastShared(std::shared_ptr<SharedMemory> with);

    [[nodiscard]] const BroadcastOptions& options() const noexcept { return head->options; }
    [[nodiscard]] std::size_t lines() const noexcept { return shape.readers; }
    /// A line for a reader of this process. Throws as BroadcastRing::reader.
    [[nodiscard]] std::size_t take_line(BroadcastPolicy policy,
                                        channel::BroadcastReceiver<BroadcastEnv>& receiver);
    /// The publisher's place.
    [[nodiscard]] std::size_t publishing() const noexcept { return places() - 1; }
    /// The reader of a line, which may be free. Call it with the lock.
    [[nodiscard]] BroadcastReaderInfo info(std::size_t reader) noexcept;
    /// Frees the lines of readers whose processes have ended. Returns these readers.
    std::vector<BroadcastReaderInfo> reclaim();
    /// The publisher's process if it has ended before it closed the ring, and none has followed; 0:
    /// it has not.
    [[nodiscard]] std::uint32_t lost_publisher();
    [[nodiscard]] BroadcastHead::State state() const;

    BroadcastHead* head = nullptr;
    Ring* ring = nullptr;
    channel::BroadcastShape shape{};
    channel::WaiterCpus* cpus = nullptr;

private:
    std::vector<BroadcastReaderInfo> reclaim_locked();
};

/// "reader 3 (pid 4711, stopped)".
[[nodiscard]] std::string name_of(const BroadcastShared& shared, const BroadcastReaderInfo& reader);

struct BroadcastPublished {
    explicit BroadcastPublished(std::shared_ptr<BroadcastShared> with);
    ~BroadcastPublished();
    BroadcastPublished(const BroadcastPublished&) = delete;
    BroadcastPublished& operator=(const BroadcastPublished&) = delete;

    /// Throws as `try_publish` does.
    void check(const void* data, std::size_t bytes) const;
    [[nodiscard]] bool try_publish(const void* data, std::size_t bytes);
    void publish(const void* data, std::size_t bytes, std::int64_t limit_ns);
    void drop(int reader);
    std::vector<BroadcastReaderInfo> take_dropped();

    const std::shared_ptr<BroadcastShared> shared;
    channel::BroadcastSender<BroadcastEnv> sender;
    OneUser user{"publisher"};

private:
    void put(const void* data, std::size_t bytes);
    void drop_ended();
    [[noreturn]] void throw_late();

    channel::Waiting waiting_;
    std::int64_t looked_at_ = 0;             // When the processes were looked after.
    std::vector<BroadcastReaderInfo> ended_; // Readers that have ended and were not told yet.
    std::vector<std::uint64_t> told_;        // By line: tag of the last drop that was told.
};

struct BroadcastRead {
    using Handler = void (*)(void* self, const BroadcastMessage& message);

    BroadcastRead(std::shared_ptr<BroadcastShared> with, BroadcastPolicy how, BroadcastStart start);
    ~BroadcastRead();
    BroadcastRead(const BroadcastRead&) = delete;
    BroadcastRead& operator=(const BroadcastRead&) = delete;

    std::size_t probe(Handler handler, void* self, std::size_t most);
    bool wait(std::int64_t limit_ns);
    bool at_end();
    [[nodiscard]] std::uint64_t last() const noexcept {
        return receiver.position() - (early_ ? 1 : 0);
    }

    const std::shared_ptr<BroadcastShared> shared;
    const BroadcastPolicy policy;
    channel::BroadcastReceiver<BroadcastEnv> receiver;
    std::size_t line = 0;
    OneUser user{"reader"};

private:
    void check() const;
    [[nodiscard]] bool has_something() noexcept;
    void tell() noexcept;
    [[noreturn]] void throw_dropped();

    channel::Waiting waiting_;
    std::vector<std::uint64_t> copy_; // Copy of the message whose callback runs, or of `early_`.
    // Length of the message before the first one, which was copied when this reader joined.
    std::optional<std::size_t> early_;
    std::uint64_t missed_ = 0; // Messages missed since the last one.
    bool is_probing_ = false;
};

} // namespace corymb::detail
