// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/replica_core.hpp>

#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "channel/env.hpp"
#include "channel/look_once.hpp"
#include "channel/patience.hpp"
#include "message/mailbox_shared.hpp"
#include "remote/failures.hpp"
#include "remote/functions.hpp"
#include "remote/remote_state.hpp"
#include "remote/replica.hpp"
#include "remote/tuning.hpp"

#include <corymb/detail/replica_operation.hpp>
#include <corymb/error.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace corymb::detail {

namespace {

using Env = channel::StandardEnv;
using Log = remote::OperationLog<Env>;
using Shared = remote::ReplicaShared<Env>;
using End = remote::ReplicaEnd<Env>;
using remote::Combined;
using remote::in_lines;

/// In front of a replica; behind it the shared part, and then the two instances.
struct alignas(line_pair_bytes) ReplicaHead {
    enum Fault : std::uint32_t { none, unknown_function, no_memory };
    std::size_t instance_bytes;
    std::size_t shared_bytes;
    std::atomic<std::uint32_t> fault; ///< Why an operation was not applied.

    [[nodiscard]] Shared& shared() noexcept {
        return *std::launder(reinterpret_cast<Shared*>(this + 1));
    }
    [[nodiscard]] std::byte* instance(std::size_t number) noexcept {
        return reinterpret_cast<std::byte*>(this + 1) + shared_bytes + number * instance_bytes;
    }
};

Log& log_in(const PartMemory& memory) noexcept {
    return *std::launder(reinterpret_cast<Log*>(memory.data()));
}
ReplicaHead& head_of_replica(const PartMemory& memory) noexcept {
    return *std::launder(reinterpret_cast<ReplicaHead*>(memory.data()));
}

/// The number of its function is in front of an operation.
constexpr std::size_t function_bytes = sizeof(std::uint64_t);

std::size_t longest_operation(const ReplicaSizes& sizes) noexcept {
    return std::max(sizes.operation_bytes, std::size_t{1}) + function_bytes;
}
std::size_t capacity_of(const ReplicaSizes& sizes) noexcept {
    return std::bit_ceil(
        std::max(sizes.log_bytes, 4 * remote::EntryHead::with(longest_operation(sizes))));
}
std::size_t shared_bytes_of(std::size_t members, const ReplicaSizes& sizes) noexcept {
    return in_lines(Shared::bytes(members, longest_operation(sizes)));
}

/// Looks at a word for a moment: what holds others up is short if they have a CPU.
class LookBriefly {
public:
    template <class Word, class Predicate, class T>
    [[nodiscard]] bool await(const Word& word, std::memory_order order, const Predicate& satisfied,
                             T& seen) const noexcept {
        auto look = [&]() noexcept {
            seen = word.load(order);
            return satisfied(seen);
        };
        return channel::look_for_a_while(look, remote::tuning::looks_of_a_combiner.value());
    }
};

} // namespace

void require_replicas_can_be(bool is_plain) {
    RemoteState& here = remote_state_here();
    for (Rank rank = 0; rank < here.transport.size(); ++rank) {
        if (!here.transport.shares_memory(rank)) {
            throw Error(Errc::unsupported,
                        "rank " + std::to_string(rank) +
                            " is on another node, and the log of a replicated object is in memory "
                            "that all ranks share: make one on each node, in a group of its ranks, "
                            "or keep the data in a SharedArray or SharedMap",
                        {rank});
        }
    }
    if (!is_plain && here.transport.near_group()->is_machine_wide()) {
        throw Error(Errc::invalid_argument,
                    "the ranks are in several processes, so a replicated object must be plain data "
                    "(corymb::is_plain_data): use arrays of a fixed size instead of containers, "
                    "and positions instead of pointers");
    }
}

ReplicaPlaces::ReplicaPlaces(const std::vector<int>& group_of) : of_rank(group_of.size()) {
    std::vector<int> groups(group_of);
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    members.resize(groups.size());
    for (std::size_t rank = 0; rank < group_of.size(); ++rank) {
        const auto replica = static_cast<std::size_t>(
            std::ranges::lower_bound(groups, group_of[rank]) - groups.begin());
        of_rank[rank] = replica;
        members[replica].push_back(static_cast<Rank>(rank));
    }
}

