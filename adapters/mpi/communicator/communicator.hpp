// SPDX-License-Identifier: Apache-2.0
// The adapter's record of a communicator: its team, or the reason why it has none. The record hangs
// on the communicator as an attribute and goes with it.
#pragma once

#include "below/host.hpp"
#include "below/threads.hpp"
#include "communicator/account.hpp"
#include "communicator/call_board.hpp"
#include "communicator/carrier.hpp"
#include "communicator/reasons.hpp"
#include "communicator/request_board.hpp"
#include "data/kept_calls.hpp"
#include "policy/choice.hpp"
#include "policy/costly_plans.hpp"
#include "policy/cpu_share.hpp"
#include "policy/early_calls.hpp"
#include "policy/sync_points.hpp"

#include <corymb.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sched.h>
#include <string>
#include <vector>

namespace corymb::mpi {

/// Calls of an operation and size whose trial is over.
struct Tried {
    Trial* trial;
    Operation operation;
    std::uint64_t bytes;
};

/// Lists of an operation whose ranks do not know the lists of others
/// (OperationTraits::is_of_any_size). Some programs give upper bounds where the standard wants
/// exact counts, and MPI libraries accept that.
struct Lists {
    int compared = 0; ///< Blocking calls in which ranks have compared them.
    bool are_bounds = false;
};

/// The team that the ranks of a communicator share. When the communicator is freed, the next one of
/// the same ranks goes on with the team (kept_teams.hpp).
struct RankTeam {
    /// Drawn when the team was made, equal on all ranks. 0: there is no team.
    std::uint64_t id = 0;
    /// Collectives of its communicators since then, on this rank. Ranks that have refused some
    /// differ.
    std::uint64_t calls_taken = 0;
    int ranks = 0;
    MPI_Group members{}; ///< The ranks, where it has an id.
    corymb_team* team = nullptr;
    /// Messages between the nodes; null: the ranks are on one node.
    std::unique_ptr<MessageCarrier> carrier{};
    std::unique_ptr<CallBoard> board{}; ///< Set if the team is on one node.
    /// Set if, besides, all ranks have its memory: they settle trials of nonblocking calls there.
    std::unique_ptr<RequestBoard> request_board{};
    bool can_request = true; ///< Nonblocking and persistent operations, too.
    Reason why_no_requests = Reason::no_hook;
    /// Requests of a rank go on by a thread, not by a hook; equal on all ranks.
    bool by_thread = false;
    /// Ranks on a CPU, others included, as far as the ranks knew when they met; equal on all ranks.
    int ranks_per_cpu = 1;
    /// The ranks on this rank's own CPUs that its waits count with: at least `ranks_per_cpu`.
    int crowd = 1;
    /// Others want the CPUs of a rank, as far as the ranks knew when they last agreed.
    bool are_cpus_shared = false;
    /// How nonblocking calls are measured, in whose trials ranks cannot agree on anything new.
    Measure request_measure = Measure::longest;
    CpuShare cpu_share; ///< What this rank has seen of that since then.
    Choice choice;
    Choice request_choice;    ///< For its nonblocking calls.
    CostlyPlans costly_plans; ///< For its blocking calls.
    SyncPoints sync_points;
    /// Trials of nonblocking calls for the next point that finds all ranks together.
    std::vector<Tried> tried{};
    std::array<Lists, translated_operations> lists{}; ///< By operation.
    KeptCalls kept;                                   ///< Kept calls of `team`.

    [[nodiscard]] bool is_over_nodes() const noexcept { return carrier != nullptr; }
};

struct EarlySteps; // early_steps.hpp

struct Communicator : RankTeam {
    /// What blocking and persistent calls have.
    enum class State : unsigned char { early, team, passed };

    Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    ~Communicator();

    MPI_Comm comm{};
    int rank = 0;
    int size = 0;
    State state = State::early;
    Reason reason = Reason::early; ///< The reason of a communicator that is passed.
    std::string why;               ///< The reason in words, for no_team.
    EarlyCalls early;
    /// Nonblocking calls have the team. They may get it before blocking ones do.
    bool has_requests_on_team = false;
    /// Nonblocking collectives before the communicator has a team. Afterwards, calls that are still
    /// left to the MPI because another rank has made them before.
    std::uint64_t early_requests = 0;
    RequestSample early_sample{};        ///< Some of those calls; guarded by the room `requests`.
    std::unique_ptr<EarlySteps> steps{}; ///< Never null.
    std::atomic<bool> busy{false};       ///< The team is in use (InUse).
    std::atomic<int> active{0};          ///< Requests under way.
    /// Waits for such requests that leave the team to others between their looks.
    std::atomic<int> waits{0};
    std::atomic<bool> is_listed{false}; ///< Among the communicators whose requests go on.
    /// Two for each request that refers to it, and one if its communicator has been freed. The
    /// thread that leaves only that one gives the record back.
    std::atomic<int> references{0};
    /// Requests of the library's that could not be freed while a thread had the team.
    std::mutex left_lock{};
    std::vector<corymb_request*> left{};
    std::atomic<bool> has_left{false};
    /// Set by the room `requests` while it refers to the communicator: it is to do so no more,
    /// since the team is about to go.
    std::atomic<void (*)(Communicator&) noexcept> forget_requests{nullptr};
    bool is_given_back = false; ///< Set at MPI_Finalize, under the registry's lock.
    /// Calls are counted, for the summary or until the choices are settled.
    bool is_watched = true;
    bool is_shared = false;              ///< Several threads may use the team, one of them ours.
    std::atomic<bool> has_failed{false}; ///< An operation of its team, on this rank.

