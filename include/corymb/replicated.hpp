// SPDX-License-Identifier: Apache-2.0
// An object that each group of ranks near each other has a copy of. docs/reference/shared.md says
// what readers may see. After Calciu, Sen, Balakrishnan, Aguilera: Black-box Concurrent Data
// Structures for NUMA Architectures (ASPLOS 2017).
#pragma once

#include <corymb/detail/now_or_later.hpp>
#include <corymb/detail/replica_core.hpp>
#include <corymb/detail/replica_operation.hpp>
#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/task_semaphore.hpp>
#include <corymb/this_task.hpp>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

/// How changes reach the copies of a replicated object.
enum class ReplicatedMode : std::uint8_t {
    update,    ///< Each copy applies all operations.
    invalidate ///< Copies are dropped: corymb/replicated_value.hpp.
};
template <class T, ReplicatedMode mode = ReplicatedMode::update>
class Replicated;

struct ReplicatedOptions {
    /// Bytes of operations that a slow replica may be behind. Rounded up to a power of two, and to
    /// four operations at least. Too small: updates wait for replicas whose ranks are busy.
    std::size_t log_bytes = 65'536;
    /// The longest operation, with its arguments. Each rank has room for one.
    std::size_t operation_bytes = 256;
    /// Ranks that give one number share a replica. Negative: the number of the memory node (NUMA)
    /// of the CPU on which the rank runs now.
    int replica_group = -1;
};

/// One object, with a copy (replica) for each group of ranks near each other. All ranks of a group
/// of one node make it together. Reads are local; updates are operations, which all replicas apply
/// in one order. Movable, but not while an update waits; for the thread of its rank. Ends before
/// its rank leaves.
///
/// Ranks in several processes: T is plain data (is_plain_data). Threads of one process: any T that
/// can be copied.
///
/// An operation depends on the object and its arguments only, also in what it throws, since each
/// replica applies it twice: a replica is two instances of T, one of which is read while the other
/// one changes. If an operation throws, the update throws that, and what it has changed stays.
template <class T>
class Replicated<T, ReplicatedMode::update> {
    static_assert(std::is_copy_constructible_v<T>, "each replica begins as a copy");
    static_assert(alignof(T) <= 128, "replicas are aligned to pairs of cache lines");

public:
    using Options = ReplicatedOptions;

    /// For co_await, on all ranks, with equal arguments: replicas that are copies of `initial`.
    /// Names as Distributed. Each rank asks each other one once. Throws Errc::unsupported if ranks
    /// are on several nodes; Errc::invalid_argument if they are in several processes and T is no
    /// plain data; Errc::io when there is no memory; Errc::team_broken when a rank has gone.
    [[nodiscard]] static Task<Replicated> make(std::string name, T initial = T(),
                                               Options options = {}) {
        detail::require_replicas_can_be(type.is_plain);
        Replicated made(name, options.replica_group);
        co_await made.open(initial, options);
        co_return made;
    }

    /// What f(object) gives; `f` is called at once, with the replica of this rank, as const.
    /// It waits for no other rank, but may take the lock of the group once for each rank that has
    /// ended. It may apply operations of others first. `f` neither waits nor keeps a pointer into
    /// the object. Throws what `f` throws; Errc::mismatch and Errc::io if the replica has missed an
    /// operation.
    ///
    /// Sequentially consistent: it sees the first so many updates of the one order, among them all
    /// of this rank that have returned, and never fewer than an earlier read of this rank. What
    /// other ranks have told may not be seen yet: use `read_latest`.
    template <class F>
    auto read(F&& f) const {
        const Reading reading(*core_);
        return std::invoke(std::forward<F>(f), reading.object());
    }
    /// For co_await: as `read`, linearizable: it sees each update that had returned before it.
    /// Waits for ranks that share the replica and apply operations, or read what is to be changed.
    /// Throws also Errc::invalid_argument within a `read`.
    template <class F>
    [[nodiscard]] auto read_latest(F f) const
        -> detail::NowOrLater<std::decay_t<std::invoke_result_t<F&, const T&>>> {
        const std::uint64_t end = core_->latest();
        if (!core_->has(end)) {
            core_->combine();
        }
        if (core_->has(end)) {
            return detail::now([&] { return read(f); });
        }
        return read_later(core_.get(), end, std::move(f));
    }

