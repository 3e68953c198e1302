// SPDX-License-Identifier: Apache-2.0
// The objects that the ranks of a group share: a board and a core, in the heap or in a file of
// several processes. Also the knowledge of this process about the others.
#pragma once

#include "base/shared_memory.hpp"
#include "channel/env.hpp"
#include "channel/wait_ladder.hpp"
#include "group/group.hpp"
#include "multicast/board.hpp"
#include "multicast/core.hpp"
#include "multicast/options.hpp"
#include "multicast/shape.hpp"

#include <corymb/multicast.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corymb::detail {

struct MulticastShared : group::Group {
    using Core = multicast::Core<channel::StandardEnv>;

    /// `to` is null for threads of this process.
    MulticastShared(int ranks, const MulticastOptions& options, std::shared_ptr<SharedMemory> to);
    /// Opens the memory of another process. Throws as MulticastGroup::open.
    explicit MulticastShared(std::shared_ptr<SharedMemory> with);

    /// The part of a call that is of this process.
    struct Call {
        std::function<void()> fn;
        std::exception_ptr error; ///< The exception of the record's `trouble`, among threads.
    };

    [[nodiscard]] multicast::Position position_of(Rank rank) const {
        return order.position_of[static_cast<std::size_t>(rank)];
    }

    /// The caller holds the rank from now on. Throws Errc::invalid_argument when it is taken.
    void take_place(Rank rank);
    void release_place(Rank rank) noexcept;
    /// Buries the owners whose processes have ended.
    void look_after();
    /// The last process that has ended while it held the rank.
    [[nodiscard]] int lost_pid(Rank rank);
    /// "rank 3 (pid 4711)", or "rank 3" among threads.
    [[nodiscard]] std::string name_of(Rank rank);

    /// Records the exception in flight of a call that runs on `rank`.
    void note_trouble(std::uint32_t slot, Rank rank) noexcept;
    /// Before a call begins.
    void prepare(std::uint32_t slot, Rank initiator, std::function<void()> fn,
                 std::int64_t begin_ns);
    /// Finishes a complete call; returns its error.
    std::exception_ptr finish(std::uint32_t slot);
    /// The ranks that a complete call named and that have ended before their part.
    [[nodiscard]] std::vector<Rank> lost_in(std::uint32_t slot) const;
    /// The ranks that have not run the call of a slot yet, in order.
    [[nodiscard]] std::vector<MulticastLate> late(std::uint32_t slot, std::int64_t begin_ns);

private:
    multicast::Board board_;

public:
    const int size;
    const multicast::Preorder order;
    const std::string reason; ///< Reason for the topology.
    const std::int64_t deadline_ns;
    const channel::WaitLadder::Settings waiting;
    /// Arguments of the wait ladder; here nothing breaks or copies.
    channel::WaitLadder::Flag unbroken;
    Core core;

    [[nodiscard]] multicast::CallRecord& record(std::uint32_t slot) const noexcept {
        return board_.call(slot);
    }
    [[nodiscard]] Call& call(std::uint32_t slot) const noexcept { return calls_[slot]; }

private:
    MulticastShared(const multicast::Resolved& topology, int ranks,
                    std::shared_ptr<SharedMemory> to);
    [[nodiscard]] const group::Place& place_of(Rank rank) const noexcept {
        return place(static_cast<std::size_t>(rank));
    }
    /// With the lock: buries the owners of these ranks whose processes have ended.
    void bury(Rank first, Rank end);

    std::unique_ptr<Call[]> calls_;
};

} // namespace corymb::detail
