// SPDX-License-Identifier: Apache-2.0
#include "team/roster.hpp"

#include "base/hardware_threads.hpp"
#include "base/membarrier.hpp"
#include "base/wait_clock.hpp"
#include "group/group.hpp"
#include "plan/limits.hpp"
#include "team/fabric.hpp"
#include "team/rank_cpus.hpp"

#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corymb::team {

namespace {

using namespace std::chrono_literals;

constexpr ArenaKey roster_key{static_cast<std::uint32_t>(Kind::roster)};

std::uint32_t own_pid() noexcept {
    return static_cast<std::uint32_t>(::getpid());
}

Stage stage_of(const RosterEntry& entry) noexcept {
    return static_cast<Stage>(entry.stage.load(std::memory_order_relaxed));
}

/// Ranks that have not come to `stage`. Watches the processes that have signed in.
std::vector<int> missing(Company& company, Stage stage) {
    const std::lock_guard lock(*company.memory);
    std::vector<int> ranks;
    for (Rank rank = 0; rank < static_cast<Rank>(company.roster->size); ++rank) {
        RosterEntry& entry = company.roster->entry(rank);
        if (stage_of(entry) < stage) {
            ranks.push_back(rank);
        }
        if (stage_of(entry) != Stage::absent) {
            company.watch.add(entry.pid);
        }
    }
    return ranks;
}

/// Throws if the process of a rank that has come is of no use any more.
void require_all_well(Company& company, Stage stage) {
    company.watch.look();
    // Nobody leaves this before all have come, but by ending.
    for (Rank rank = 0; rank < static_cast<Rank>(company.roster->size); ++rank) {
        const RosterEntry& entry = company.roster->entry(rank);
        if (stage_of(entry) != Stage::absent && company.watch.has_ended(entry.pid)) {
            if (missing(company, stage).empty()) { // All came, and it has finished since.
                return;
            }
            throw Error(Errc::team_broken,
                        fmt::format("rank {} (pid {}) ended before the whole team was there", rank,
                                    entry.pid),
                        {rank});
        }
        if (entry.has_given_up.load(std::memory_order_relaxed) != 0) {
            throw Error(Errc::team_broken,
                        fmt::format("rank {} (pid {}) could not attach, and its own error says why",
                                    rank, entry.pid),
                        {rank});
        }
    }
}

/// The CPUs that this process may use, one of each core first.
UsableCpus own_cpus() {
    UsableCpus own = usable_cpus();
    own.allowed = one_of_each_core_first(std::move(own.allowed));
    return own;
}

/// Under the lock: that, for `count` ranks from `first` on.
void note_cpus(Company& company, const UsableCpus& own, Rank first, int count) {
    Roster& roster = *company.roster;
    if (own.quota) {
        const auto quota = static_cast<std::uint32_t>(std::max(1.0, *own.quota));
        const std::uint32_t least = roster.quota.load(std::memory_order_relaxed);
        roster.quota.store(least == 0 ? quota : std::min(least, quota), std::memory_order_relaxed);
    }
    const std::vector<std::int32_t> cpus(own.allowed.begin(), own.allowed.end());
    const std::span bytes = std::as_bytes(std::span(cpus));
    Arena arena(*company.memory, company.memory->root());
    const Offset place = arena.allocate(std::max<std::size_t>(bytes.size(), 1));
    std::ranges::copy(bytes, company.memory->at(place));
    for (Rank rank = first; rank < first + count; ++rank) {
        roster.entry(rank).cpus = place;
        roster.entry(rank).cpu_count = static_cast<std::uint32_t>(cpus.size());
    }
}

/// The CPUs of each rank, as its process has noted them. All processes read the same.
std::vector<std::vector<int>> cpus_of_ranks(const Company& company) {
    std::vector<std::vector<int>> of_rank;
    for (Rank rank = 0; rank < static_cast<Rank>(company.roster->size); ++rank) {
        const RosterEntry& entry = company.roster->entry(rank);
        const auto* const numbers =
            std::launder(reinterpret_cast<const std::int32_t*>(company.memory->at(entry.cpus)));
        of_rank.emplace_back(numbers, numbers + entry.cpu_count);
    }
    return of_rank;
}

/// Collects the CPUs of all processes: a process that is bound to one CPU has teammates elsewhere.
void collect_cpus(Company& company) {
    const auto of_rank = cpus_of_ranks(company);
    std::set<int> together;
    for (const std::vector<int>& cpus : of_rank) {
        together.insert(cpus.begin(), cpus.end());
    }
    company.cpus.assign(together.begin(), together.end());
    company.usable = std::max(1, static_cast<int>(together.size()));
    if (const auto quota = company.roster->quota.load(std::memory_order_relaxed); quota != 0) {
        company.usable = std::min(company.usable, static_cast<int>(quota));
    }
    company.cpu_of_rank = cpu_of_each(of_rank);
}

constexpr double fs_per_ns = 1e6;
/// How long a rank waits for the one beside which it times copies, in ns. A rank that sleeps is not
/// there within the first. Reasoning for the second: ten times what the copies take, and short
/// beside what else a process does while it attaches.
constexpr std::int64_t patient_probe_ns = 20'000'000;
constexpr std::int64_t brief_probe_ns = 1'000'000;

/// Records whether this process cannot copy out of, or into, every other process.
void try_copies(Company& company) {
    Roster& roster = *company.roster;
    std::set<std::uint32_t> tried{own_pid()};
    for (Rank rank = 0; rank < static_cast<Rank>(company.roster->size); ++rank) {
        const RosterEntry& entry = company.roster->entry(rank);
        if (!tried.insert(entry.pid).second) {
            continue;
        }
        if (!is_marked(entry.pid, entry.mark)) {
            roster.pull_refused.store(1, std::memory_order_relaxed);
            return;
        }
        if (!can_write(entry.pid, entry.mark)) {
            roster.push_refused.store(1, std::memory_order_relaxed);
        }
        if (!company.copies.present()) {
            company.copies = time_copies(entry.pid, entry.mark);
            company.own_gbs = time_own_copies();
        }
    }
}

/// Every other rank and the next one time copies between their caches, if all ranks have a CPU and
/// a process of their own.
void time_caches(Company& company, Rank own, std::int64_t limit_ns) {
    Roster& roster = *company.roster;
    const auto size = static_cast<int>(roster.size);
    const Rank first = own / 2 * 2;
    std::set<std::uint32_t> processes;
    for (Rank rank = 0; rank < size; ++rank) {
        processes.insert(roster.entry(rank).pid);
    }
    if (first + 1 >= size || size > company.usable ||
        processes.size() != static_cast<std::size_t>(size)) {
        return;
    }
    Arena arena(*company.memory, company.memory->root());
    auto& probe = arena.find_or_make<LineProbe>(
        {static_cast<std::uint32_t>(Kind::line_probe), 0, first, first + 1, 0});
    const double byte_ns = probe_lines(probe, static_cast<std::size_t>(own - first), limit_ns);
    const auto byte_fs = static_cast<std::uint64_t>(byte_ns * fs_per_ns);
    std::uint64_t slowest = roster.byte_fs.load(std::memory_order_relaxed);
    while (byte_fs > slowest &&
           !roster.byte_fs.compare_exchange_weak(slowest, byte_fs, std::memory_order_relaxed)) {
    }
}

/// The rate that all processes have found together; 0 if they have found none.
double cells_gbs_of(const Roster& roster) noexcept {
    const std::uint64_t byte_fs = roster.byte_fs.load(std::memory_order_relaxed);
    return byte_fs == 0 ? 0 : fs_per_ns / static_cast<double>(byte_fs);
}

/// For Company::notes.
std::string way_of_large_messages(const Company& company) {
    if (!company.pull) {
        return "large messages: two copies through shared cells, because process_vm_readv is "
               "refused between some processes (see corymb doctor)";
    }
    return fmt::format("large messages: one copy (process_vm_readv: {:.1f} us and {:.0f} GB/s{})",
                       company.copies.start_ns / 1000, company.copies.gbs,
                       company.push ? ", and process_vm_writev"
                                    : "; process_vm_writev is refused between some processes") +
           (company.cells_gbs > 0
                ? fmt::format("; short ones: cells at {:.0f} GB/s", company.cells_gbs)
                : "");
}

} // namespace