    /// For co_await: changes the object by op(object, arguments...) and gives its result, which is
    /// plain data of at most 200 bytes. `op` and the arguments travel as those of a call, and they
    /// and nothing else are sent. The operation may be applied before this is awaited.
    ///
    /// Linearizable. It waits for ranks that share the replica and apply operations, or read what
    /// is to be changed; and, if the log is full, for a replica whose ranks do neither calls nor
    /// waits of corymb. Throws what the operation throws; Errc::invalid_argument if it is longer
    /// than the options allow, and within a `read`; Errc::mismatch and Errc::io if the replica has
    /// missed an operation; Errc::interrupted if the task is asked to stop while it waits: then the
    /// operation may or may not be applied.
    template <class Op, class... Arguments>
        requires std::is_invocable_v<Op&, T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto update(Op op, Arguments&&... arguments) {
        static_assert(detail::is_object_that_travels<Op>());
        using Operation = detail::ReplicaOperation<T, Op, detail::Sent<Arguments>...>;
        return begin(Operation(std::move(op), std::forward<Arguments>(arguments)...));
    }
    /// As the other `update`, for a method that is named: update<&T::insert>(arguments...).
    template <auto Method, class... Arguments>
    [[nodiscard]] auto update(Arguments&&... arguments) {
        return update(detail::ReplicaMethod<Method>(), std::forward<Arguments>(arguments)...);
    }

    /// Bytes that the operations of all ranks have taken in the log: 16 to 23 each beside what
    /// travels, and what was left free where the log began anew. Replicas send each other nothing
    /// else, unless the log is full: then they ask those behind to catch up.
    [[nodiscard]] std::uint64_t bytes_logged() const noexcept { return core_->bytes_logged(); }
    /// A replica counts on the first of its ranks, without what it points to: one instance as data
    /// if it is the first replica, all else as replicas.
    [[nodiscard]] MemoryUse memory() const noexcept {
        MemoryUse use = core_->memory();
        use.overhead += sizeof *this + sizeof(detail::ReplicaPart) + sizeof(RankBarrier);
        return use;
    }

private:
    static constexpr detail::ReplicaType type{
        sizeof(T), is_plain_data<T>,
        [](void* at, const void* from) { new (at) T(*static_cast<const T*>(from)); },
        [](void* object) noexcept {
            static_cast<T*>(object)->~T();
        }};

    class Reading {
    public:
        explicit Reading(detail::ReplicaCore& core)
            : core_(&core), object_(static_cast<const T*>(core.enter())) {}
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;
        ~Reading() { core_->leave(); }
        [[nodiscard]] const T& object() const noexcept { return *object_; }

    private:
        detail::ReplicaCore* core_;
        const T* object_;
    };
    /// One task of a rank updates at a time.
    class Turn {
    public:
        explicit Turn(TaskSemaphore& of) noexcept : of_(&of) {}
        Turn(Turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn() {
            if (of_ != nullptr) {
                of_->release();
            }
        }

    private:
        TaskSemaphore* of_;
    };

    Replicated(const std::string& name, int group)
        : part_(name, group < 0 ? detail::memory_node_here() : group),
          barrier_(std::make_unique<RankBarrier>(name + " (barrier)")),
          turn_(std::make_unique<TaskSemaphore>(1)) {}