    Account account; ///< Account of this rank's calls.
};

/// Time of communicators that have been freed without a team. A program that makes one for each of
/// many short phases goes on with the team of the first that has one.
inline constinit std::atomic<std::int64_t> earlier_on_one_node_ns{0};
inline constinit std::atomic<std::int64_t> earlier_between_nodes_ns{0};
[[nodiscard]] inline std::atomic<std::int64_t>& earlier_ns(const EarlyCalls& early) noexcept {
    return early.wanted_ns() < tuning::team_between_nodes_pays_ns ? earlier_on_one_node_ns
                                                                  : earlier_between_nodes_ns;
}

/// The communicator that a thread has used last.
struct LastCommunicator {
    std::uint64_t generation = 0;
    MPI_Comm comm{};
    Communicator* communicator = nullptr;
};
inline thread_local constinit LastCommunicator last_communicator;
/// Changes with every communicator that goes, so that nobody finds a remembered one again.
inline constinit std::atomic<std::uint64_t> communicator_generation{1};

/// If it is this one; else null.
[[nodiscard]] inline Communicator* remembered_communicator(MPI_Comm comm) noexcept {
    const LastCommunicator& last = last_communicator;
    return last.comm == comm &&
                   last.generation == communicator_generation.load(std::memory_order_acquire)
               ? last.communicator
               : nullptr;
}

/// Whether the communicator has been freed before its requests.
[[nodiscard]] inline bool is_orphan(const Communicator& communicator) noexcept {
    return communicator.references.load(std::memory_order_relaxed) % 2 != 0;
}
/// A request refers to the communicator, and does so no more: the last one of an orphan frees it.
inline void hold(Communicator& communicator) noexcept {
    add(communicator.references, 2);
}
void let_go(Communicator& communicator) noexcept;

/// Holds a communicator during a call in which the MPI may run the program's error handler, which
/// may free it.
class Held {
public:
    explicit Held(Communicator& communicator) noexcept : communicator_(communicator) {
        hold(communicator_);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { let_go(communicator_); }

private:
    Communicator& communicator_;
};

/// A team is used by one at a time: a call, a look at a request, the MPI's hook in either of them,
/// the thread that stands in for a hook.
class InUse {
public:
    explicit InUse(Communicator& communicator) noexcept : communicator_(&communicator) {
        if (!communicator.is_shared && !has_many_threads()) { // A session may have come later.
            communicator.busy.store(true, std::memory_order_relaxed);
            return;
        }
        while (communicator.busy.exchange(true, std::memory_order_acquire)) {
            sched_yield();
        }
    }
    InUse(Communicator& communicator, std::try_to_lock_t /*unused*/) noexcept
        : communicator_(communicator.busy.exchange(true, std::memory_order_acquire)
                            ? nullptr
                            : &communicator) {}
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    ~InUse() {
        if (communicator_ != nullptr) {
            communicator_->busy.store(false, std::memory_order_release);
        }
    }
    [[nodiscard]] bool has_it() const noexcept { return communicator_ != nullptr; }

private:
    Communicator* communicator_;
};

[[nodiscard]] Communicator* find_communicator(MPI_Comm comm) noexcept;

/// The record of the communicator, made when first asked for. Null where MPI is not usable, the
/// handle is none, or the thread is freeing it: then MPI does the call, or reports the error.
[[nodiscard]] inline Communicator* communicator_of(MPI_Comm comm) noexcept {
    Communicator* const last = remembered_communicator(comm);
    return last != nullptr ? last : find_communicator(comm);
}

/// Whether all calls of a communicator are the MPI's and nobody counts them, as far as the thread
/// remembers. It stays so.
[[nodiscard]] inline bool is_left_alone(MPI_Comm comm) noexcept {
    const Communicator* const last = remembered_communicator(comm);
    return last != nullptr && last->state == Communicator::State::passed && !last->is_watched;
}

/// The copy function of attributes that stay with their communicator.
int do_not_copy(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) noexcept;
/// Between MPI_Init and MPI_Finalize.
[[nodiscard]] bool is_world_usable() noexcept;
/// The last session has ended before MPI_Init: MPI has forgotten all keys.
void forget_key() noexcept;
/// At MPI_Finalize: gives back all teams, or those without requests that the program may still
/// start. All calls afterwards are the MPI's.
void give_back_teams(bool all_but_with_requests) noexcept;

/// Gives back the team of the communicator, of either kind. Those of a carrier stay.
void give_back_team(Communicator& communicator) noexcept;
/// Gives back a team without a communicator. With `all`, its communicators go, too.
void end_team(RankTeam& team, bool all = true) noexcept;

/// Breaks the communicator's team, of either kind, because this rank cannot go on.
void abandon(Communicator& communicator, const char* why) noexcept;

/// Teams of this process, with those that are kept.
[[nodiscard]] int team_count() noexcept;

} // namespace corymb::mpi
