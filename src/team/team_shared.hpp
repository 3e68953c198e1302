// SPDX-License-Identifier: Apache-2.0
// The objects that the ranks of a team in one process share: the fabric, options, plans. Objects
// that other processes see as well, such as the first failure, lie in the fabric's arena.
#pragma once

#include "base/fork_count.hpp"
#include "channel/crowd.hpp"
#include "channel/env.hpp"
#include "channel/waiter_cpus.hpp"
#include "plan/proven.hpp"
#include "plan/renumber.hpp"
#include "team/copying.hpp"
#include "team/fabric.hpp"
#include "team/failure.hpp"
#include "team/roster.hpp"

#include <corymb/error.hpp>
#include <corymb/kernel_copy.hpp>
#include <corymb/team.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

namespace corymb {

class Machine;

} // namespace corymb

namespace corymb::team {

using Env = channel::StandardEnv;

/// Identifies a plan of a team. `bytes` is a size class (see `size_class`) or any_part_bytes.
struct PlanKey {
    Collective op = Collective::barrier;
    Rank root = 0;
    std::uint64_t bytes = 0;
    bool ordered = false;
    bool keeps_parts = false; ///< For parts of different lengths.
    bool reproducible = false;
    bool root_first = false; ///< The root leaves a barrier first.
    /// Results depend on the order of combining, so that equal calls need equal plans.
    bool stays = false;
    bool one_block = false; ///< The payload is not cut.
    /// For lanes whose channels of cells are shorter than those of blocking operations.
    bool short_channels = false;

    auto operator<=>(const PlanKey&) const = default;
    /// Different for different keys, the same in every process.
    [[nodiscard]] std::uint64_t number() const noexcept;
};

/// The class of payloads that may have one plan. Payloads that fit into a meeting via exchange are
/// one class, payloads up to a line another; larger ones are rounded up to a power of two.
[[nodiscard]] std::uint64_t size_class(std::uint64_t bytes) noexcept;

/// Throws Errc::invalid_plan if the plan cuts a payload that must be whole.
void check_one_block(const PlanKey& key, const Plan& plan);

/// A plan and the readers of its publications; lives as long as the team.
struct SharedPlan {
    plan::ProvenPlan plan;
    std::uint64_t number; ///< Number of the plan within the team.
    Readers readers;
};

/// CPUs that a team's ranks may run on, and how many of the ranks can run at the same time, which a
/// quota may make fewer. Both at least 1.
struct CpuCount {
    int all = 1;
    int usable = 1;
};

/// The state of the whole team; in the arena.
struct TeamRecord {
    /// Not 0: an operation has failed, and all others will fail.
    alignas(line_pair_bytes) Env::Atomic<std::uint32_t> broken;
    /// Place of a FailureText, set once under the lock before `broken`.
    alignas(line_pair_bytes) Offset failure = 0;
    // For `shrink`: the members of the new team, and its arena. Each is set once under the lock.
    Offset members = 0;
    Offset successor = 0;
    // For take_own_lane, under the lock.
    /// The greatest collective's number that has had a lane, by its highest bit.
    std::uint64_t own_numbers[2] = {};
    std::size_t own_free = 0; ///< No lane before this index is free.
    bool own_wanted = false;  ///< A rank waits for a lane.
};

/// The collectives that use the lanes of persistent collectives, for a part of the lanes. The arena
/// holds as many parts as are needed, guarded by its memory's lock.
struct OwnLanes {
    struct Entry {
        std::uint64_t number = 0;   ///< Number of the collective; 0: free.
        std::uint32_t returned = 0; ///< Ranks that have given it back.
    };
    Entry entry[512];
};

/// Facts on which the default plans of a team depend, beside its options.
struct Surroundings {
    int size = 0;
    bool pull = true;      ///< Ranks can copy out of each other's buffers.
    bool push = true;      ///< Ranks can write into each other's buffers.
    int usable = 1;        ///< Ranks that can run at the same time.
    KernelCopy copies;     ///< Costs of copies out of another process, where ranks are processes.
    double cells_gbs = 0;  ///< Rate of copies in and out of cells, where ranks are processes.
    double own_gbs = 0;    ///< Rate of copies within a process's caches, where ranks are processes.
    std::vector<int> cpus; ///< CPUs that some rank may use; empty: as the calling thread may.
};

/// A plan that was made at once.
struct FairPlan {
    plan::ProvenPlan plan;
    bool is_best = false; ///< A search would find no better one.
};

/// The default plans, and the part of this machine's model that they are made on: of the ranks'
/// PUs, in their order, null where ranks have none each.
struct DefaultPlans {
    std::function<std::shared_ptr<const Machine>()> inside;
    /// The best plan that a search finds; nothing when it was asked to stop.
    std::function<std::optional<plan::ProvenPlan>(const PlanNeed& need,
                                                  const std::stop_token& stop)>
        search;
    /// A fair plan without a search.
    std::function<FairPlan(const PlanNeed& need)> fair;
    /// Time of a search as a multiple of the time that a fair plan takes, about.
    double times_as_long = 1;
    /// The lower rank that a rank is like. The best plan for that root, renumbered, is the best for
    /// this one.
    std::function<std::optional<plan::Likeness>(Rank root)> alike;
};
/// Defined by the layer that knows the planner and this machine's model.
[[nodiscard]] DefaultPlans default_plans(const TeamOptions& options, const Surroundings& where);

} // namespace corymb::team