ReplicaMemory::ReplicaMemory(const ReplicaPlaces& places, const ReplicaSizes& sizes)
    : memory_(Log::bytes(places.members.size(), places.of_rank.size(), capacity_of(sizes))) {
    new (memory_.data()) Log(places.members.size(), places.of_rank.size(), capacity_of(sizes));
}

ReplicaMemory::ReplicaMemory(std::size_t members, const ReplicaSizes& sizes,
                             const ReplicaType& type, const void* initial)
    : memory_(sizeof(ReplicaHead) + shared_bytes_of(members, sizes) + 2 * in_lines(type.bytes)) {
    auto* const head = new (memory_.data())
        ReplicaHead{in_lines(type.bytes), shared_bytes_of(members, sizes), ReplicaHead::none};
    new (head + 1) Shared(members, longest_operation(sizes), capacity_of(sizes));
    type.construct(head->instance(0), initial);
    try {
        type.construct(head->instance(1), initial);
    } catch (...) {
        type.destroy(head->instance(0));
        throw;
    }
    destroy_ = type.is_plain ? nullptr : type.destroy;
}

ReplicaMemory::ReplicaMemory(const PartName& name, const ReplicaType* type) : memory_(name) {
    if (type != nullptr) {
        head_of_replica(memory_).shared().open();
        destroy_ = type->is_plain ? nullptr : type->destroy;
    }
}

ReplicaMemory::~ReplicaMemory() {
    if (memory_.data() == nullptr || destroy_ == nullptr) {
        return;
    }
    ReplicaHead& head = head_of_replica(memory_);
    if (head.shared().close()) {
        destroy_(head.instance(0));
        destroy_(head.instance(1));
    }
}

/// Also what the combiner does its work on.
struct ReplicaCore::State {
    State(const ReplicaPlaces& with, ReplicaMemory of_log, ReplicaMemory of_replica,
          const ReplicaType& of)
        : own_state(remote_state_here()), here(own_state.self), own(own_state.transport.rank()),
          places(with), log_memory(std::move(of_log)), replica_memory(std::move(of_replica)),
          head(head_of_replica(replica_memory.part())), log(log_in(log_memory.part())),
          object_bytes(of.bytes), is_plain(of.is_plain),
          replica(places.of_rank[static_cast<std::size_t>(own)]),
          end(log, head.shared(), replica,
              static_cast<std::size_t>(std::ranges::find(members(), own) - members().begin()), own),
          is_known_dead(places.of_rank.size()) {
        log.open(static_cast<std::size_t>(own));
    }

    [[nodiscard]] const std::vector<Rank>& members() const noexcept {
        return places.members[replica];
    }
    template <class Waiter>
    void combine(Waiter waiter) {
        if (depth == 0 && !here.expired()) {
            came_of_it = end.combine(waiter, *this);
        }
    }
    /// Sometimes, while it is held up: the scheduler looks only in longer sleeps.
    void look_after_others() noexcept {
        if (came_of_it == Combined::done) {
            return;
        }
        const std::int64_t now = now_ns();
        if (now - looked_after_ns < remote::tuning::first_sleep_ns.value()) {
            return;
        }
        looked_after_ns = now;
        try {
            static_cast<void>(own_state.transport.near_group()->look_after());
        } catch (const Error&) { // The lock of the group is not to be had.
        }
    }
    /// Throws if this replica has missed an operation.
    void require_whole() const {
        const std::uint32_t fault = head.fault.load(std::memory_order_relaxed);
        if (fault == ReplicaHead::none) [[likely]] {
            return;
        }
        if (fault == ReplicaHead::no_memory) {
            throw Error(Errc::io, "there was no memory for an operation of a replicated object, so "
                                  "this replica differs from the others: make a new one");
        }
        throw Error(Errc::mismatch,
                    "a rank does not know a function that changes a replicated object, so this "
                    "replica differs from the others: load the same libraries in all ranks before "
                    "it is made");
    }

    /// Throws within a read of this rank: it would wait for itself.
    void require_no_read() const {
        if (depth != 0) {
            throw Error(Errc::invalid_argument,
                        "this rank reads the replicated object: end the read before an update or "
                        "a read of the latest");
        }
    }

