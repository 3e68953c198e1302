// SPDX-License-Identifier: Apache-2.0
// A rank's part of a replicated object, without the object's type. The protocol is in
// src/remote/replica.hpp.
#pragma once

#include <corymb/detail/part_memory.hpp>
#include <corymb/detail/remote_function.hpp>
#include <corymb/export.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/rank.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace corymb::detail {

/// What has to be known of the type of a replicated object.
struct ReplicaType {
    std::size_t bytes;
    bool is_plain; ///< Its bytes are all of it: it may lie in the memory of several processes.
    void (*construct)(void* at, const void* from);
    void (*destroy)(void* object) noexcept;
};

/// Bytes of plain data that an operation gives at most.
inline constexpr std::size_t longest_replica_result = 200;

/// An operation as a replica applies it. The reply of the request goes nowhere.
struct ReplicaRequest : Incoming {
    void* object;
    std::span<std::byte> result; ///< Empty: nobody wants it.
};

/// Which ranks share a replica.
struct CORYMB_EXPORT ReplicaPlaces {
    /// `group_of`: by rank; ranks of one number share a replica.
    explicit ReplicaPlaces(const std::vector<int>& group_of);
    std::vector<std::size_t> of_rank;       ///< By rank: its replica.
    std::vector<std::vector<Rank>> members; ///< By replica, in order.
    [[nodiscard]] Rank leader(std::size_t replica) const { return members[replica].front(); }
};

struct ReplicaSizes {
    std::size_t log_bytes;
    std::size_t operation_bytes;
};

/// The memory of a log or of a replica. The last of those that have a replica open ends its
/// objects, if they are no plain data.
class CORYMB_EXPORT ReplicaMemory {
public:
    /// A new log. Throws as PartMemory.
    ReplicaMemory(const ReplicaPlaces& places, const ReplicaSizes& sizes);
    /// A new replica: two instances, copies of `initial`. Throws as PartMemory, and what the copies
    /// throw.
    ReplicaMemory(std::size_t members, const ReplicaSizes& sizes, const ReplicaType& type,
                  const void* initial);
    /// That of another rank. `type`: of a replica; null for a log.
    ReplicaMemory(const PartName& name, const ReplicaType* type);
    ReplicaMemory(ReplicaMemory&& other) noexcept = default;
    ReplicaMemory& operator=(ReplicaMemory&&) = delete;
    ~ReplicaMemory();
    [[nodiscard]] const PartMemory& part() const noexcept { return memory_; }

private:
    PartMemory memory_;
    void (*destroy_)(void* object) noexcept = nullptr; ///< Null: nothing is to be done.
};

/// For the thread of its rank.
class CORYMB_EXPORT ReplicaCore {
public:
    ReplicaCore(const ReplicaPlaces& places, ReplicaMemory log, ReplicaMemory replica,
                const ReplicaType& type);
    ReplicaCore(const ReplicaCore&) = delete;
    ReplicaCore& operator=(const ReplicaCore&) = delete;
    ~ReplicaCore();

    /// The object until `leave`, after an attempt to bring it up to date. May be nested. Throws
    /// Errc::mismatch and Errc::io if the replica has missed an operation.
    [[nodiscard]] const void* enter();
    void leave() noexcept;

    /// Where the log ends, for a read that is to see all of it. Throws Errc::invalid_argument
    /// within a read of this rank, which sees the object as it was when that began.
    [[nodiscard]] std::uint64_t latest() const;
    /// Whether the next read sees all before that position.
    [[nodiscard]] bool has(std::uint64_t position) const noexcept;

    /// Room for an operation, without the number of its function. Throws Errc::invalid_argument if
    /// that is too long, or if a read of this rank is under way.
    [[nodiscard]] std::span<std::byte> begin(std::size_t bytes);
    /// It is written: asks for it.
    void ask(std::uint64_t function);
    /// Nothing that was asked for is still to be done.
    [[nodiscard]] bool is_done() const noexcept;
    /// What the last operation has given. Throws what it has thrown.
    [[nodiscard]] std::span<const std::byte> result() const;

    /// Applies what there is, for all ranks that share the replica. Waits for others a moment.
    void combine();
    /// As `combine`, in two turns, so that the log need not keep anything for this replica.
    void catch_up();
    /// In the last turn there was no room in the log.
    [[nodiscard]] bool is_full() const noexcept;
    /// The ranks of other replicas for which the log keeps so much that the longest operation has
    /// no room.
    [[nodiscard]] std::vector<Rank> late() const;
    /// How long to wait before the next turn, after so many; 0: give others their turn.
    [[nodiscard]] static std::chrono::nanoseconds pause(int turns) noexcept;

    [[nodiscard]] std::uint64_t bytes_logged() const noexcept;
    [[nodiscard]] MemoryUse memory() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace corymb::detail