void check_team_size(int size) {
    if (size < 1 || static_cast<std::size_t>(size) > plan::rank_count_max) {
        throw Error(Errc::invalid_argument,
                    fmt::format("a team has 1 to {} ranks, not {}", plan::rank_count_max, size));
    }
}

namespace {

/// Address space for the channels of a team whose ranks have had all operations and several
/// nonblocking ones at a time. Measured: 25 MiB among 2 ranks, 87 among 8, 311 among 16, 1,158
/// among 32. The bound adds half of that.
std::size_t addresses_needed(int size) noexcept {
    const auto ranks = static_cast<std::size_t>(size);
    return (64 + ranks * ranks * 3 / 2) << 20;
}

} // namespace

std::shared_ptr<SharedMemory> make_team_memory(int size) {
    check_team_size(size);
    auto memory = SharedMemory::create(addresses_needed(size));
    Arena arena(*memory);
    const Arena team(*memory);
    const auto ranks = static_cast<std::size_t>(size);
    Roster* const roster = arena.find_or_make_sized<Roster>(
        roster_key, sizeof(Roster) + ranks * sizeof(RosterEntry), [ranks, &team](void* place) {
            auto* const made = new (place) Roster{};
            made->size = static_cast<std::uint32_t>(ranks);
            made->team = team.root();
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                new (&made->entry(static_cast<Rank>(rank))) RosterEntry{};
            }
        });
    static_cast<void>(roster);
    static_cast<void>(group::make_head(arena, group::Kind::team, 0, false));
    memory->set_root(arena.root());
    return memory;
}