namespace corymb::detail {

class TeamPlans; // team_plans.hpp

/// Longest wait of a team with these options, in nanoseconds. Throws Errc::invalid_argument if
/// CORYMB_DEADLINE is needed and is no number of seconds.
[[nodiscard]] std::int64_t deadline_of(const TeamOptions& options);

/// Throw Errc::invalid_argument for options that are wrong by themselves, or for so many ranks.
void check_options(const TeamOptions& options);
void check_cpus(const TeamOptions& options, int size);

/// Shared by all ranks of one team in this process; thread-safe.
struct TeamShared {
    /// `company` is there when the ranks are in several processes.
    TeamShared(std::shared_ptr<Memory> memory, const Arena& arena, int size,
               const TeamOptions& options, std::shared_ptr<team::Company> company = nullptr);
    ~TeamShared();
    TeamShared(const TeamShared&) = delete;
    TeamShared& operator=(const TeamShared&) = delete;

    /// Whether an operation of this team always combines in one order.
    [[nodiscard]] bool is_reproducible(Collective op) const noexcept {
        return options.reproducible && is_reduction(op);
    }

    /// A handle on the edges of a lane.
    [[nodiscard]] team::Fabric<team::Env> lane(team::LaneId id) {
        return {fabric.arena(), fabric.size(), id};
    }
    /// The lane of persistent collective number `number`, from 1. All ranks get the same lane, and
    /// no other collective gets it until each rank has given it back. None: all of own_lanes_max
    /// are in use.
    [[nodiscard]] std::optional<team::LaneId> take_own_lane(std::uint64_t number);
    void give_back_own_lane(team::LaneId id) noexcept;
    /// No persistent collective has had a lane from first_own_lane + this on.
    [[nodiscard]] team::LaneId own_lanes_known() noexcept;

    /// Records the first failure, wakes everybody, and returns the failure that counts.
    team::Failure fail(const team::Failure& failure);
    /// Records as the first failure that a rank cannot go on: "rank 2 gave up: " and why.
    void abandon(Rank rank, const std::string& why);
    /// The recorded failure; only after `broken` was seen.
    [[nodiscard]] team::Failure failure() const;
    [[nodiscard]] bool is_broken() const noexcept {
        return record.broken.load(std::memory_order_relaxed) != 0;
    }
    /// Throws the failure of an operation that has failed (`throw_failure`), or that begins on a
    /// broken team (`throw_broken`).
    [[noreturn]] void throw_failure() const;
    [[noreturn]] void throw_broken() const;
    void throw_if_broken() const {
        if (is_broken()) [[unlikely]] {
            throw_broken();
        }
    }
    /// Waits until no rank copies into another process's memory or within this one; only after
    /// `broken` was seen. If the process of a rank is stopped in a write into another one, the wait
    /// ends after two seconds, and what the team throws then says so. Readers of another process
    /// are not waited for.
    void wait_for_copies() noexcept;
    /// Ranks that have not begun operation number `operation`.
    [[nodiscard]] std::vector<int> missing(std::uint64_t operation);
    /// Ranks that have given up their handles, or whose process has ended, before they were done
    /// with operation number `operation` of a lane; without one, with a blocking operation.
    [[nodiscard]] std::vector<int> lost(std::uint64_t operation);
    [[nodiscard]] std::vector<int> lost(team::LaneId lane, std::uint64_t operation);
    /// Whether a rank does nothing more for the team, and `is_undone()` of the operations that it
    /// has done. In a team of processes after a look of the company's watch.
    template <class IsUndone>
    [[nodiscard]] bool has_left(Rank rank, const IsUndone& is_undone) {
        const bool has_ended = company != nullptr && is_elsewhere(rank) &&
                               company->watch.has_ended(fabric.state(rank).pid);
        return (has_ended || is_gone(rank)) && is_undone();
    }
    /// Whether a rank has given up its handle.
    [[nodiscard]] bool is_gone(Rank rank) noexcept;
    /// "rank 2 (pid 77, stopped)"; the process only where there are several.
    [[nodiscard]] std::string name_of(Rank rank);