    Task<> open(const T& initial, Options options) {
        std::vector<int> groups(static_cast<std::size_t>(ranks()));
        co_await finish([&] {
            for (Rank rank = 0; rank < ranks(); ++rank) {
                static_cast<void>(spawn(ask_group(rank, groups[static_cast<std::size_t>(rank)])));
            }
        });
        const detail::ReplicaPlaces places(groups);
        const std::size_t own = places.of_rank[static_cast<std::size_t>(here())];
        const detail::ReplicaSizes sizes{options.log_bytes, options.operation_bytes};
        std::unique_ptr<detail::ReplicaMemory> log;
        std::unique_ptr<detail::ReplicaMemory> replica;
        std::exception_ptr why;
        try {
            if (here() == 0) {
                log = std::make_unique<detail::ReplicaMemory>(places, sizes);
                part_->log = log->part().name();
            }
            if (here() == places.leader(own)) {
                replica = std::make_unique<detail::ReplicaMemory>(places.members[own].size(), sizes,
                                                                  type, &initial);
                part_->replica = replica->part().name();
            }
        } catch (...) {
            why = std::current_exception();
        }
        if (why != nullptr) {
            barrier_->give_up(why);
        }
        co_await barrier_->arrive(); // All is made.
        if (log == nullptr) {
            const detail::PartName at = co_await part_.on(0).template call<&Part::log_name>();
            log = std::make_unique<detail::ReplicaMemory>(at, nullptr);
        }
        if (replica == nullptr) {
            const detail::PartName at =
                co_await part_.on(places.leader(own)).template call<&Part::replica_name>();
            replica = std::make_unique<detail::ReplicaMemory>(at, &type);
        }
        core_ = std::make_unique<detail::ReplicaCore>(places, std::move(*log), std::move(*replica),
                                                      type);
        part_->core = core_.get();
        co_await barrier_->arrive(); // All have it open.
    }
    Task<> ask_group(Rank rank, int& group) {
        group = co_await part_.on(rank).template call<&Part::group_number>();
    }

    template <class Operation>
    auto begin(Operation operation) -> detail::NowOrLater<typename Operation::Result> {
        if (!turn_->try_acquire()) {
            return ask_later(std::move(operation));
        }
        Turn turn(*turn_);
        if (!core_->is_done()) { // One that was interrupted.
            return ask_next(std::move(turn), std::move(operation));
        }
        ask(operation);
        core_->combine();
        if (core_->is_done()) {
            return detail::now([&] { return operation.result(*core_); });
        }
        return await_result<Operation>(std::move(turn));
    }
    template <class Operation>
    void ask(const Operation& operation) {
        const std::span<std::byte> room = core_->begin(operation.size());
        RemoteWriter writer(room);
        operation.write(writer);
        writer.require_full();
        core_->ask(Operation::function().id());
    }
    template <class Operation>
    Task<typename Operation::Result> ask_later(Operation operation) {
        co_await turn_->acquire();
        co_return co_await ask_next(Turn(*turn_), std::move(operation));
    }
    template <class Operation>
    Task<typename Operation::Result> ask_next(Turn turn, Operation operation) {
        co_await settle();
        ask(operation);
        co_return co_await await_result<Operation>(std::move(turn));
    }
    template <class Operation>
    Task<typename Operation::Result> await_result(Turn /*turn*/) {
        co_await settle();
        co_return Operation::result(*core_);
    }
    /// Until nothing that this rank has asked for is still to be done.
    Task<> settle() {
        unsigned full = 0;
        for (int turns = 0; !core_->is_done(); ++turns) {
            // Ever more rarely: those who are behind catch up when they have a turn.
            if (core_->is_full() && std::has_single_bit(++full)) {
                co_await rouse();
            }
            co_await pause(turns);
            core_->combine();
        }
    }
    /// Has the replicas that are behind catch up.
    Task<> rouse() {
        for (const Rank rank : core_->late()) {
            try {
                co_await part_.on(rank).template post<&Part::catch_up>();
            } catch (const Error& error) {
                if (error.code() != Errc::team_broken) { // It has gone: it is not late any more.
                    throw;
                }
            }
        }
    }
    static Task<> pause(int turns) {
        const std::chrono::nanoseconds time = detail::ReplicaCore::pause(turns);
        if (time.count() == 0) {
            co_await this_task::yield();
        } else {
            co_await this_task::sleep_for(time);
        }
    }
    template <class F>
    static Task<std::decay_t<std::invoke_result_t<F&, const T&>>>
    read_later(detail::ReplicaCore* core, std::uint64_t end, F f) {
        for (int turns = 0; !core->has(end); ++turns) {
            co_await pause(turns);
            core->combine();
        }
        const Reading reading(*core);
        co_return std::invoke(f, reading.object());
    }

    using Part = detail::ReplicaPart;
    Distributed<Part> part_;
    std::unique_ptr<RankBarrier> barrier_;
    std::unique_ptr<TaskSemaphore> turn_;
    std::unique_ptr<detail::ReplicaCore> core_;
};

} // namespace corymb