Roster& roster_of(SharedMemory& memory) {
    const std::lock_guard lock(memory);
    const Arena arena(memory, memory.root());
    static_cast<void>(group::require_head(arena, group::Kind::team));
    return *std::launder(reinterpret_cast<Roster*>(arena.find(roster_key)));
}

Rank sign_in(Company& company, Rank first, int count) {
    const UsableCpus own = own_cpus();
    const std::lock_guard lock(*company.memory);
    Roster& roster = *company.roster;
    const auto size = static_cast<Rank>(roster.size);
    const auto taken = [&](Rank from) {
        for (Rank rank = from; rank < from + count; ++rank) {
            if (stage_of(roster.entry(rank)) != Stage::absent) {
                return rank;
            }
        }
        return Rank{-1};
    };
    if (count < 1 || count > size || (first >= 0 && first > size - count)) {
        throw Error(Errc::invalid_argument,
                    fmt::format("this process brings {} ranks from {} on, but the team has {}; "
                                "start it with more ranks or bring fewer",
                                count, std::max(first, 0), size));
    }
    if (first >= 0) {
        if (const Rank rank = taken(first); rank >= 0) {
            throw Error(Errc::invalid_argument,
                        fmt::format("rank {} is taken by process {}; give each process ranks of "
                                    "its own, or none to get the next free ones",
                                    rank, roster.entry(rank).pid),
                        {rank});
        }
    } else {
        for (first = 0; first <= size - count && taken(first) >= 0;) {
            first = taken(first) + 1;
        }
        if (first > size - count) {
            throw Error(Errc::invalid_argument,
                        fmt::format("all {} ranks of the team are taken; start it with a larger "
                                    "size",
                                    size));
        }
    }
    if (!membarrier::join_machine()) {
        roster.full_fences.store(1, std::memory_order_relaxed);
    }
    note_cpus(company, own, first, count);
    for (Rank rank = first; rank < first + count; ++rank) {
        RosterEntry& entry = roster.entry(rank);
        entry.pid = own_pid();
        entry.mark = own_mark();
        entry.stage.store(static_cast<std::uint32_t>(Stage::signed_in), std::memory_order_relaxed);
    }
    return first;
}

bool Arrival::are_all_here() {
    const std::vector<int> ranks = missing(*company_, stage_);
    if (ranks.empty()) {
        return true;
    }
    require_all_well(*company_, stage_);
    if (clock_.waited_ns() >= patience_ns_) {
        throw Error(Errc::timeout,
                    fmt::format("attach: rank{} {} of {} did not come in time; start all "
                                "processes of the team, or give more patience "
                                "(AttachOptions::patience, CORYMB_PATIENCE)",
                                ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
                                company_->roster->size),
                    ranks);
    }
    return false;
}

void Arrival::enter(Stage stage) {
    // The lock makes earlier writes visible to processes that look under it.
    const std::lock_guard lock(*company_->memory);
    for (Rank rank = first_; rank < first_ + count_; ++rank) {
        company_->roster->entry(rank).stage.store(static_cast<std::uint32_t>(stage),
                                                  std::memory_order_relaxed);
    }
    stage_ = stage;
}

bool Arrival::has_met() {
    Company& company = *company_;
    if (stage_ == Stage::signed_in && are_all_here()) {
        if (company.roster->full_fences.load(std::memory_order_relaxed) != 0) {
            membarrier::use_full_light_fences();
            company.notes += "fences: full on both sides, a process has no membarrier; ";
        }
        collect_cpus(company);
        try_copies(company);
        enter(Stage::probed);
    }
    if (stage_ == Stage::probed && are_all_here()) {
        company.pull = company.roster->pull_refused.load(std::memory_order_relaxed) == 0;
        company.push =
            company.pull && company.roster->push_refused.load(std::memory_order_relaxed) == 0;
        time_caches(company, first_, probe_ == Probe::brief ? brief_probe_ns : patient_probe_ns);
        enter(Stage::timed);
    }
    if (stage_ == Stage::timed && !has_met_ && are_all_here()) {
        company.cells_gbs = cells_gbs_of(*company.roster);
        company.notes += way_of_large_messages(company);
        has_met_ = true;
    }
    return has_met_;
}

bool Arrival::is_ready() {
    if (stage_ != Stage::ready) {
        enter(Stage::ready);
    }
    return are_all_here();
}

void give_up(Company& company, Rank first, int count) noexcept {
    for (Rank rank = first; rank < first + count; ++rank) {
        company.roster->entry(rank).has_given_up.store(1, std::memory_order_relaxed);
    }
}

} // namespace corymb::team