    // As the object of a ReplicaEnd.
    void apply(std::size_t instance, const std::byte* operation, std::size_t bytes,
               std::byte* outcome) noexcept;
    void copy(std::size_t from, std::size_t to) noexcept {
        std::memcpy(head.instance(to), head.instance(from), object_bytes);
    }
    [[nodiscard]] Rank rank_of(std::size_t member) const noexcept { return members()[member]; }
    [[nodiscard]] bool is_dead(Rank rank) noexcept {
        const auto number = static_cast<std::size_t>(rank);
        if (!is_known_dead[number]) {
            try {
                is_known_dead[number] = own_state.transport.has_left(rank);
            } catch (const Error&) { // The lock of the group is not to be had.
            }
        }
        return is_known_dead[number];
    }
    [[nodiscard]] bool is_abandoned(std::size_t of) noexcept {
        return std::ranges::none_of(places.members[of], [this](Rank rank) { return is_in(rank); });
    }
    [[nodiscard]] bool is_in(Rank rank) noexcept {
        return log.is_open(static_cast<std::size_t>(rank)) && !is_dead(rank);
    }

    RemoteState& own_state;
    std::weak_ptr<RemoteState> here; ///< Null once the rank has left.
    Rank own;
    ReplicaPlaces places;
    ReplicaMemory log_memory;
    ReplicaMemory replica_memory;
    ReplicaHead& head;
    Log& log;
    std::size_t object_bytes;
    bool is_plain;
    std::size_t replica;
    End end;
    std::vector<bool> is_known_dead; ///< By rank.
    FunctionCache functions;
    Combined came_of_it = Combined::done;
    std::int64_t looked_after_ns = 0;
    std::size_t asked_bytes = 0;
    int depth = 0;            ///< Reads of this rank that are under way.
    std::size_t instance = 0; ///< What they read.
};

namespace {

/// How an outcome begins.
enum class Came : std::uint64_t { value, failure };
constexpr std::size_t came_bytes = sizeof(Came);
constexpr std::size_t result_bytes = remote::ReplicaSlot<Env>::outcome_bytes - came_bytes;
static_assert(longest_replica_result <= result_bytes);

void write_failure(std::byte* to, const std::exception_ptr& thrown) noexcept {
    try {
        Failure failure = failure_of(thrown);
        const std::size_t bytes = RemoteCodec<Failure>::size(failure);
        if (bytes > result_bytes) { // The text is cut, and then the type is lost.
            failure.text.resize(failure.text.size() -
                                std::min(failure.text.size(), bytes - result_bytes));
        }
        if (RemoteCodec<Failure>::size(failure) > result_bytes) {
            failure = {};
        }
        const Came came = Came::failure;
        std::memcpy(to, &came, sizeof came);
        RemoteWriter writer({to + came_bytes, RemoteCodec<Failure>::size(failure)});
        RemoteCodec<Failure>::write(writer, failure);
    } catch (...) { // No memory: the caller learns that it has failed.
        const Came came = Came::failure;
        std::memset(to, 0, came_bytes + result_bytes);
        std::memcpy(to, &came, sizeof came);
    }
}

} // namespace

void ReplicaCore::State::apply(std::size_t to, const std::byte* operation, std::size_t bytes,
                               std::byte* outcome) noexcept {
    RemoteFunction::Invoke invoke = nullptr;
    std::uint64_t function = 0;
    std::memcpy(&function, operation, sizeof function);
    const Came came = Came::value;
    try {
        try {
            invoke = functions.find(function);
        } catch (const Error&) {
            head.fault.store(ReplicaHead::unknown_function, std::memory_order_relaxed);
            throw;
        }
        if (outcome != nullptr) {
            std::memcpy(outcome, &came, sizeof came);
        }
        ReplicaRequest request{{Reply(own_state, own, Reply::nobody),
                                RemoteReader({operation + function_bytes, bytes - function_bytes})},
                               head.instance(to),
                               outcome == nullptr ? std::span<std::byte>()
                                                  : std::span(outcome + came_bytes, result_bytes)};
        invoke(request);
    } catch (const std::bad_alloc&) {
        head.fault.store(ReplicaHead::no_memory, std::memory_order_relaxed);
        if (outcome != nullptr) {
            write_failure(outcome, std::current_exception());
        }
    } catch (...) {
        if (outcome != nullptr) {
            write_failure(outcome, std::current_exception());
        }
    }
}

ReplicaCore::ReplicaCore(const ReplicaPlaces& places, ReplicaMemory log, ReplicaMemory replica,
                         const ReplicaType& type)
    : state_(std::make_unique<State>(places, std::move(log), std::move(replica), type)) {}