    /// The process of each rank; told once before the ranks join.
    void set_processes(team::Roster& roster);
    /// As `set_processes`, for the new arena of a team of these ranks of ours.
    void tell_processes(Offset arena, const std::vector<Rank>& ranks);
    /// Whether this process has only inherited the team from its parent.
    [[nodiscard]] bool is_parents() const noexcept { return fork_count_ != fork_count(); }
    /// Throws Errc::invalid_argument in a forked child.
    void require_own_process() const { corymb::check_not_forked(fork_count_); }
    /// Whether a rank is in another process.
    [[nodiscard]] bool is_elsewhere(Rank rank) noexcept;

    /// The fate of our ranks outside a part: they go on and need their CPUs, or are given up.
    enum class Rest { goes_on, has_gone };
    /// The team with this arena, of these ranks of ours in its rank order; the same for all callers
    /// of this process while one of them has it.
    std::shared_ptr<TeamShared> part(Offset arena, const std::vector<Rank>& ranks,
                                     Rest rest = Rest::goes_on);
    /// The part that is our successor. Each of its ranks calls this once. It lives until all ranks
    /// of this process have called, even if the first callers have given it up already.
    std::shared_ptr<TeamShared> successor(const std::vector<Rank>& ranks);

    /// Marks a rank as taken; throws Errc::invalid_argument when it is out of range or taken.
    void take(Rank rank);

    /// Guards the copies of a rank of this process.
    [[nodiscard]] team::OwnGate<team::Env> gate_of(Rank rank) noexcept {
        return {&fabric.state(rank).gate, &record.broken};
    }

    /// Ranks that take turns on a CPU, rounded up. Also 1 where only a quota is short.
    [[nodiscard]] int ranks_per_cpu() const noexcept {
        return std::max(own_per_cpu(fabric.size()), others_per_cpu);
    }

    std::shared_ptr<Memory> memory;
    std::shared_ptr<team::Company> company; ///< Null: all ranks are in this process.
    team::CpuCount cpus;
    int others_per_cpu;  ///< TeamOptions::ranks_per_cpu.
    bool oversubscribed; ///< More ranks, with those of others, than can run at the same time.
    team::Fabric<team::Env> fabric;
    team::TeamRecord& record;
    TeamOptions options;
    bool plans_given; ///< The plan source is the user's, not the default.
    std::function<std::shared_ptr<const Machine>()> inside; ///< DefaultPlans::inside, if any.
    std::int64_t deadline_ns;
    std::unique_ptr<TeamPlans> plans; ///< Never null.
    channel::Crowd* crowd = nullptr;  ///< Null unless oversubscribed by this process's ranks alone.
    channel::WaiterCpus* cpus_of_waiters = nullptr; ///< Null if oversubscribed.

private:
    [[nodiscard]] std::optional<team::LaneId> find_own_lane(std::uint64_t number,
                                                            std::size_t first) noexcept;
    [[nodiscard]] int own_per_cpu(int ranks) const noexcept {
        return (ranks + cpus.all - 1) / cpus.all;
    }
    /// Whether ranks of other processes want our CPUs: a waiting rank cannot know when.
    [[nodiscard]] bool has_strangers() const noexcept {
        return others_per_cpu > own_per_cpu(fabric.size());
    }
    void wait_for_writes_elsewhere() noexcept;

    std::uint32_t own_pid_;
    std::uint32_t fork_count_ = fork_count();
    mutable std::mutex mutex_;
    std::vector<bool> taken_;
    std::map<Offset, std::weak_ptr<TeamShared>> parts_;
    std::shared_ptr<TeamShared> successor_; ///< While ranks of this process are still to come.
    std::ptrdiff_t successor_waits_for_ = 0;
    std::string late_writes_; ///< Ranks that may still write; the end of the failure's text.
    // For take_own_lane, under the memory's lock.
    std::vector<team::OwnLanes*> own_blocks_;
    std::size_t last_own_ = 0; ///< The next one is at or behind it mostly.
};

/// Throws Errc::unsupported for a rank that itself holds all lanes of persistent collectives.
void require_own_lanes(std::ptrdiff_t held);

/// The team of a handle for all ranks of this process. Throws Errc::invalid_argument when the
/// handle was moved from, and in a forked child.
[[nodiscard]] TeamShared& own_team(const std::shared_ptr<TeamShared>& shared);

} // namespace corymb::detail
