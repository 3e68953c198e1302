// SPDX-License-Identifier: Apache-2.0
// The processes of a team: one entry a rank. Ranks sign in under the lock; then all pass three
// stages together. A process that fails in between says so, and ends the wait of all. The roster
// has an arena of its own, which stays when the team is given back: teams that were made from it go
// on, and the launcher looks there which ranks have come.
#pragma once

#include "base/arena.hpp"
#include "base/peer_watch.hpp"
#include "base/shared_memory.hpp"
#include "base/wait_clock.hpp"
#include "team/line_probe.hpp"
#include "team/pull_probe.hpp"

#include <corymb/plan.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corymb::team {

/// Stages of a rank's arrival.
enum class Stage : std::uint32_t { absent, signed_in, probed, timed, ready };

struct RosterEntry {
    std::atomic<std::uint32_t> stage;
    std::atomic<std::uint32_t> has_given_up; ///< 1: its process signed in and could not go on.
    std::uint32_t pid;
    std::uint32_t cpu_count;
    Offset cpus;      ///< Numbers (std::int32_t) of the CPUs that the process may use, best first.
    ProcessMark mark; ///< Other processes try to copy it and to write it.
};

/// The entries follow it.
struct alignas(RosterEntry) Roster {
    std::uint32_t size;
    Offset team;                             ///< The arena of the whole team.
    std::atomic<std::uint32_t> full_fences;  ///< A process cannot be reached by heavy fences.
    std::atomic<std::uint32_t> pull_refused; ///< A process could not copy from another.
    std::atomic<std::uint32_t> push_refused; ///< A process could not copy into another.
    /// How long a byte takes through shared lines between the slowest neighbouring ranks that were
    /// timed, in femtoseconds; 0: none were.
    std::atomic<std::uint64_t> byte_fs;
    std::atomic<std::uint32_t> quota; ///< Least of the processes, in CPUs; 0: none.

    [[nodiscard]] RosterEntry& entry(Rank rank) noexcept {
        return reinterpret_cast<RosterEntry*>(this + 1)[rank];
    }
};

/// The knowledge of this process about the processes of its team.
struct Company {
    std::shared_ptr<SharedMemory> memory;
    Roster* roster = nullptr;
    PeerWatch watch;
    bool pull = false; ///< Ranks copy out of each other's memory.
    bool push = false; ///< Ranks copy into each other's memory.
    KernelCopy copies; ///< Costs of copies out of another process; absent in a team of one process.
    /// Rate of copies in and out of shared cells between neighbouring ranks, in 10^9 bytes per
    /// second; 0: unknown.
    double cells_gbs = 0;
    double own_gbs = 0;           ///< Rate of copies within this process's caches, as `cells_gbs`.
    std::vector<int> cpus;        ///< CPUs that some rank may use.
    std::vector<int> cpu_of_rank; ///< One CPU for each rank, or nothing: `cpu_of_each`.
    int usable = 1;               ///< How many ranks can run at the same time.
    std::string notes;
    std::function<bool()> interrupted; ///< As in TeamOptions; asked while the processes meet.
};

/// Throws Errc::invalid_argument for a number of ranks that no team has.
void check_team_size(int size);

/// New memory with the roster and the arena of a team of `size` ranks.
[[nodiscard]] std::shared_ptr<SharedMemory> make_team_memory(int size);

/// The roster in a team's memory.
[[nodiscard]] Roster& roster_of(SharedMemory& memory);

/// Signs `count` ranks of this process in, from `first` on, or where there is room when that is -1.
/// Returns the first. Throws Errc::invalid_argument.
[[nodiscard]] Rank sign_in(Company& company, Rank first, int count);

/// The way of a process that has signed in through the stages. Its functions look once, and throw
/// Errc::timeout after `patience_ns` of looks, and Errc::team_broken if a process ended or gave up.
class Arrival {
public:
    /// How long a process waits in a look for the rank beside which it times copies.
    enum class Probe : std::uint8_t {
        patient, ///< It wants to know how long they take: some milliseconds.
        brief,   ///< It is not to be held up.
    };
    Arrival(Company& company, Rank first, int count, std::int64_t patience_ns, Probe probe) noexcept
        : company_(&company), first_(first), count_(count), patience_ns_(patience_ns),
          probe_(probe) {}

    /// Settles fences and the way of large messages as far as the others have come. True: the
    /// company is complete.
    [[nodiscard]] bool has_met();
    /// After has_met: says that this process has its team. True: all have theirs.
    [[nodiscard]] bool is_ready();

private:
    /// Whether all ranks have come to this process's stage.
    [[nodiscard]] bool are_all_here();
    void enter(Stage stage);

    Company* company_;
    Rank first_;
    int count_;
    std::int64_t patience_ns_;
    Probe probe_;
    Stage stage_ = Stage::signed_in;
    bool has_met_ = false;
    WaitClock clock_;
};

/// Records that this process has signed in and cannot go on.
void give_up(Company& company, Rank first, int count) noexcept;

} // namespace corymb::team