ReplicaCore::~ReplicaCore() {
    state_->log.close(static_cast<std::size_t>(state_->own));
}

const void* ReplicaCore::enter() {
    State& own = *state_;
    if (own.depth == 0) {
        if (own.end.is_behind()) {
            own.combine(channel::LookOnce());
        }
        own.instance = own.end.enter();
        try {
            own.require_whole(); // After `enter`: what is shown brings its fault along (P2).
        } catch (...) {
            own.end.leave();
            throw;
        }
    }
    ++own.depth;
    return own.head.instance(own.instance);
}

void ReplicaCore::leave() noexcept {
    if (--state_->depth == 0) {
        state_->end.leave();
    }
}

std::uint64_t ReplicaCore::latest() const {
    state_->require_no_read();
    return state_->end.end();
}

bool ReplicaCore::has(std::uint64_t position) const noexcept {
    return state_->end.has(position);
}

std::span<std::byte> ReplicaCore::begin(std::size_t bytes) {
    State& own = *state_;
    own.require_whole();
    own.require_no_read();
    const std::size_t most = own.head.shared().operation_bytes() - function_bytes;
    if (bytes > most) {
        throw Error(Errc::invalid_argument,
                    "the operation takes " + std::to_string(bytes) +
                        " bytes with its arguments, and the log has room for " +
                        std::to_string(most) +
                        ": make the object with a larger ReplicatedOptions::operation_bytes");
    }
    own.asked_bytes = function_bytes + bytes;
    return {own.end.operation() + function_bytes, bytes};
}

void ReplicaCore::ask(std::uint64_t function) {
    std::memcpy(state_->end.operation(), &function, sizeof function);
    state_->end.ask(state_->asked_bytes);
}

bool ReplicaCore::is_done() const noexcept {
    return state_->end.is_done();
}

std::span<const std::byte> ReplicaCore::result() const {
    const std::byte* const outcome = state_->end.outcome();
    Came came = Came::value;
    std::memcpy(&came, outcome, sizeof came);
    const std::span<const std::byte> rest(outcome + came_bytes, result_bytes);
    if (came == Came::failure) {
        RemoteReader reader(rest);
        std::rethrow_exception(exception_of(RemoteCodec<Failure>::read(reader), state_->own));
    }
    return rest;
}

void ReplicaCore::combine() {
    state_->combine(LookBriefly());
    state_->look_after_others();
}

void ReplicaCore::catch_up() {
    state_->combine(LookBriefly());
    state_->combine(LookBriefly());
}

bool ReplicaCore::is_full() const noexcept {
    return state_->came_of_it == Combined::full;
}

std::vector<Rank> ReplicaCore::late() const {
    State& own = *state_;
    const remote::Position end =
        own.log.end_of(own.end.end(), remote::EntryHead::with(own.head.shared().operation_bytes()));
    std::vector<Rank> late;
    for (std::size_t replica = 0; replica < own.places.members.size(); ++replica) {
        const remote::Position progress = own.log.progress(replica).load(std::memory_order_relaxed);
        if (replica == own.replica || end <= progress + own.log.capacity()) {
            continue;
        }
        for (const Rank member : own.places.members[replica]) {
            if (own.is_in(member)) {
                late.push_back(member);
            }
        }
    }
    return late;
}

std::chrono::nanoseconds ReplicaCore::pause(int turns) noexcept {
    const int yields = remote::tuning::yields_of_an_update.value();
    const std::int64_t longest = remote::tuning::first_sleep_ns.value();
    return std::chrono::nanoseconds(
        turns < yields
            ? 0
            : std::min(longest, remote::tuning::nap_ns.value() << std::min(turns - yields, 20)));
}

std::uint64_t ReplicaCore::bytes_logged() const noexcept {
    return state_->end.end() - state_->log.begin();
}

MemoryUse ReplicaCore::memory() const noexcept {
    const State& own = *state_;
    MemoryUse use;
    use.overhead = sizeof(State);
    if (own.members().front() == own.own) {
        (own.replica == 0 ? use.data : use.replicas) = own.object_bytes;
        use.replicas += own.object_bytes;
        use.overhead += own.replica_memory.part().name().bytes - 2 * own.object_bytes +
                        own.replica_memory.part().overhead();
    }
    if (own.own == 0) {
        use.overhead += own.log_memory.part().name().bytes + own.log_memory.part().overhead();
    }
    return use;
}

} // namespace corymb::detail
